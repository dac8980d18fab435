"""Threads that do one piece of work together, and wait for each other in compiled code.

To wake a thread takes a system some fifty microseconds, which is long where a step takes two
thousand. So a thread that waits here looks again and again; after a while it gives way to others.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.errors import OptionError, shown
from fiveup_env.native import Array, Int64s, compiled, inlined, instruction

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

COME, STOPPED = range(2)  # how often threads came to a gate, and whether one will come no more
MOST_THREADS: Final = 1024
LOOKS: Final = 10_000  # before a thread gives way


class Crew(NamedTuple):
    """One of some threads that work together."""

    gate: Int64s
    thread: int  # its number
    threads: int


@instruction
def give_way() -> None:
    """Let another thread of this machine have the core."""


@instruction
def come(gate: Array) -> int:
    """Count one more thread; return how often threads came before."""
    gate[COME] += 1
    return int(gate[COME]) - 1


@instruction
def come_so_far(gate: Array) -> int:
    """Return how often threads came."""
    return int(gate[COME])


@instruction
def is_stopped(gate: Array) -> int:
    """Return whether one thread will come no more."""
    return int(gate[STOPPED])


@compiled
def all_came(crew: Crew) -> bool:
    """Wait until all threads have come here; return whether they have, and none was stopped."""
    if crew.threads > 1:
        wanted, looks = (come(crew.gate) // crew.threads + 1) * crew.threads, 0
        while come_so_far(crew.gate) < wanted:
            if is_stopped(crew.gate):
                return False
            looks += 1
            if looks > LOOKS:
                give_way()
    return True


@inlined
def share_of(count: int, crew: Crew) -> tuple[int, int]:
    """Return the first of a thread's pieces of work, and the one after its last."""
    first = count * crew.thread // crew.threads
    return first, count * (crew.thread + 1) // crew.threads


@inlined
def alone() -> Crew:
    """Return a thread that works alone."""
    return Crew(np.zeros(2, np.int64), 0, 1)


class Threads:
    """Threads that work together: this one, and others that wait for work.

    Attributes:
        busy: the lock that a piece of work holds, so that another one waits for its end.
    """

    def __init__(self, count: int) -> None:
        if whole(count, 1, MOST_THREADS) is None:
            raise OptionError(f"there can be 1 to {MOST_THREADS} threads, not {shown(count)}")
        self._gate: Array = np.zeros(2, np.int64)
        self._crews = [Crew(self._gate, thread, count) for thread in range(count)]
        self._pool = ThreadPoolExecutor(max(1, count - 1))
        self.busy = RLock()

    def __len__(self) -> int:
        return len(self._crews)

    def run(self, work: Callable[[Crew], Result]) -> Result:
        """Let every thread do its work at once, and return what the first returns."""

        def do(crew: Crew) -> Result:
            try:
                return work(crew)
            except BaseException:
                self._gate[STOPPED] = 1  # nobody waits for this one any more
                raise

        with self.busy:
            self._gate[:] = 0
            others: list[Any] = []
            try:
                others += [self._pool.submit(do, crew) for crew in self._crews[1:]]
                return do(self._crews[0])
            except BaseException:
                self._gate[STOPPED] = 1
                raise
            finally:
                for other in others:
                    other.result()
