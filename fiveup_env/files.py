"""Atomic writes: a file or a folder appears under its name complete, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open a text file for writing; it appears under its name only once it is complete."""
    with _draft(path, "w", "utf-8") as file:
        yield file


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; it appears under its name only once it is complete."""
    with _draft(path, "wb", None) as file:
        file.write(content)


@contextmanager
def atomic_folder(path: str | os.PathLike[str], *, keep: bool = False) -> Iterator[Path]:
    """Yield a folder to fill; it replaces the one of its name once it is complete.

    With `keep`, entries of the older folder that the new one lacks are copied into it.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    workspace = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        draft, before = workspace / "draft", workspace / "before"
        draft.mkdir()
        yield draft
        if target.exists():
            if keep:
                _copy_missing(target, draft)
            target.replace(before)
        try:
            draft.replace(target)
        except BaseException:
            if before.exists():
                before.replace(target)
            raise
    finally:
        shutil.rmtree(workspace)


def _copy_missing(source: Path, target: Path) -> None:
    """Copy the entries of one folder that another lacks."""
    for entry in source.iterdir():
        if (target / entry.name).exists():
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, target / entry.name, symlinks=True)
        else:
            shutil.copy2(entry, target / entry.name, follow_symlinks=False)


@contextmanager
def _draft(path: str | os.PathLike[str], mode: str, encoding: str | None) -> Iterator[IO[Any]]:
    target = Path(path)
    with tempfile.NamedTemporaryFile(
        mode, encoding=encoding, dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as file:
        draft = Path(file.name)
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            draft.chmod(0o666 & ~_umask())
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
