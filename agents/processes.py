"""The worker processes of commands that share out work among cores."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from signal import SIG_DFL, SIGINT, signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of processes; Ctrl-C ends them silently, and an error drops what waits."""
    context = get_context("spawn")
    with ProcessPoolExecutor(count, context, signal, (SIGINT, SIG_DFL)) as pool:
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
