"""Threads that do one piece of work together, and wait for each other in compiled code.

To wake a thread takes a system some fifty microseconds, which is long where a step takes two
thousand. So a thread that waits here looks again and again; after a while it gives way to others.
"""

from __future__ import annotations

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils, types

from fiveup_env.checks import whole
from fiveup_env.engine.compiled import Array, compiled, inlined, instruction
from fiveup_env.errors import OptionError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

COME, STOPPED = range(2)  # how often threads came to a gate, and whether one will come no more
MOST_THREADS: Final = 1024
LOOKS: Final = 10_000  # before a thread gives way
GIVE_WAY: Final = "fiveup_give_way"


class Crew(NamedTuple):
    """One of some threads that work together."""

    gate: np.ndarray
    thread: int  # its number
    threads: int


def _give_way_address() -> int:
    if sys.platform == "win32":
        function = ctypes.windll.kernel32.SwitchToThread
    else:
        function = ctypes.CDLL(None).sched_yield
    return ctypes.cast(function, ctypes.c_void_p).value or 0


binding.add_symbol(GIVE_WAY, _give_way_address())


@instruction(lambda: None)
def _give_way(_context: Any) -> Any:
    """Let another thread of this machine have the core."""

    def generate(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, GIVE_WAY), [])

    return types.void(), generate


def _place(context: Any, builder: Any, kind: Any, gate: Any, k: int) -> Any:
    data = context.make_array(kind)(context, builder, gate).data
    return builder.gep(data, [context.get_constant(types.intp, k)])


def _come_in_python(gate: Any) -> int:
    gate[COME] += 1
    return int(gate[COME]) - 1


@instruction(_come_in_python)
def _come(_context: Any, gate: Any) -> Any:
    """Count one more thread; return how often threads came before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[0], COME)
        return builder.atomic_rmw("add", place, ir.IntType(64)(1), "seq_cst")

    return types.int64(gate), generate


def _seen(k: int) -> Callable[[Any, Any], Any]:
    def instruction(_context: Any, gate: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place = _place(context, builder, signature.args[0], arguments[0], k)
            return builder.load_atomic(place, "seq_cst", 8)

        return types.int64(gate), generate

    return instruction


_come_so_far = instruction(lambda gate: gate[COME])(_seen(COME))
_is_stopped = instruction(lambda gate: gate[STOPPED])(_seen(STOPPED))


@compiled
def all_came(crew: Crew) -> bool:
    """Wait until all threads have come here; return whether they have, and none was stopped."""
    if crew.threads > 1:
        wanted, looks = (_come(crew.gate) // crew.threads + 1) * crew.threads, 0
        while _come_so_far(crew.gate) < wanted:
            if _is_stopped(crew.gate):
                return False
            looks += 1
            if looks > LOOKS:
                _give_way()
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
