"""What compiled code needs of Numba's runtime, in LLVM IR: memory for arrays, and little else."""

from __future__ import annotations

from typing import Final

# A block of memory has Numba's MemInfo at its head, 64 bytes before the data. Its last field is
# free, and holds the block's class: the number of bits of its size.
ALLOCATION: Final = """
%block = type { i64, ptr, ptr, ptr, i64, i64 }
declare i64 @llvm.ctlz.i64(i64, i1)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %whole = add i64 %size, 127
  %zeros = call i64 @llvm.ctlz.i64(i64 %whole, i1 true)
  %class = sub i64 64, %zeros
  %block = call ptr @fiveup_take(i64 %class)
  store i64 1, ptr %block
  %data = getelementptr i8, ptr %block, i64 64
  %data_at = getelementptr %block, ptr %block, i32 0, i32 3
  store ptr %data, ptr %data_at
  %size_at = getelementptr %block, ptr %block, i32 0, i32 4
  store i64 %size, ptr %size_at
  %class_at = getelementptr %block, ptr %block, i32 0, i32 5
  store i64 %class, ptr %class_at
  ret ptr %block
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %block
}

define ptr @NRT_Allocate(i64 %size) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  %data = getelementptr i8, ptr %block, i64 64
  ret ptr %data
}

define i32 @numba_attempt_nocopy_reshape(i64 %nd, ptr %dims, ptr %strides, i64 %count, ptr %new_dims, ptr %new_strides, i64 %size, i32 %order) {
start:
  %last = sub i64 %count, 1
  br label %more
more:
  %k = phi i64 [ %last, %start ], [ %next, %write ]
  %stride = phi i64 [ %size, %start ], [ %wider, %write ]
  %left = icmp sge i64 %k, 0
  br i1 %left, label %write, label %done
write:
  %stride_at = getelementptr i64, ptr %new_strides, i64 %k
  store i64 %stride, ptr %stride_at
  %dim_at = getelementptr i64, ptr %new_dims, i64 %k
  %dim = load i64, ptr %dim_at
  %wider = mul i64 %stride, %dim
  %next = sub i64 %k, 1
  br label %more
done:
  ret i32 1
}
"""

# What is a function of a library for C is one instruction here.
MATHS: Final = "".join(
    f"""
declare {kind} @llvm.{operation}({kind})

define {kind} @{name}({kind} %x) {{
  %y = call {kind} @llvm.{operation}({kind} %x)
  ret {kind} %y
}}
"""
    for name, operation, kind in (
        ("sqrt", "sqrt.f64", "double"),
        ("sqrtf", "sqrt.f32", "float"),
        ("floor", "floor.f64", "double"),
        ("rint", "rint.f64", "double"),
    )
)

# In a module: blocks that were given back wait in a list for each class, and new ones come from the
# memory after the data, which grows. One call runs at a time, so nothing is locked.
MODULE: Final = (
    MATHS
    + """
@lists = internal global [64 x ptr] zeroinitializer
@top = internal global i32 0
@__heap_base = external global i8
declare i32 @llvm.wasm.memory.size.i32(i32)
declare i32 @llvm.wasm.memory.grow.i32(i32, i32)
declare void @llvm.trap()

define ptr @fiveup_take(i64 %class) {
  %list = getelementptr [64 x ptr], ptr @lists, i64 0, i64 %class
  %head = load ptr, ptr %list
  %none = icmp eq ptr %head, null
  br i1 %none, label %fresh, label %again
fresh:
  %bytes = shl i64 1, %class
  %new = call ptr @fiveup_more(i64 %bytes)
  ret ptr %new
again:
  %next_at = getelementptr %block, ptr %head, i32 0, i32 3
  %next = load ptr, ptr %next_at
  store ptr %next, ptr %list
  ret ptr %head
}

define void @NRT_MemInfo_call_dtor(ptr %block) {
  %class_at = getelementptr %block, ptr %block, i32 0, i32 5
  %class = load i64, ptr %class_at
  %list = getelementptr [64 x ptr], ptr @lists, i64 0, i64 %class
  %head = load ptr, ptr %list
  %next_at = getelementptr %block, ptr %block, i32 0, i32 3
  store ptr %head, ptr %next_at
  store ptr %block, ptr %list
  ret void
}

define ptr @fiveup_more(i64 %bytes) {
  %old = load i32, ptr @top
  %unset = icmp eq i32 %old, 0
  %base = ptrtoint ptr @__heap_base to i32
  %lowest = select i1 %unset, i32 %base, i32 %old
  %shifted = add i32 %lowest, 63
  %from = and i32 %shifted, -64
  %size = trunc i64 %bytes to i32
  %end = add i32 %from, %size
  %pages = call i32 @llvm.wasm.memory.size.i32(i32 0)
  %have = shl i32 %pages, 16
  %short = icmp ugt i32 %end, %have
  br i1 %short, label %grow, label %done
grow:
  %lack = sub i32 %end, %have
  %rounded = add i32 %lack, 65535
  %more = lshr i32 %rounded, 16
  %grown = call i32 @llvm.wasm.memory.grow.i32(i32 0, i32 %more)
  %refused = icmp eq i32 %grown, -1
  br i1 %refused, label %full, label %done
full:
  call void @llvm.trap()
  unreachable
done:
  store i32 %end, ptr @top
  %place = inttoptr i32 %from to ptr
  ret ptr %place
}

define ptr @fiveup_allocate(i32 %bytes) {
  %wide = zext i32 %bytes to i64
  %place = call ptr @fiveup_more(i64 %wide)
  ret ptr %place
}

; The product of two numbers of 128 bits, by which sizes of arrays are checked.
define void @__multi3(ptr %r, i64 %al, i64 %ah, i64 %bl, i64 %bh) noinline optnone {
  %a0 = and i64 %al, 4294967295
  %a1 = lshr i64 %al, 32
  %b0 = and i64 %bl, 4294967295
  %b1 = lshr i64 %bl, 32
  %p00 = mul i64 %a0, %b0
  %p01 = mul i64 %a0, %b1
  %p10 = mul i64 %a1, %b0
  %p11 = mul i64 %a1, %b1
  %p00h = lshr i64 %p00, 32
  %p01l = and i64 %p01, 4294967295
  %m = add i64 %p00h, %p01l
  %middle = add i64 %m, %p10
  %p00l = and i64 %p00, 4294967295
  %middlel = shl i64 %middle, 32
  %low = or i64 %p00l, %middlel
  %p01h = lshr i64 %p01, 32
  %middleh = lshr i64 %middle, 32
  %s0 = add i64 %p11, %p01h
  %s1 = add i64 %s0, %middleh
  %x = mul i64 %al, %bh
  %y = mul i64 %ah, %bl
  %s2 = add i64 %s1, %x
  %high = add i64 %s2, %y
  store i64 %low, ptr %r
  %r1 = getelementptr i64, ptr %r, i64 1
  store i64 %high, ptr %r1
  ret void
}
"""
)

# In a library: the memory of C, which threads may share.
LIBRARY: Final = """
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare void @abort()

define ptr @fiveup_take(i64 %class) {
  %bytes = shl i64 1, %class
  %new = call ptr @aligned_alloc(i64 64, i64 %bytes)
  %none = icmp eq ptr %new, null
  br i1 %none, label %full, label %done
full:
  call void @abort()
  unreachable
done:
  ret ptr %new
}

define void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}
"""
