"""Measure how fast the exact belief is computed: `python -m benchmarks.belief`.

Worlds are sampled and counted, and marginals computed, for views of the seat to move in random
games of Five Up, from the lead to the last tile.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env import Game
from fiveup_env.belief.counting import DIGITS, count, count_at
from fiveup_env.belief.marginals import marginals
from fiveup_env.belief.structs import BELIEF
from fiveup_env.belief.worlds import sample

if TYPE_CHECKING:
    from collections.abc import Callable

VIEWS = 200
ROUNDS = 5
WORLDS = (200, 10_000)


def views_of(players: int) -> list[np.ndarray]:
    """Return views of the seat to move, each from a different game."""
    random = Random(players)
    views: list[np.ndarray] = []
    while len(views) < VIEWS:
        game = Game(players=players, seed=random.getrandbits(64))
        for _ in range(random.randrange(20)):
            game.push(random.choice(list(game.legal_moves)))
        if game.hand_number == 0:
            views.append(game.view())
    return views


def seconds(views: list[np.ndarray], ask: Callable[[np.ndarray], Any]) -> float:
    """Return the mean seconds of a query per view: the median of several rounds."""
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for view in views:
            ask(view)
        taken.append((time.perf_counter() - started) / len(views))
    return statistics.median(taken)


def states_of(view: np.ndarray) -> int:
    """Return the number of states that counting the worlds of a view goes through."""
    belief = np.zeros(1, BELIEF)
    count_at(view, 0, belief, np.zeros(DIGITS, np.uint64))
    return int(belief["states"][0])


def main() -> None:
    """Measure and print the table."""
    rng = np.random.default_rng(1)
    ways = [f"{n:,} worlds" for n in WORLDS]
    print("".join(f"{head:>16}" for head in ("players", *ways, "count", "marginals", "states")))
    for players in (2, 3, 4):
        views = views_of(players)
        sample(views[0], 1, rng), count(views[0]), marginals(views[0])
        rates = [n / seconds(views, partial(sample, n=n, rng=rng)) for n in WORLDS]
        figures = [
            str(players),
            *(f"{rate / 1e6:.2f} M/s" for rate in rates),
            *(f"{seconds(views, ask) * 1e6:.0f} us" for ask in (count, marginals)),
            f"{max(map(states_of, views))} at most",
        ]
        print("".join(f"{figure:>16}" for figure in figures))


if __name__ == "__main__":
    main()
