"""Functions as Numba compiles them: where no library was built of this source, and for the builder.

Machine code is kept on disk in a folder named after a digest of all that it is compiled from: Numba
notices changes only in the file of a function, not in those of the functions that it calls. What is
kept is run as it is, so no folder is used that others can write in.
"""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType
from typing import TYPE_CHECKING, Any, Final

import numba
from numba.core import config
from numba.core.registry import cpu_target
from numba.extending import intrinsic, typeof_impl

from fiveup_env.files import is_ours, is_writable
from fiveup_env.native.interpreted import HELD
from fiveup_env.native.sources import digest_of, module_sources

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = True  # whether machine code is kept on disk
OPTIONS: Final = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def dispatcher(function: Any) -> Any:
    """Return Numba's form of a function."""
    made = numba.njit(function.python, forceinline=function.is_inlined, **OPTIONS)
    if KEPT and function.is_called:
        folder = _folder(function.file, _sources_of(function))
        if folder:
            before, config.CACHE_DIR = config.CACHE_DIR, folder
            try:
                made.enable_caching()
            finally:
                config.CACHE_DIR = before
    return made


@cache
def _sources_of(function: Any) -> frozenset[Path]:
    """Return the files that a function is compiled from, with those of what it may call."""
    sources, module = module_sources(function.file), function.__module__
    for called in function.python.__globals__.values():
        if isinstance(called, type(function)) and called.__module__ != module:
            sources |= _sources_of(called)
    return sources


@cache
def _folder(module: Path, sources: frozenset[Path]) -> str | None:
    """Return where the machine code of a module is kept: beside it, or in the user's cache."""
    checked = "-checked" if config.BOUNDSCHECK else ""  # which Numba does not tell apart
    name = f"fiveup-{module.stem}-{digest_of(sources)}{checked}"
    beside = [module.parent / "__pycache__"] if is_writable(module.parent) else []
    places = [Path(config.CACHE_DIR)] if config.CACHE_DIR else [*beside, *_cache_of_the_user()]
    for place in places:
        if is_ours(place / name):
            return str(place / name)
    warnings.warn(
        "compiled code is kept nowhere, so every start compiles anew: set NUMBA_CACHE_DIR to a "
        "folder that only you can write in",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _cache_of_the_user() -> list[Path]:
    """Return the user's cache folder, none for a user without a home."""
    if home := os.environ.get("XDG_CACHE_HOME"):
        return [Path(home) / "fiveup-env"]
    with suppress(RuntimeError):
        return [Path.home() / ".cache" / "fiveup-env"]
    return []


def type_of_instruction(generate: Callable[..., Any]) -> Any:
    """Return the type of an instruction, by the function that generates it."""
    made = intrinsic(generate)
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


@typeof_impl.register(BuiltinFunctionType)  # type: ignore[untyped-decorator]
def _type_of_builtin(value: Any, _context: Any) -> Any:
    """Return the type of a function of the library."""
    return HELD[value]._numba_type_ if value in HELD else None


def let_numba_know() -> None:
    """Do nothing: to import this lets compiled code of one's own call the library."""
