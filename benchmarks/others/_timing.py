"""The timing shared by all scripts here."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from importlib.metadata import version
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def timed(play: Callable[[], int], seconds: float) -> dict[str, Any]:
    """Call `play` repeatedly for `seconds` and return the speed; `play` returns its steps.

    The first call comes before the clock starts, so that compiling and first use are not measured.
    """
    play()
    steps, cpu, started = 0, process_time(), perf_counter()
    while (elapsed := perf_counter() - started) < seconds:
        steps += play()
    return {
        "steps": steps,
        "seconds": round(elapsed, 3),
        "steps_per_second": round(steps / elapsed, 1),
        "cores": round((process_time() - cpu) / elapsed, 2),
    }


def report(library: str, ways: Mapping[str, Callable[[], int]]) -> None:
    """Time each way to play a game for `--seconds` and print the fastest as a line of JSON."""
    parser = ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each way is played")
    seconds = parser.parse_args().seconds
    rows: list[dict[str, Any]] = [
        {"library": library, "version": version(library), "game": game, **timed(play, seconds)}
        for game, play in ways.items()
    ]
    print(json.dumps(max(rows, key=lambda row: row["steps_per_second"])), flush=True)
