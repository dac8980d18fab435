"""How compiled functions are called from outside: pointers and whole numbers in, a number back.

A function returns 0 or what its docstring says, and a negative code for what it refuses. Then
nothing has been written. What pointers lead to is checked before it is used, so no bytes can make a
function read or write elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from fiveup_env.engine.state import GAME, VIEW
from fiveup_env.rules.fields import RULES

if TYPE_CHECKING:
    from collections.abc import Callable

# What is refused, by its code, and why.
REFUSALS: Final = {
    "NO_MEMORY_GIVEN": "a pointer is null",
    "BAD_RULES": "the rules cannot be dealt or scored",
    "BAD_GAME": "the bytes are not a valid game",
    "BAD_VIEW": "the bytes are not a valid view",
    "BAD_SEAT": "there is no such seat",
    "BAD_TILES": "the hands and the boneyard do not hold every tile of the set once",
    "ILLEGAL": "the action is not allowed",
    "NOT_PLAYING": "no hand is in play, or another seat is to move",
    "NOT_OVER": "the hand is not over, or the game is",
    "BAD_RUNG": "there is no such heuristic",
    "BAD_WEIGHTS": "the bytes are not a valid policy",
    "BAD_OPTIONS": "an option is out of range, or does not fit the policy",
    "BAD_SEARCH": "the bytes are not a valid search, or its worlds are out of range",
    "NO_WORLD": "no hidden tiles agree with the view",
    "BAD_RUN": "the bytes are not a saved run, or have other settings",
    "NOT_FINITE": "a loss or a gradient is not a finite number",
    "BAD_PLAYS": "the plays do not fit on the layout, or not on their arms",
    "FAILED": "the function failed",
}
CODES: Final = {name: -1 - k for k, name in enumerate(REFUSALS)}
(
    NO_MEMORY_GIVEN,
    BAD_RULES,
    BAD_GAME,
    BAD_VIEW,
    BAD_SEAT,
    BAD_TILES,
    ILLEGAL,
    NOT_PLAYING,
    NOT_OVER,
    BAD_RUNG,
    BAD_WEIGHTS,
    BAD_OPTIONS,
    BAD_SEARCH,
    NO_WORLD,
    BAD_RUN,
    NOT_FINITE,
    BAD_PLAYS,
    FAILED,
) = CODES.values()
OK: Final = 0


class Kind(NamedTuple):
    """The type of an argument."""

    c: str  # in C
    of: Any  # in Numba
    optional: bool = False  # whether it may be null


class Entry(NamedTuple):
    """A function that can be called from outside."""

    function: Callable[..., int]
    arguments: dict[str, Kind]


STRUCTS: Final[dict[str, np.dtype]] = {"rules": RULES, "game": GAME, "view": VIEW}
NUMBERS: Final = {
    np.dtype(np.int8): "int8_t",
    np.dtype(np.bool_): "uint8_t",
    np.dtype(np.uint8): "uint8_t",
    np.dtype(np.int16): "int16_t",
    np.dtype(np.uint16): "uint16_t",
    np.dtype(np.int32): "int32_t",
    np.dtype(np.uint32): "uint32_t",
    np.dtype(np.int64): "int64_t",
    np.dtype(np.uint64): "uint64_t",
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}
INT: Final = Kind("int32_t", types.int64)
WORD: Final = Kind("uint64_t", types.uint64)
ENTRIES: Final[dict[str, Entry]] = {}


def writes(dtype: Any, *, optional: bool = False) -> Kind:
    """Return the kind of an argument that points at what is written."""
    dtype = np.dtype(dtype)
    names = {struct: f"fiveup_{name}" for name, struct in STRUCTS.items()}
    return Kind(
        f"{names.get(dtype) or NUMBERS[dtype]} *", types.CPointer(numba.from_dtype(dtype)), optional
    )


def reads(dtype: Any, *, optional: bool = False) -> Kind:
    """Return the kind of an argument that points at what is only read."""
    kind = writes(dtype, optional=optional)
    return kind._replace(c=f"const {kind.c}")


def entry(**arguments: Kind) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Let a function be called from outside under its name, with arguments of some kinds."""

    def add(function: Callable[..., int]) -> Callable[..., int]:
        ENTRIES[function.__name__] = Entry(function, arguments)
        return function

    return add


@intrinsic  # type: ignore[untyped-decorator]
def is_null(_context: Any, pointer: types.CPointer) -> Any:
    """Return whether a pointer leads nowhere."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        (address,) = arguments
        return builder.icmp_unsigned("==", address, ir.Constant(address.type, None))

    return types.boolean(pointer), generate
