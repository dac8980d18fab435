"""The launcher of programs on Linux: `python confined.py bound COMMAND ...`, or `free`.

A program that is bound ends with the thread that started it. Where Linux has Landlock, a program
cannot read the memory of the process that started it or of others like it, nor stop them. This file
imports nothing of ours: it is gone as soon as the program runs.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

BOUND, FREE = "bound", "free"
# Options of prctl, the system calls of Landlock, and what they are given.
DEATH_OF_PARENT = 1
NO_NEW_PRIVILEGES = 38
CREATE_RULESET = 444
RESTRICT_SELF = 446
MAKE_BLOCK = 1 << 11
SCOPES = 3  # no signals to processes outside, nor their abstract sockets
SCOPED_SINCE = 6


def confine() -> None:
    """Keep this process from the memory of others, and from stopping them, where Linux can.

    A domain of Landlock has to forbid something: nobody here makes a block device.
    """
    libc = ctypes.CDLL(None)
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return
    ruleset = (ctypes.c_uint64 * 3)(MAKE_BLOCK, 0, SCOPES if version >= SCOPED_SINCE else 0)
    size = ctypes.sizeof(ruleset) if version >= SCOPED_SINCE else ctypes.sizeof(ctypes.c_uint64)
    domain = libc.syscall(CREATE_RULESET, ruleset, ctypes.c_size_t(size), 0)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.syscall(RESTRICT_SELF, domain, 0)
    os.close(domain)


if __name__ == "__main__":
    if sys.argv[1] == BOUND:
        ctypes.CDLL(None).prctl(DEATH_OF_PARENT, signal.SIGKILL)
    confine()
    os.execvp(sys.argv[2], sys.argv[2:])  # noqa: S606  (this is what it is for)
