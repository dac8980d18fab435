"""The time of a decision: wall time without suspensions, or processor time if longer.

Sleeping costs wall time, threads cost processor time of the agent's process, and being stopped, as
by Ctrl-Z, costs neither.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from types import TracebackType

TICK: Final = 0.1  # seconds between two looks at the clock
PROCESSOR_TIME: Final = 2  # in the number of a clock of Linux, the kind beside the process
STOPPED: Final = 1.0  # seconds without a look, after which the process must have been stopped


class AwakeClock:
    """A clock that stands still while this process is stopped; it looks at the time in a `with`."""

    def __init__(self) -> None:
        """Start at any number of seconds."""
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._seen, self._stopped = time.monotonic(), 0.0

    def __enter__(self) -> AwakeClock:  # noqa: PYI034  (typing.Self is of Python 3.11)
        """Start a thread that looks at the time."""
        threading.Thread(target=self._look, daemon=True).start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """End the thread."""
        self._closed.set()

    def now(self) -> float:
        """Return the time in seconds."""
        with self._lock:
            now = time.monotonic()
            if now - self._seen > STOPPED:
                self._stopped += now - self._seen
            self._seen = now
            return now - self._stopped

    def _look(self) -> None:
        while not self._closed.wait(TICK):
            self.now()


def processor_time(process: int | None = None) -> float:
    """Return the processor time of a process or of this one; 0 where the system does not say it."""
    if process is None:
        return time.process_time()
    if sys.platform != "linux":
        return 0.0
    try:
        return time.clock_gettime(~process << 3 | PROCESSOR_TIME)
    except OSError:  # the process has ended
        return 0.0
