"""Measure how fast the game is in OpenSpiel: `python -m benchmarks.openspiel`.

The same loop plays our games and one of OpenSpiel's own. They take turns within one run, so that
the ratios hold on a machine whose speed drifts.
"""

from __future__ import annotations

import statistics
import time
from random import Random
from typing import Any

import open_spiel.python.games  # noqa: F401 - registers them
import pyspiel

import fiveup_env.adapters.openspiel  # noqa: F401 - registers ours
from benchmarks.others._open_spiel import play_episode

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
    games = {name: pyspiel.load_game(name) for name in (THEIRS, *OURS)}
    random = Random(1)
    for game in games.values():
        play_episode(game, random)
    rounds = [{name: rate(game, random) for name, game in games.items()} for _ in range(ROUNDS)]
    print(f"{'game':<36}{'decisions/s':>12}{'ratio':>8}")
    for name in games:
        speed = statistics.median(one[name] for one in rounds)
        times = statistics.median(one[name] / one[THEIRS] for one in rounds)
        print(f"{name:<36}{speed:>12,.0f}{times:>8.1f}")


if __name__ == "__main__":
    main()
