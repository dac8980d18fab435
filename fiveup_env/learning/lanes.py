"""Eight or sixteen numbers at a time, which most machines multiply and add by few instructions.

A compiler that is left to find out by itself which loops can be done so takes long, and checks at
every loop that the arrays do not overlap. The order of sums is the same on all machines: each of
the numbers is a sum of its own.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import models, register_model

from fiveup_env.engine.compiled import Array, array_in, inlined, instruction

EIGHT, SIXTEEN = 8, 16
ALIGNED: Final = 64  # bytes, as sixteen numbers have: those across two lines of a cache take longer


@inlined
def zeros(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array of 0 that begins at a multiple of 64 bytes."""
    count = 1
    for size in shape:
        count *= size
    held = np.zeros(count * np.empty(1, dtype).itemsize + ALIGNED, np.uint8)
    return array_in(held, -held.ctypes.data % ALIGNED, dtype, shape)


class _Numbers(types.Type):
    """The type of several numbers."""

    def __init__(self, of: types.Float, count: int) -> None:
        self.of, self.count = of, count
        super().__init__(f"{count} x {of}")


@register_model(_Numbers)
class _NumbersModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: _Numbers) -> None:
        number = ir.DoubleType() if kind.of.bitwidth == 64 else ir.FloatType()
        super().__init__(manager, kind, ir.VectorType(number, kind.count))


def _place(context: Any, builder: Any, kind: Any, where: Any, count: int) -> Any:
    """Return the address of several numbers of a row."""
    array, i, j = where
    struct = context.make_array(kind)(context, builder, array)
    first = cgutils.get_item_pointer(context, builder, kind, struct, [i, j])
    vector = ir.VectorType(context.get_data_type(kind.dtype), count)
    return builder.bitcast(first, vector.as_pointer())


def _of(array: Any, count: int) -> _Numbers:
    if not (isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"):
        raise TypingError(f"such numbers are in the rows of a contiguous table, not in {array}")
    return _Numbers(array.dtype, count)


def _load(array: Any, count: int) -> Any:
    """Return the signature and the code of an instruction that reads several numbers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments, count)
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return _of(array, count)(array, types.int64, types.int64), generate


@instruction(lambda array, i, j: array[i, j : j + EIGHT])
def eight(_context: Any, array: Any, _i: Any, _j: Any) -> Any:
    """Return the eight numbers of a row of an array from a column on."""
    return _load(array, EIGHT)


@instruction(lambda array, i, j: array[i, j : j + SIXTEEN])
def sixteen(_context: Any, array: Any, _i: Any, _j: Any) -> Any:
    """Return the sixteen numbers of a row of an array from a column on."""
    return _load(array, SIXTEEN)


def _put_in_python(array: Any, i: int, j: int, numbers: Any) -> None:
    array[i, j : j + len(numbers)] = numbers


@instruction(_put_in_python)
def put(_context: Any, array: Any, _i: Any, _j: Any, numbers: Any) -> Any:
    """Write several numbers into a row of an array from a column on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[:3], numbers.count)
        builder.store(arguments[3], place, align=array.dtype.bitwidth // 8)

    return types.void(array, types.int64, types.int64, numbers), generate


@instruction(lambda total, scale, numbers: total + scale * numbers)
def grown(_context: Any, total: Any, scale: Any, numbers: Any) -> Any:
    """Return numbers to which multiples of others are added, by one scale or by as many."""
    taken = scale if isinstance(scale, _Numbers) else numbers.of

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        first, by, second = arguments
        if taken is not numbers:
            by = _everywhere(builder, by, second.type)
        return builder.fadd(first, builder.fmul(by, second))

    return total(total, taken, numbers), generate


def _everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """Return a number as often as a vector has some."""
    unset = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(unset, number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(first, unset, zeros)


@instruction(lambda array: np.zeros(EIGHT, array.dtype))
def zeros_like(_context: Any, array: Any) -> Any:
    """Return eight times 0."""

    def generate(context: Any, _builder: Any, signature: Any, _arguments: Any) -> Any:
        return ir.Constant(context.get_value_type(signature.return_type), None)

    return _of(array, EIGHT)(array), generate


@instruction(lambda n: ((n[0] + n[1]) + (n[2] + n[3])) + ((n[4] + n[5]) + (n[6] + n[7])))
def sum_of(_context: Any, numbers: Any) -> Any:
    """Return the sum of eight numbers, added in pairs."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        each = [builder.extract_element(arguments[0], ir.IntType(32)(k)) for k in range(EIGHT)]
        while len(each) > 1:
            each = [builder.fadd(*each[k : k + 2]) for k in range(0, len(each), 2)]
        return each[0]

    return numbers.of(numbers), generate
