"""What code is made from: digests of Python source, and of the data that it has as constants."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]

_IMPORT_FROM = re.compile(r"^from (\.*)([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


@cache
def module_sources(module: Path) -> frozenset[Path]:
    """Return a module, all that it imports from its own package and this one, and their data.

    Data are the JSON files beside a module: compiled code has what it reads there as constants. So
    is `code.py`, which generates instructions.
    """
    reached, ahead = set[Path](), [module]
    while ahead:
        path = ahead.pop()
        if path not in reached:
            reached.add(path)
            ahead += _imported_by(path)
    beside = ("*.json", "code.py")
    return frozenset(
        reached.union(*(path.parent.glob(each) for path in reached for each in beside))
    )


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
