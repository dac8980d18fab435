"""Measure how long searches take per decision on one core: `python -m benchmarks.search`.

The decisions are those of whole games of Five Up between four greedy players, including forced
ones, which are not searched. An agent gets them all at once, as in the arena, or one at a time.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.timing import ROUNDS, add_anyway, quiet, spread
from fiveup_env import Batch
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from fiveup_env.opponents.agent import Agent

GAMES = 4
SPECS = (
    "pimc:worlds=50",
    "pimc:worlds=200",
    "pimc:worlds=200,playout=partner",
    "ismcts:worlds=400",
)


def decisions() -> tuple[np.ndarray, np.ndarray]:
    """Return the views and masks of every decision in some games."""
    greedy, random = make_agent("greedy"), np.random.default_rng(0)
    views, masks = [], []
    for seed in range(GAMES):
        batch = Batch(1, players=4, seed=seed)
        batch.reset()
        while not batch.terminated[0]:
            views.append(batch.views())
            masks.append(batch.mask.copy())
            batch.step(greedy(views[-1], masks[-1], random))
    return np.concatenate(views), np.concatenate(masks)


def seconds(agent: Agent, views: np.ndarray, masks: np.ndarray, together: int) -> float:
    """Return the seconds per decision, `together` at a time."""
    random, started = np.random.default_rng(1), time.perf_counter()
    for k in range(0, len(views), together):
        agent(views[k : k + together], masks[k : k + together], random)
    return (time.perf_counter() - started) / len(views)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_anyway(parser)
    options = parser.parse_args()
    views, masks = decisions()
    choice = masks.sum(1) > 1
    print(f"{len(views)} decisions in {GAMES} games, {choice.sum()} of them with a choice")
    print("milliseconds per decision on one core: the median of the rounds and their range")
    heads = ("all", "with a choice", "choice, one at a time")
    print(f"{'':<34}" + "".join(f"{head:>24}" for head in heads))
    agents = {spec: make_agent(spec) for spec in SPECS}
    for agent in agents.values():
        agent(views[choice][:1], masks[choice][:1], np.random.default_rng(0))
    ways = (
        (views, masks, len(views)),
        (views[choice], masks[choice], len(views)),
        (views[choice], masks[choice], 1),
    )
    with quiet(anyway=options.anyway):
        rounds = [
            {spec: [1000 * seconds(agent, *way) for way in ways] for spec, agent in agents.items()}
            for _ in range(ROUNDS)
        ]
        for spec in SPECS:
            columns = zip(*(one[spec] for one in rounds), strict=True)
            print(f"{spec:<34}" + "".join(f"{spread(each, '.2f'):>24}" for each in columns))


if __name__ == "__main__":
    main()
