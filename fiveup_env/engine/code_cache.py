"""The cache of compiled code on disk, keyed by what the code is compiled from.

Numba caches compiled code, but notices changes only in the file that defines the function, not in
the files of the functions that it calls. Code is therefore cached in a folder named after a digest
of all source that it is compiled from: that of its own module, and of what that imports. After any
change there it is compiled anew, and no outdated rule survives in the cache of another file.

What is in a cache is run as it is, so none is used that others can write in.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
import warnings
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from numba.core import config
from numba.core.caching import FunctionCache

from fiveup_env.files import is_ours, is_writable, locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKAGE = Path(__file__).parents[1]
SECONDS_KEPT = 24 * 60 * 60

_CACHES: set[Path] = set()
_IMPORT_FROM = re.compile(r"^from (\.*)([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


class SharedCache(FunctionCache):  # type: ignore[misc]
    """A cache on disk that many processes may fill at once.

    Numba numbers the files of a function's signatures. Two processes that saved at the same time
    could take one number for two signatures, and a third would then run the wrong code.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept for a signature, or None; files that were cut off are kept anew."""
        try:
            return super().load_overload(sig, target_context)
        except (EOFError, UnpicklingError):
            with suppress(OSError), locked(Path(self.cache_path) / "lock"):
                self.flush()
            return None

    def _save_overload(self, signature: Any, data: Any) -> None:
        # On a full disk, or in a folder that was just removed, code runs without being kept.
        with suppress(OSError):
            self._impl.locator.ensure_cache_path()
            with locked(Path(self.cache_path) / "lock"):
                super()._save_overload(signature, data)


def sources_of(function: Callable[..., Any]) -> frozenset[Path]:
    """Return the files that a function is compiled from.

    These are its own module and what that imports, and those of every compiled function among its
    globals, which may come from other packages.
    """
    sources = module_sources(Path(function.__code__.co_filename))
    for called in function.__globals__.values():
        sources |= getattr(called, "sources", frozenset())
    return sources


@cache
def module_sources(module: Path) -> frozenset[Path]:
    """Return a module, all that it imports from its own package and this one, and their data.

    Data are the JSON files beside a module: compiled code has what it reads there as constants.
    """
    reached, ahead = set[Path](), [module]
    while ahead:
        path = ahead.pop()
        if path not in reached:
            reached.add(path)
            ahead += _imported_by(path)
    return frozenset(reached.union(*(path.parent.glob("*.json") for path in reached)))


@cache
def _imported_by(module: Path) -> list[Path]:
    """Return the files of its own package and of this one that a module imports as it is loaded.

    Imports in an indented block are for types alone, or come when compiled code is there already.
    """
    try:
        text = module.read_text("utf-8")
    except (OSError, ValueError):  # it was written in a notebook, or at a prompt
        return []
    tops = {folder.name: folder.parent for folder in (PACKAGE, top_folder(module.parent))}
    places = re.findall(r"^import ([\w.]+)", text, re.MULTILINE)
    for dots, named, names in _IMPORT_FROM.findall(text):
        above = module.parents[len(dots) - 1] if dots else None
        within = above.relative_to(top_folder(above).parent).parts if above else ()
        base = ".".join([*within, *filter(None, [named])])
        places += [base, *(f"{base}.{name}" for name in re.findall(r"\w+", names))]
    paths = [
        tops[place.partition(".")[0]] / place.replace(".", "/")
        for place in places
        if place.partition(".")[0] in tops
    ]
    files = [file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py")]
    return [file for file in files if file.is_file()]


def top_folder(folder: Path) -> Path:
    """Return the folder of the top-level package that a folder belongs to."""
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


@cache
def source_digest(roots: frozenset[Path]) -> str:
    """Return a digest of all Python source below some folders.

    Hidden files are left out, because editors keep their own there.
    """
    paths = ((root, path) for root in roots for path in root.rglob("*.py"))
    return digest_of(
        frozenset(
            path
            for root, path in paths
            if not any(part.startswith(".") for part in path.relative_to(root).parts)
        )
    )


@cache
def digest_of(files: frozenset[Path]) -> str:
    """Return a digest of some files; unreadable ones are left out."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(files):
        with suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def cache_folders() -> set[Path]:
    """Return the folders that keep what the functions imported so far are compiled to."""
    return set(_CACHES)


@contextmanager
def cache_folder(module: Path, sources: frozenset[Path]) -> Iterator[bool]:
    """Make Numba cache what it compiles of a module in a folder for this version of the source.

    The value is whether there is such a folder.
    """
    before, kept = config.CACHE_DIR, _cache_of(module, sources)
    if kept:
        config.CACHE_DIR = kept
        _CACHES.add(Path(kept))
    try:
        yield kept is not None
    finally:
        config.CACHE_DIR = before


@cache
def _cache_of(module: Path, sources: frozenset[Path]) -> str | None:
    """Return the cache of a module: beside it, or in the user's cache if its folder is read-only.

    Where others can write in it, the user's cache is taken instead, and where they can write there,
    too, there is none.

    Caches beside it of older versions of the same module are removed once no process has begun
    with them for a day; a process that began before the source changed may still use a younger one.
    """
    checked = "+checked" if config.BOUNDSCHECK else ""  # which Numba does not tell apart
    version = f"fiveup-{module.stem}-{digest_of(sources)}{checked}"
    beside = module.parent / "__pycache__"
    if config.CACHE_DIR or not is_writable(module.parent) or not is_ours(beside / version):
        chosen = Path(config.CACHE_DIR) if config.CACHE_DIR else _cache_of_the_user()
        if chosen and is_ours(chosen / version):
            return str(chosen / version)
        warnings.warn(
            "compiled code is kept nowhere, so every start compiles anew: set NUMBA_CACHE_DIR to a "
            "folder that only you can write in",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    if not (beside / version).exists():
        for other in beside.glob(f"fiveup-{module.stem}-*"):
            with suppress(OSError):  # another process has just removed it
                # The only clock for ages of files. If it jumps, code is compiled once more.
                if time.time() - other.stat().st_mtime > SECONDS_KEPT:  # noqa: TID251
                    shutil.rmtree(other, ignore_errors=True)
    return str(beside / version)


def _cache_of_the_user() -> Path | None:
    """Return the user's cache folder, or None for a user without a home."""
    if home := os.environ.get("XDG_CACHE_HOME"):
        return Path(home) / "fiveup-env"
    try:
        return Path.home() / ".cache" / "fiveup-env"
    except RuntimeError:
        return None
