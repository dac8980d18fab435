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

import fiveup_env.adapters.openspiel  # noqa: F401 - registers ours
from benchmarks.others._open_spiel import play_episode
from benchmarks.timing import add_anyway, quiet, spread

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
    options, random = parser.parse_args(), Random(1)
    games = {name: pyspiel.load_game(name) for name in (THEIRS, *OURS)}
    for game in games.values():
        play_episode(game, random)
    with quiet(anyway=options.anyway):
        rounds = [{name: rate(game, random) for name, game in games.items()} for _ in range(ROUNDS)]
        print(f"{'game':<36}{'decisions/s':>26}{'ratio':>18}")
        for name in games:
            speed = spread([one[name] for one in rounds], ",.0f")
            print(f"{name:<36}{speed:>26}{spread([one[name] / one[THEIRS] for one in rounds]):>18}")


if __name__ == "__main__":
    main()
