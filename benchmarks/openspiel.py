"""Measure how fast the game is in OpenSpiel: `python -m benchmarks.openspiel`.

The same loop plays our games and one of OpenSpiel's own, in turn, in every round. Printed are the
medians of the rounds and their ranges.
"""

from __future__ import annotations

import argparse
import time
from random import Random
from typing import Any

import open_spiel.python.games  # noqa: F401 - registers them
import pyspiel

import fiveup_env.doors.openspiel  # noqa: F401 - registers ours
from benchmarks.others._open_spiel import play_episode
from benchmarks.results import add_save, measured, publish
from benchmarks.timing import add_anyway, quiet

THEIRS = "python_block_dominoes"
OURS = ("fiveup", "fiveup(players=4)", "fiveup(players=4,draw=optional)")
ROUNDS = 9
SECONDS = 0.5


def rate(game: Any, random: Random) -> float:
    """Return the decisions per second."""
    steps, started = 0, time.perf_counter()
    while (seconds := time.perf_counter() - started) < SECONDS:
        steps += play_episode(game, random)
    return steps / seconds


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_anyway(parser)
    add_save(parser)
    options, random = parser.parse_args(), Random(1)
    games = {name: pyspiel.load_game(name) for name in (THEIRS, *OURS)}
    for game in games.values():
        play_episode(game, random)
    rounds = []
    with quiet(anyway=options.anyway):
        for _ in range(ROUNDS):
            rates = {name: rate(game, random) for name, game in games.items()}
            rounds.append(rates | {f"{name}/": rates[name] / rates[THEIRS] for name in OURS})
        ratios = [None, *((f"{name}/", ".1f", f"times {THEIRS}") for name in OURS)]
        lines = [
            (f"decisions of `{name}` with tensor and mask", (name, ",.0f", "/s"), ratio)
            for name, ratio in zip(games, ratios, strict=True)
        ]
        publish("openspiel", keep=options.save, rows=measured(lines, rounds))


if __name__ == "__main__":
    main()
