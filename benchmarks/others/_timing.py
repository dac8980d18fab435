"""The timing shared by all scripts here."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def speed(play: Callable[[], int], seconds: float) -> float:
    """Call `play` repeatedly for `seconds` and return the steps a second; `play` returns its steps.

    The first call comes before the clock starts, so that compiling and first use are not measured.
    """
    play()
    steps, started = 0, perf_counter()
    while (elapsed := perf_counter() - started) < seconds:
        steps += play()
    return steps / elapsed


def report(library: str, game: str, ways: Iterable[Callable[[], int]]) -> None:
    """Time each way to play a game, for the seconds on the command line; print the best as JSON."""
    fastest = max(speed(play, float(sys.argv[1])) for play in ways)
    print(json.dumps([library, version(library), game, fastest]), flush=True)
