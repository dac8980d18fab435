"""Eight or sixteen numbers at a time, which most machines multiply and add by few instructions.

A compiler that is left to find out by itself which loops can be done so takes long, and checks at
every loop that the arrays do not overlap. The order of sums is the same on all machines: each of
the numbers is a sum of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.native import array_in, inlined, instruction

if TYPE_CHECKING:
    from fiveup_env.native import Array

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


@instruction
def eight(array: Array, i: int, j: int) -> Any:
    """Return the eight numbers of a row of an array from a column on."""
    return array[i, j : j + EIGHT]


@instruction
def sixteen(array: Array, i: int, j: int) -> Any:
    """Return the sixteen numbers of a row of an array from a column on."""
    return array[i, j : j + SIXTEEN]


@instruction
def put(array: Array, i: int, j: int, numbers: Any) -> None:
    """Write several numbers into a row of an array from a column on."""
    array[i, j : j + len(numbers)] = numbers


@instruction
def grown(total: Any, scale: Any, numbers: Any) -> Any:
    """Return numbers to which multiples of others are added, by one scale or by as many."""
    return total + scale * numbers


@instruction
def zeros_like(array: Array) -> Any:
    """Return eight times 0."""
    return np.zeros(EIGHT, array.dtype)


@instruction
def sum_of(numbers: Any) -> Any:
    """Return the sum of eight numbers, added in pairs."""
    n = numbers
    return ((n[0] + n[1]) + (n[2] + n[3])) + ((n[4] + n[5]) + (n[6] + n[7]))
