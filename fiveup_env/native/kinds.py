"""What compiled functions take and return, as their annotations say it.

Numbers are `int`, `Word`, `float` and `bool`. Arrays are contiguous. Named tuples have kinds, too.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

# What a type checker cannot see into, between compiled functions.
Struct: TypeAlias = Any  # one struct of a dtype of this package; its fields are attributes
Array: TypeAlias = Any  # an array of structs or of numbers
Mask: TypeAlias = Any  # an unsigned integer as a set of bits


class Entries(NamedTuple):
    """The kind of an array."""

    dtype: Any
    dimensions: int = 1


class Unsigned(NamedTuple):
    """The kind of an unsigned integer of 64 bits."""


Word: TypeAlias = Annotated[Any, Unsigned()]

Bools: TypeAlias = Annotated[np.ndarray, Entries(np.bool_)]
BoolRows: TypeAlias = Annotated[np.ndarray, Entries(np.bool_, 2)]
Bytes: TypeAlias = Annotated[np.ndarray, Entries(np.uint8)]
Uint16s: TypeAlias = Annotated[np.ndarray, Entries(np.uint16)]
Uint32s: TypeAlias = Annotated[np.ndarray, Entries(np.uint32)]
Int8s: TypeAlias = Annotated[np.ndarray, Entries(np.int8)]
Int8Rows: TypeAlias = Annotated[np.ndarray, Entries(np.int8, 2)]
Int16s: TypeAlias = Annotated[np.ndarray, Entries(np.int16)]
Int32s: TypeAlias = Annotated[np.ndarray, Entries(np.int32)]
Int32Rows: TypeAlias = Annotated[np.ndarray, Entries(np.int32, 2)]
Int64s: TypeAlias = Annotated[np.ndarray, Entries(np.int64)]
Int64Rows: TypeAlias = Annotated[np.ndarray, Entries(np.int64, 2)]
Words: TypeAlias = Annotated[np.ndarray, Entries(np.uint64)]
Floats: TypeAlias = Annotated[np.ndarray, Entries(np.float32)]
FloatRows: TypeAlias = Annotated[np.ndarray, Entries(np.float32, 2)]
FloatTables: TypeAlias = Annotated[np.ndarray, Entries(np.float32, 3)]
Doubles: TypeAlias = Annotated[np.ndarray, Entries(np.float64)]
DoubleRows: TypeAlias = Annotated[np.ndarray, Entries(np.float64, 2)]
DoubleTables: TypeAlias = Annotated[np.ndarray, Entries(np.float64, 3)]


def read_only(array: np.ndarray) -> np.ndarray:
    """Return an array that nobody can write into any more."""
    array.setflags(write=False)
    return array
