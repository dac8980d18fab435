"""Compiled functions as plain Python, far slower.

Single games are played so until compiling pays. With NUMBA_DISABLE_JIT=1 nothing is compiled.

Debuggers then stop in every line of the rules, and coverage counts them. Values mean what they mean
in compiled code: fields are attributes, signed numbers never overflow, words wrap around.

Elsewhere the two would differ, but no call leads there. Compiled code reads past the end of an
array, wraps signed sums at 64 bits, divides by zero, and shifts a word by all its bits or more;
Python raises an error or returns something else. Rules, games, views and saved states from outside
are checked first (`valid`, `is_run`, `Batch.load`), and the arguments of public methods, too. So
indices are inside, divisors are constants, fields of the rules or counts above 0, words are shifted
by constants, tiles, ends or pips below their size, and sums stay far below 2**63: points are below
2**31, and counters of loaded states at most 2**53.

Learning alone is not the same to the last bit: where it mixes single and double precision, compiled
code computes in double, and NumPy in single.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Function = TypeVar("Function", bound="Callable[..., Any]")


def interpreted(function: Function) -> Function:
    """Return a function that does as Python what it does when it is compiled."""
    for name, value in function.__globals__.items():
        function.__globals__[name] = _as_compiled(value)

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*map(_as_compiled, arguments))

    return run  # type: ignore[return-value]


class _Struct(np.void):  # type: ignore[misc]  # NumPy means only its other kinds
    """A struct with its fields as attributes, before those that NumPy has, such as `size`."""

    def __getattribute__(self, name: str) -> Any:
        known = super().__getattribute__
        return _as_compiled(self[name]) if name in known("dtype").fields else known(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class _Array(np.ndarray):
    """An array that gives its entries as compiled code sees them."""

    def __getitem__(self, index: Any) -> Any:
        return _as_compiled(super().__getitem__(index))


def _as_compiled(value: Any) -> Any:
    """Return a value as compiled code sees it; structs and arrays share their memory."""
    if isinstance(value, np.signedinteger):
        return int(value)
    if type(value) is np.void:
        return value.view((_Struct, value.dtype))
    if isinstance(value, np.dtype) and value.fields:  # of arrays that are made
        return np.dtype((_Struct, value))
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return type(value)._make(map(_as_compiled, value))
    return value.view(_Array) if type(value) is np.ndarray else value


def uncompiled(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a compiled function as plain Python, without compiling it: for one-off calls."""
    return _as_returned(getattr(function, "in_python", function)(*arguments))


def _as_returned(value: Any) -> Any:
    """Return a value as compiled code returns it."""
    if isinstance(value, tuple):
        made = map(_as_returned, value)
        return type(value)._make(made) if hasattr(value, "_make") else tuple(made)
    return value.view(np.ndarray) if isinstance(value, np.ndarray) else value
