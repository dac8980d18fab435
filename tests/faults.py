"""A simulator of faults: any system call of a write may fail, and the process may die before it.

`fiveup_env/files.py` writes all files, and changes the disk only by calling `os.NAME`. `failing`
puts a `System` there, which counts these calls and lets one go wrong. A fault is named by its kind,
the number of the call that it hits and a seed, and does the same every time.
"""

from __future__ import annotations

import errno
import io
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

from fiveup_env import files
from fiveup_env.errors import FiveUpError
from fiveup_env.files import Appended, atomic_file, write_atomic

SPACE: Final = frozenset({"open", "write", "fsync", "mkdir"})  # what a full disk refuses
COUNTED: Final = SPACE | {"ftruncate", "chmod", "replace", "rename", "unlink", "rmtree"}
KINDS: Final = (
    "full",  # the disk, from this call on; a write does part of its work before it is noticed
    "torn",  # this write does part of its work, as the system may do at any time
    "broken",  # this call, by an error of the device
    "forbidden",  # this call
    "read-only",  # the disk, from this call on: nothing can be tidied up
    "interrupted",  # by Ctrl-C, right after this call
    "killed",  # the process, right before this call
    "unplugged",  # the machine, right before this call or after all: what is not synchronised is lost
)
DEADLY: Final = frozenset({"killed", "unplugged"})
LASTING: Final = {"full": SPACE, "read-only": COUNTED, "killed": COUNTED, "unplugged": COUNTED}
ERRORS: Final = {
    "full": errno.ENOSPC,
    "broken": errno.EIO,
    "forbidden": errno.EACCES,
    "read-only": errno.EROFS,
}


class Killed(BaseException):
    """The process is dead: whatever it does afterwards has no effect."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong, at which of the counted calls; the seed decides how much of a write is done."""

    kind: str
    call: int
    seed: int = 0

    @property
    def error(self) -> OSError:
        """The error of the system."""
        return OSError(ERRORS[self.kind], os.strerror(ERRORS[self.kind]))


