"""Everything that the project writes to disk: files, folders, lines that are appended, and locks.

A file or a folder appears under its name complete, or not at all. A link stays what it is, and what
it points to is replaced. Pipes and devices are written to, and `-` is the standard output.

A process that is killed as it writes leaves a hidden draft, which the next one to write the same
file removes. All that changes the disk is called as `os.NAME`, one system call at a time, so that
`tests/faults.py` can let any of them fail.
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
from glob import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

# Their descriptors are shared: opened by name, a file that they lead to would be overwritten.
STANDARD: Final = {"-": 1, "/dev/stdout": 1, "/dev/stderr": 2}
RANDOM_BYTES: Final = 8  # in the name of a draft
LOCK_PLACE: Final = (1 << 31) - 2  # on Windows: beyond the end of any file that is locked


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
    """Return whether a path is a stream, which is written in place."""
    path = Path(path)
    return str(path) in STANDARD or (path.exists() and not path.is_file())


def read_plain(path: str | os.PathLike[str], most: int | None = None) -> bytes:
    """Return the content of a plain file; raise OSError for anything else.

    A pipe or a device in a folder of files would be waited for without end.

    Args:
        path: The file.
        most: The largest size that is read, in bytes; None for any.
    """
    named = file_path(path)
    if named.exists() and not named.is_file():
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    with named.open("rb") as file:
        content = file.read(-1 if most is None else most + 1)
    if most is not None and len(content) > most:
        raise OSError(errno.EFBIG, f"more than {most:,} bytes", str(path))
    return content


def is_writable(folder: Path) -> bool:
    """Return whether files can be made in a folder, by making one.

    Windows does not say so beforehand: permissions of folders are none of `os.access` there.
    """
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


Json: TypeAlias = dict[str, Any]  # an object as `json` reads it


def is_ours(folder: Path) -> bool:
    """Return whether nobody else can write in a folder or put another in its place.

    A folder that is not there yet is ours where it would be made. Root may write everywhere.
    Windows has no such permissions: it keeps the folders of a user from others by default.
    """
    if os.name == "nt":
        return True
    whole = Path(os.path.realpath(folder))
    nearest, *above = (path.stat() for path in (whole, *whole.parents) if path.exists())
    return _is_kept(nearest) and all(_is_kept(parent, sticky=True) for parent in above)


def _is_kept(status: os.stat_result, *, sticky: bool = False) -> bool:
    """Return whether others cannot change what a folder holds.

    In a sticky one, as /tmp is, everybody may make things, and nobody may replace those of others.
    """
    if status.st_uid not in {0, os.getuid()}:
        return False
    if sticky and status.st_mode & stat.S_ISVTX:
        return True
    others = status.st_mode & stat.S_IWOTH
    return not others and not (status.st_mode & stat.S_IWGRP and _is_shared(status.st_gid))


def _is_shared(group: int) -> bool:
    """Return whether a group may have other members than this user: all but its own of its name."""
    import grp
    import pwd

    try:
        own = grp.getgrgid(group)
        return own.gr_name != pwd.getpwuid(os.getuid()).pw_name or len(own.gr_mem) > 0
    except KeyError:
        return True


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
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a folder to fill; it appears under its name, which must be free, once complete."""
    target = file_path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = _draft_of(target)
    try:
        os.mkdir(draft)
        yield draft
        os.rename(draft, target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


class Appended:
    """A file to which this process alone appends whole lines, until it closes it.

    If the process dies in between, part of the last line may be there. It is cut off when the next
    line is appended.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open a file, and make it if need be; raise BlockingIOError if another process has it."""
        self._path = file_path(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(self._path, flags, 0o666)
        try:
            with _naming(self._path):
                with _where_possible():
                    _lock(self._descriptor, wait=False)
                content = self._path.read_bytes()
        except BaseException:
            self.close()
            raise
        self._whole = content.rfind(b"\n") + 1  # bytes of whole lines
        self._torn = self._whole < len(content)

    def append(self, lines: bytes) -> None:
        """Append lines; they are on disk when this returns."""
        left = memoryview(lines)
        with _naming(self._path):
            if self._torn:
                os.ftruncate(self._descriptor, self._whole)
                self._torn = False
            while left:
                left = left[os.write(self._descriptor, left) :]
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def move(path: Path, target: Path) -> None:
    """Give a file another name, in place of the file that has it."""
    os.replace(path, target)


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def clear_drafts(folder: Path, name: str = "*") -> None:
    """Remove what killed processes have left in a folder of files that are named like this.

    A draft that is being written is locked; on Windows, it cannot be removed because it is open.
    """
    for draft in folder.glob(f".{name}.{'[0-9a-f]' * (2 * RANDOM_BYTES)}"):
        with suppress(OSError), ExitStack() as stack:
            if sys.platform != "win32":
                descriptor = os.open(draft, os.O_RDONLY)
                stack.callback(os.close, descriptor)
                _lock(descriptor, wait=False)
            os.unlink(draft)


@contextmanager
def locked(path: str | os.PathLike[str], *, wait: bool = True) -> Iterator[None]:
    """Hold an exclusive lock on a file while in the block, where files can be locked.

    Other processes wait, or get a BlockingIOError.
    """
    with ExitStack() as stack:
        with _where_possible():
            _lock(stack.enter_context(Path(path).open("ab")).fileno(), wait=wait)
        yield


@contextmanager
def _where_possible() -> Iterator[None]:
    """Ignore all errors of the system but that another process holds the lock on a file."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError:
        pass


def _lock(descriptor: int, *, wait: bool = True) -> None:
    """Lock a file until it is closed or the process ends; raise OSError if that is impossible."""
    if sys.platform == "win32":
        import msvcrt

        # Others cannot read a byte that is locked there.
        place = os.lseek(descriptor, 0, os.SEEK_CUR)
        os.lseek(descriptor, LOCK_PLACE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from None
        finally:
            os.lseek(descriptor, place, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def _draft_of(target: Path) -> Path:
    """Return a hidden name in the same folder that nobody else has."""
    return target.with_name(f".{target.name}.{secrets.token_hex(RANDOM_BYTES)}")


def _open_draft(draft: Path) -> int:
    """Make a draft and lock it, so that nobody takes it for one that a killed process left."""
    while True:
        # Made here and not by `tempfile`, so that the system applies the umask.
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        if sys.platform != "win32":
            with suppress(OSError):
                _lock(descriptor)
        if draft.exists():
            return descriptor
        os.close(descriptor)  # it was removed before it was locked


@contextmanager
def _naming(path: Path, draft: Path | None = None) -> Iterator[None]:
    """Make errors of the system name a file as its user does, and not its draft."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename) == str(draft):
            error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def _draft(path: str | os.PathLike[str], mode: str, encoding: str | None) -> Iterator[IO[Any]]:
    named = file_path(path)
    # Lines end everywhere in the same way, so that digests agree.
    how: Any = {"encoding": encoding, "newline": None if "b" in mode else "\n"}
    if is_stream(named):
        shared = STANDARD.get(str(named))
        with open(named if shared is None else os.dup(shared), mode, **how) as file:
            yield file
        return
    target = Path(os.path.realpath(named))
    permissions = target.stat().st_mode if target.exists() else None
    clear_drafts(target.parent, escape(target.name))
    draft = _draft_of(target)
    with _naming(named, draft):
        try:
            descriptor = _open_draft(draft)
            with os.fdopen(descriptor, mode, **how) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if sys.platform == "win32":
                    file.close()  # what is open cannot be replaced there
                if permissions is not None:
                    os.chmod(draft, stat.S_IMODE(permissions))
                os.replace(draft, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft)
            raise
