"""The worker processes of commands that share out work among cores."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from signal import SIG_DFL, SIGINT, signal
from typing import TYPE_CHECKING, Any

from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class WorkerError(FiveUpError):
    """A worker process that died."""


@contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes; Ctrl-C ends them silently, and an error drops what waits."""
    context = get_context("spawn")
    with ProcessPoolExecutor(count, context, signal, (SIGINT, SIG_DFL)) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


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