class System:
    """What stands for `os` and `shutil` in the room that writes: it passes calls on until a fault."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.calls: list[str] = []
        self._part = Random(fault.seed)
        # By inode: a descriptor that stays open, and the length that is surely on disk.
        self._unsynced: dict[int, tuple[int, int]] = {}

    @property
    def was_hit(self) -> bool:
        """Whether the fault has happened."""
        return len(self.calls) >= self.fault.call

    def __getattr__(self, name: str) -> Any:
        real = getattr(shutil if name == "rmtree" else os, name)
        return partial(self._call, name, real) if name in COUNTED else real

    def _call(self, name: str, real: Callable[..., Any], *given: Any, **named: Any) -> Any:
        if name == "open" and not given[1] & os.O_CREAT:
            return real(*given, **named)
        self.calls.append(name)
        number, kind = len(self.calls), self.fault.kind
        now = number == self.fault.call
        if now or (number > self.fault.call and name in LASTING.get(kind, ())):
            if name == "write" and kind in {"full", "torn"} and now:
                content = memoryview(given[1])
                return real(given[0], content[: self._part.randint(1, max(1, len(content) - 1))])
            if kind in ERRORS and (kind != "full" or name in SPACE):
                raise self.fault.error
            if kind in DEADLY:
                self.lose()
                raise Killed
            if kind == "interrupted":
                real(*given, **named)
                raise KeyboardInterrupt
        if kind == "unplugged" and name in {"write", "fsync"}:
            self._note(name, given[0])
        return real(*given, **named)

    def _note(self, name: str, descriptor: int) -> None:
        about = os.fstat(descriptor)
        if name == "fsync" and about.st_ino in self._unsynced:
            os.close(self._unsynced.pop(about.st_ino)[0])
        elif name == "write" and about.st_ino not in self._unsynced:
            self._unsynced[about.st_ino] = os.dup(descriptor), about.st_size

    def lose(self) -> None:
        """Lose what was not synchronised, if the machine is unplugged."""
        while self._unsynced:
            _, (descriptor, length) = self._unsynced.popitem()
            os.ftruncate(descriptor, length)
            os.close(descriptor)

    def fdopen(self, descriptor: int, mode: str, encoding: str | None, newline: str | None) -> Any:
        """Open a descriptor as `os` does, but with its writes counted."""
        buffered = io.BufferedWriter(_Raw(self, descriptor))
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, newline=newline)


class _Raw(io.RawIOBase):
    """A file whose writes go through a system; what is flushed after a death is lost."""

    def __init__(self, system: System, descriptor: int) -> None:
        self._system, self._descriptor = system, descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, content: Any) -> int:
        system = self._system
        if self.closed or (system.fault.kind in DEADLY and system.was_hit):
            return len(content)
        written: int = system.write(self._descriptor, content)
        return written

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._descriptor)


@contextmanager
def failing(fault: Fault) -> Iterator[System]:
    """Let a fault happen to whatever is written in the block."""
    system = System(fault)
    with mock.patch.multiple(files, os=system, shutil=system):
        try:
            yield system
        finally:
            system.lose()


@dataclass(frozen=True)
class Writer:
    """Something that is written to a folder in two versions, 0 and 1, and can be read again.

    `read` returns the version, or None where there is nothing. What `grows` holds version 0 on its
    way to 1.
    """

    write: Callable[[Path, int], object]
    read: Callable[[Path], int | None]
    grows: bool = False


def drafts(folder: Path) -> list[str]:
    """Return the names of the drafts below a folder."""
    return sorted(path.name for path in folder.rglob(f".*.{'[0-9a-f]' * 16}"))


def hidden(folder: Path) -> list[str]:
    """Return the names of all hidden files below a folder, other than locks."""
    return sorted(path.name for path in folder.rglob(".*") if path.name != ".lock")


def survives(writer: Writer, fault: Fault, folder: Path, before: int | None) -> bool:
    """Check what a fault leaves while version 1 is written; return whether it happened.

    There is the old version or the new one, complete, and nothing that was there is missing. A
    draft is left only by what cannot tidy up, and goes when the same is written again.
    """
    folder.mkdir()
    if before is not None:
        writer.write(folder, before)
    there, said = {path.name for path in folder.iterdir()}, None
    with failing(fault) as system:
        try:
            writer.write(folder, 1)
        except (OSError, FiveUpError, KeyboardInterrupt, Killed) as error:
            said = error
    hit = system.calls[fault.call - 1 : fault.call]
    where = f"{fault} hit {hit}, and was said as {said!r}"
    assert "\n" not in str(said), where
    assert there <= {path.name for path in folder.iterdir()}, where
    if fault.kind not in {"read-only", *DEADLY} and hit != ["unlink"]:
        assert drafts(folder) == [], where
    left = {before, 1} | ({0} if writer.grows else set())
    assert writer.read(folder) in (left if said else {1}), where
    writer.write(folder, 1)
    assert writer.read(folder) == 1, where
    assert hidden(folder) == [], where
    return system.was_hit


def survives_everywhere(writer: Writer, kind: str, folder: Path, before: int | None) -> None:
    """Let a fault hit every call of a write in turn, until there is none left to hit."""
    for call in count(1):
        if not survives(writer, Fault(kind, call, seed=call), folder / str(call), before):
            assert call > 3  # something was hit
            return


# --- Files of the library's room itself

TEXTS: Final = ("old\n" * 3_000, "new\n" * 5_000)  # more than one buffer


def write_text(folder: Path, version: int) -> None:
    """Write a text in many pieces."""
    with atomic_file(folder / "text") as file:
        file.writelines(TEXTS[version].splitlines(keepends=True))


def write_bytes(folder: Path, version: int) -> None:
    """Write bytes at once."""
    write_atomic(folder / "text", TEXTS[version].encode())


def read_text(folder: Path) -> int | None:
    """Return the version of a text."""
    file = folder / "text"
    return TEXTS.index(file.read_text()) if file.exists() else None


def append_lines(folder: Path, version: int) -> None:
    """Append what a file lacks of one line or two."""
    file = folder / "lines"
    appended = Appended(file)
    try:
        for number in range(file.read_bytes().count(b"\n"), version + 1):
            appended.append(f"{number} {'.' * 1_000}\n".encode())
    finally:
        appended.close()


def read_lines(folder: Path) -> int | None:
    """Return the number of the last whole line."""
    file = folder / "lines"
    lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    assert all(line == f"{number} {'.' * 1_000}".encode() for number, line in enumerate(lines))
    return len(lines) - 1 if lines else None


ROOM: Final = {
    "text": Writer(write_text, read_text),
    "bytes": Writer(write_bytes, read_text),
    "lines": Writer(append_lines, read_lines, grows=True),
}


# --- Where files are written

WRITING: Final = re.compile(
    r"""\.(write_text|write_bytes|touch)\(|\bshutil\.(copy|move)|\bos\.(replace|rename|write)\(|\bopen\([^()]*["'][rbt]*[wax+]"""
)


def writes_in(package: Path) -> set[str]:
    """Return the files of a package that write files themselves."""
    return {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if WRITING.search(path.read_text("utf-8"))
    }
