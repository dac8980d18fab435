"""The instructions of compiled code, as Numba generates them: its type, and its LLVM code."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, imputils, types
from numba.np import arrayobj


def bit_count(_context: Any, value: types.Integer) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return value(value), generate


def lowest_bit(_context: Any, value: types.Integer) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return value(value), generate


def bits_of(_context: Any, _value: types.Float) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


def float_of(_context: Any, _value: types.Integer) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


def same(_context: Any, left: types.Record, right: types.Record) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        whole = ir.IntType(8 * left.size)
        numbers = [
            builder.load(builder.bitcast(each, whole.as_pointer()), align=1) for each in arguments
        ]
        return builder.icmp_unsigned("==", *numbers)

    return types.boolean(left, right), generate


def not_zero(_context: Any, table: Any, _row: Any, _column: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, table, array, arguments[1:])
        kind = ir.VectorType(ir.IntType(8), 64)
        numbers = builder.load(builder.bitcast(place, kind.as_pointer()), align=1)
        bits = builder.icmp_unsigned("!=", numbers, ir.Constant(kind, None))
        return builder.bitcast(bits, ir.IntType(64))

    return types.uint64(table, types.int64, types.int64), generate


def prefetch(_context: Any, array: Any, _i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(function, [place, number(0), number(3), number(1)])  # to be read, and again

    return types.void(array, types.int64), generate


def array_in(_context: Any, memory: Any, _start: Any, dtype: Any, shape: Any) -> Any:
    made_type = types.Array(dtype.dtype, len(shape), "C")

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        source = context.make_array(memory)(context, builder, arguments[0])
        made = context.make_array(made_type)(context, builder)
        sizes, stride = cgutils.unpack_tuple(builder, arguments[3], len(shape)), made_size(context)
        strides: list[Any] = []
        for size in reversed(sizes):
            strides.insert(0, stride)
            stride = builder.mul(stride, size)
        arrayobj.populate_array(
            made,
            data=builder.bitcast(builder.gep(source.data, [arguments[1]]), made.data.type),
            shape=sizes,
            strides=strides,
            itemsize=made_size(context),
            meminfo=source.meminfo,
            parent=source.parent,
        )
        return imputils.impl_ret_borrowed(context, builder, made_type, made._getvalue())  # noqa: SLF001

    def made_size(context: Any) -> Any:
        size = context.get_abi_sizeof(context.get_data_type(made_type.dtype))
        return context.get_constant(types.intp, size)

    return made_type(memory, types.int64, dtype, shape), generate
