"""What compiled code does in one instruction: bits, bytes, and arrays in the memory of others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.native.functions import inlined, instruction

if TYPE_CHECKING:
    from fiveup_env.native.kinds import Array, Mask, Struct, Word


@instruction
def bit_count(value: Mask) -> int:
    """Return the number of set bits in an unsigned integer."""
    return int(value).bit_count()


@instruction
def lowest_bit(value: Mask) -> Any:
    """Return the position of the lowest set bit in an unsigned integer."""
    return (int(value) & -int(value)).bit_length() - 1


@instruction
def bits_of(value: float) -> Word:
    """Return the 64 bits of a float as an unsigned integer."""
    return np.float64(value).view(np.uint64)


@instruction
def float_of(value: Word) -> Any:
    """Return the float that has some 64 bits."""
    return np.uint64(value).view(np.float64)


@instruction
def same(left: Struct, right: Struct) -> bool:
    """Return whether two structs of a kind hold the same bytes."""
    return bool(left.tobytes() == right.tobytes())


@instruction
def not_zero(table: Array, row: int, column: int) -> Word:
    """Return which of 64 bytes of a row of a table are not 0, the first one in the lowest bit."""
    return np.packbits(table[row, column : column + 64] != 0, bitorder="little").view(np.uint64)[0]


@instruction
def prefetch(array: Array, i: int) -> None:
    """Have the place of a number in an array brought near, in time for when it is read."""


@instruction
def array_in(memory: Array, start: int, dtype: Any, shape: tuple[int, ...]) -> Array:
    """Return an array of a type and a shape in the memory of another one, from an index on.

    To slice, view and reshape does the same, but is checked at run time and takes long to compile.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize // memory.itemsize
    return memory[start : start + size].view(dtype).reshape(shape)


@inlined
def signed(value: Any) -> int:
    """Return a number as a signed integer; mixing signed and unsigned ones gives floats."""
    return np.int64(value)  # type: ignore[return-value]
