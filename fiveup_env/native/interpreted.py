"""Compiled functions as plain Python, far slower.

With NUMBA_DISABLE_JIT=1 nothing is compiled.

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
from threading import RLock
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


HELD: Final[dict[Any, Any]] = {}  # what holds the Python of a function of the library
_MAKING = RLock()
_COPIES: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}  # by the identity of the first


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does as Python what it does when it is compiled.

    It calls others as Python, too, and leaves its module alone.
    """
    with _MAKING:  # no thread is given a copy that another has not finished
        body = FunctionType(
            function.__code__,
            _names_in_python(function.__globals__),
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return body(*map(_as_compiled, arguments))

    return run


def _names_in_python(names: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a module's names, the same for all its functions, with these as Python."""
    if id(names) not in _COPIES:
        copy = dict(names)
        _COPIES[id(names)] = names, copy
        for name, value in names.items():
            holder = HELD.get(value) if isinstance(value, BuiltinFunctionType) else value
            copy[name] = getattr(holder, "in_python", None) or _as_compiled(value)
    return _COPIES[id(names)][1]


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
    """Call a compiled function as plain Python, as for what lays out memory."""
    return as_returned(HELD.get(function, function).in_python(*arguments))


def as_returned(value: Any) -> Any:
    """Return a value as compiled code returns it."""
    if isinstance(value, tuple):
        made = map(as_returned, value)
        return type(value)._make(made) if hasattr(value, "_make") else tuple(made)
    return value.view(np.ndarray) if isinstance(value, np.ndarray) else value
