"""A progress bar with the time left, and a line that changes; both only on a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Item = TypeVar("Item")
BAR_WIDTH = 30
SECONDS_BETWEEN = 0.1
LINE_WIDTH = 79


def progress(items: Iterable[Item], count: int, label: str) -> Iterator[Item]:
    """Yield the items, and show how many of `count` are done."""
    if not sys.stderr.isatty():
        yield from items
        return
    started = shown = time.monotonic()
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - shown >= SECONDS_BETWEEN or done == count:
            shown = now
            left = (now - started) / done * (count - done)
            bar = "#" * (BAR_WIDTH * done // count)
            line = f"\r{label} [{bar:<{BAR_WIDTH}}] {done}/{count}, {left:.0f} s left "
            sys.stderr.write(line)
            sys.stderr.flush()
    sys.stderr.write("\n")


def show_line(text: str, end: str = "") -> None:
    """Show a line in place of the one before, unless that ended with a line break."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text:<{LINE_WIDTH}}{end}")
        sys.stderr.flush()
