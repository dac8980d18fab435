"""Compiled functions: the decorator that makes them, their cache, and the bit tricks they share.

Numba caches compiled code, but looks for changes only in the file that holds the function, not in
the files it calls into. Code is therefore cached in a folder named after all source of its package
and of this one: a change anywhere compiles anew, and no stale rule survives in another's cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numba
import numpy as np
from numba.core import cgutils, config, event, types
from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Function = TypeVar("Function", bound="Callable[..., Any]")

# What compiled code takes and a type checker cannot see into.
Record: TypeAlias = Any  # one record of a dtype of this package; its fields are attributes
Array: TypeAlias = Any  # an array of records or of numbers
Mask: TypeAlias = Any  # an unsigned integer as a set of bits
Word: TypeAlias = Any  # an unsigned integer of 64 bits

PACKAGE = Path(__file__).parent
NOTICE_KIND = "numba:compile"


def compiled(function: Function) -> Function:
    """Compile a function to machine code when it is first called; later runs load it from disk."""
    return _compile(function, inline=False)


def inlined(function: Function) -> Function:
    """The same for a small function that every move calls: it becomes part of its callers."""
    return _compile(function, inline=True)


def _compile(function: Function, *, inline: bool) -> Function:
    with _cache_folder(Path(function.__code__.co_filename).parent):
        made: Function = numba.njit(
            cache=True, nogil=True, error_model="numpy", forceinline=inline
        )(function)
    return made


@cache
def source_digest(folder: Path) -> str:
    """A name for the exact Python source of this package and of the one that a folder is in."""
    top = folder
    while (top.parent / "__init__.py").exists():
        top = top.parent
    digest = hashlib.blake2b(digest_size=8)
    for root in sorted({top, PACKAGE}):
        for path in sorted(root.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _cache_folder(folder: Path) -> Iterator[None]:
    """Let Numba cache in a folder for this version of the source, while it makes a function."""
    before = config.CACHE_DIR
    config.CACHE_DIR = _cache_of(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@cache
def _cache_of(folder: Path) -> str:
    """Beside the source, with older versions cleared away; elsewhere if that is read-only."""
    version = f"fiveup-{source_digest(folder)}"
    if config.CACHE_DIR:
        return str(Path(config.CACHE_DIR) / version)
    if not os.access(folder, os.W_OK):
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return str(Path(home) / "fiveup-env" / version)
    beside = folder / "__pycache__"
    if not (beside / version).exists():
        for old in beside.glob("fiveup-*"):
            shutil.rmtree(old, ignore_errors=True)
    return str(beside / version)


class _FirstCompileNotice(event.Listener):  # type: ignore[misc]
    """Says on a terminal, once, that the wait of the first run is a compilation."""

    def on_start(self, started: event.Event) -> None:
        module = started.data["dispatcher"].py_func.__module__
        if module.startswith(__package__) and sys.stderr.isatty():
            sys.stderr.write("compiling the game for this machine (once, some seconds) ...\n")
            event.unregister(NOTICE_KIND, self)

    def on_end(self, ended: event.Event) -> None:
        """Nothing to say."""


event.register(NOTICE_KIND, _FirstCompileNotice())


@intrinsic  # type: ignore[untyped-decorator]
def bit_count(_context: Any, value: types.Integer) -> Any:
    """How many bits of an unsigned integer are set."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return value(value), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(_context: Any, value: types.Integer) -> Any:
    """The number of an unsigned integer's lowest set bit."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return value(value), generate


@inlined
def whole(value: Any) -> int:
    """A number as an ordinary signed integer: unsigned ones turn others into floats."""
    return np.int64(value)  # type: ignore[return-value]
