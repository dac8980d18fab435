"""Atomic writes: a file or a folder appears under its name complete, or not at all. And locks.

A link stays what it is, and what it points to is replaced. Pipes and devices are written to, and
`-` is the standard output.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

# Their descriptors are shared: opened by name, a file that they lead to would be overwritten.
STANDARD: Final = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}


def file_path(path: str | os.PathLike[str]) -> Path:
    """Return a path; raise OSError if no file can have this name."""
    try:
        usable = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise OSError(errno.EINVAL, "not a file name", str(path))
    return Path(path)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is no plain file, so that it is written to and never replaced."""
    path = Path(path)
    return str(path) in STANDARD or (path.exists() and not path.is_file())


def is_writable(folder: Path) -> bool:
    """Return whether files can be made in a folder, by making one.

    Windows does not say so beforehand: permissions of folders are none of `os.access` there.
    """
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


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
    target = Path(os.path.realpath(file_path(path)))
    target.parent.mkdir(parents=True, exist_ok=True)
    workspace = _hidden_beside(target)
    draft, before = workspace / "draft", workspace / "before"
    try:
        workspace.mkdir(mode=0o700)
        draft.mkdir()
        yield draft
        if keep and target.exists():
            _copy_missing(target, draft)
        try:
            if target.exists():
                target.replace(before)
            draft.replace(target)
        except BaseException:
            if before.exists() and not target.exists():
                before.replace(target)
            raise
    finally:
        if workspace.exists():
            shutil.rmtree(workspace)


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let one process at a time into the block: that which holds the lock on this file.

    Where files cannot be locked, all are let in.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            _lock(stack.enter_context(Path(path).open("ab")).fileno())
        yield


def _lock(descriptor: int) -> None:
    """Wait for the lock on a file, which goes when the file is closed or the process ends."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _copy_missing(source: Path, target: Path) -> None:
    """Copy the entries of one folder that another lacks."""
    for entry in source.iterdir():
        if (target / entry.name).exists():
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, target / entry.name, symlinks=True)
        else:
            shutil.copy2(entry, target / entry.name, follow_symlinks=False)


def _hidden_beside(target: Path) -> Path:
    """Return a hidden name in the same folder that nobody else has."""
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}")


@contextmanager
def _draft(path: str | os.PathLike[str], mode: str, encoding: str | None) -> Iterator[IO[Any]]:
    named = file_path(path)
    if is_stream(named):
        shared = STANDARD.get(str(named))
        opened = named if shared is None else os.dup(shared)
        end = _line_end(mode)
        with open(opened, mode, encoding=encoding, newline=end) as file:  # noqa: PTH123 - or a descriptor
            yield file
        return
    target = Path(os.path.realpath(named))
    permissions = target.stat().st_mode if target.exists() else None
    draft = _hidden_beside(target)
    try:
        # Made here and not by `tempfile`, so that the system applies the umask.
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(descriptor, mode, encoding=encoding, newline=_line_end(mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if permissions is not None:
            draft.chmod(stat.S_IMODE(permissions))
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _line_end(mode: str) -> str | None:
    """Return how lines end in a text file: everywhere in the same way, so that digests agree."""
    return None if "b" in mode else "\n"
