"""The worker processes of commands that share out work among cores."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from signal import SIG_DFL, SIGINT, SIGTERM, getsignal, signal
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Any

from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class WorkerError(FiveUpError):
    """A worker process that died."""


@contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes; Ctrl-C ends them silently, and an error drops what waits.

    They end with this process, however it ends.
    """
    with ProcessPoolExecutor(count, get_context("spawn"), _begin) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def _begin() -> None:
    signal(SIGINT, SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process once its parent has ended; a run first keeps what it has learnt."""
    parent = parent_process()
    assert parent
    parent.join()
    os.kill(os.getpid(), SIGTERM)
    while getsignal(SIGTERM) is not SIG_DFL:
        sleep(0.1)
    os.kill(os.getpid(), SIGTERM)


@contextmanager
def spread(cores: int) -> Iterator[Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]]:
    """Yield a `map` over processes, in order; with one core it works in this process."""
    if cores == 1:
        yield map
        return
    try:
        with workers(cores) as pool:
            yield pool.map
    except BrokenProcessPool:
        raise WorkerError("a worker process died; the same command begins again") from None
