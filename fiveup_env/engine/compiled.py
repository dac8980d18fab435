"""The decorators that make compiled functions, and bit operations that these share."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, imputils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from fiveup_env.engine.code_cache import SharedCache, cache_folder, sources_of
from fiveup_env.engine.dispatch import Entry
from fiveup_env.engine.interpreted import interpreted

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")

# Arguments of compiled code that a type checker cannot see into.
Struct: TypeAlias = Any  # one struct of a dtype of this package; its fields are attributes
Array: TypeAlias = Any  # an array of structs or of numbers
Mask: TypeAlias = Any  # an unsigned integer as a set of bits
Word: TypeAlias = Any  # an unsigned integer of 64 bits


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and cache it on disk for later runs."""
    return _compile(function)


def compiled_later(function: Function) -> Function:
    """Compile a function when its calls as Python have taken a while.

    This is for what a single game or environment calls: most programs have ended, and no person has
    waited, before compiling pays. Its first argument is an array; a long one is worth compiling
    for.
    """
    return _compile(function, later=True)


def inlined(function: Function) -> Function:
    """Compile a small function into its callers, for functions that every move calls."""
    return _compile(function, inline=True)


def _compile(function: Function, *, inline: bool = False, later: bool = False) -> Function:
    if config.DISABLE_JIT:
        return interpreted(function)
    made: Any = Entry(function, inline=inline, later=later)
    module, made.sources = Path(function.__code__.co_filename), sources_of(function)
    with cache_folder(module, made.sources) as kept:
        if kept:
            with suppress(RuntimeError):  # where nothing can be written, nothing is kept
                made._cache = SharedCache(function)  # noqa: SLF001 - Numba lets nobody choose it
    return made


def read_only(array: np.ndarray) -> np.ndarray:
    """Return an array that nobody can write into any more."""
    array.setflags(write=False)
    return array


def instruction(in_python: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Make a function one instruction in compiled code; `in_python` says what it does in Python."""

    def instruction(generate: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return in_python
        made = intrinsic(generate)
        made.in_python = in_python
        return made

    return instruction


@instruction(lambda value: int(value).bit_count())
def bit_count(_context: Any, value: types.Integer) -> Any:
    """Return the number of set bits in an unsigned integer."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return value(value), generate


@instruction(lambda value: (int(value) & -int(value)).bit_length() - 1)
def lowest_bit(_context: Any, value: types.Integer) -> Any:
    """Return the position of the lowest set bit in an unsigned integer."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return value(value), generate


@instruction(lambda value: np.float64(value).view(np.uint64))
def bits_of(_context: Any, _value: types.Float) -> Any:
    """Return the 64 bits of a float as an unsigned integer."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@instruction(lambda value: np.uint64(value).view(np.float64))
def float_of(_context: Any, _value: types.Integer) -> Any:
    """Return the float that has some 64 bits."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@instruction(lambda left, right: left.tobytes() == right.tobytes())
def same(_context: Any, left: types.Record, right: types.Record) -> Any:
    """Return whether two structs of a kind hold the same bytes."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        whole = ir.IntType(8 * left.size)
        numbers = [
            builder.load(builder.bitcast(each, whole.as_pointer()), align=1) for each in arguments
        ]
        return builder.icmp_unsigned("==", *numbers)

    return types.boolean(left, right), generate


def _not_zero_in_python(table: Any, row: int, column: int) -> Any:
    return np.packbits(table[row, column : column + 64] != 0, bitorder="little").view(np.uint64)[0]


@instruction(_not_zero_in_python)
def not_zero(_context: Any, table: Any, _row: Any, _column: Any) -> Any:
    """Return which of 64 bytes of a row of a table are not 0, the first one in the lowest bit."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = cgutils.get_item_pointer(context, builder, table, array, arguments[1:])
        kind = ir.VectorType(ir.IntType(8), 64)
        numbers = builder.load(builder.bitcast(place, kind.as_pointer()), align=1)
        bits = builder.icmp_unsigned("!=", numbers, ir.Constant(kind, None))
        return builder.bitcast(bits, ir.IntType(64))

    return types.uint64(table, types.int64, types.int64), generate


@instruction(lambda array, i: None)  # noqa: ARG005
def prefetch(_context: Any, array: Any, _i: Any) -> Any:
    """Have the place of a number in an array brought near, in time for when it is read."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(function, [place, number(0), number(3), number(1)])  # to be read, and again

    return types.void(array, types.int64), generate


def _array_in_python(memory: Any, start: int, dtype: Any, shape: tuple[int, ...]) -> Any:
    size = math.prod(shape) * np.dtype(dtype).itemsize // memory.itemsize
    return memory[start : start + size].view(dtype).reshape(shape)


@instruction(_array_in_python)
def array_in(_context: Any, memory: Any, _start: Any, dtype: Any, shape: Any) -> Any:
    """Return an array of a type and a shape in the memory of another one, from an index on.

    To slice, view and reshape does the same, but is checked at run time and takes long to compile.
    """
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


@inlined
def signed(value: Any) -> int:
    """Return a number as a signed integer; mixing signed and unsigned ones gives floats."""
    return np.int64(value)  # type: ignore[return-value]
