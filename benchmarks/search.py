"""Measure how long searches take per decision on one core: `python -m benchmarks.search`.

The decisions are those of whole games of Five Up between four greedy players, including forced
ones, which are not searched. An agent gets them all at once, as in the arena, or one at a time.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env import Batch
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from fiveup_env.opponents.agent import Agent

GAMES = 4
ROUNDS = 3
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
    """Return the seconds per decision, `together` at a time: the median of several rounds."""
    random, taken = np.random.default_rng(1), []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for k in range(0, len(views), together):
            agent(views[k : k + together], masks[k : k + together], random)
        taken.append((time.perf_counter() - started) / len(views))
    return statistics.median(taken)


def main() -> None:
    """Measure and print the table."""
    views, masks = decisions()
    choice = masks.sum(1) > 1
    print(f"{len(views)} decisions in {GAMES} games, {choice.sum()} of them with a choice")
    print("milliseconds per decision on one core")
    heads = ("all", "with a choice", "choice, one at a time")
    print(f"{'':<34}" + "".join(f"{head:>22}" for head in heads))
    for spec in SPECS:
        agent = make_agent(spec)
        agent(views[choice][:1], masks[choice][:1], np.random.default_rng(0))
        taken = (
            seconds(agent, views, masks, len(views)),
            seconds(agent, views[choice], masks[choice], len(views)),
            seconds(agent, views[choice], masks[choice], 1),
        )
        print(f"{spec:<34}" + "".join(f"{1000 * each:>22.2f}" for each in taken))


if __name__ == "__main__":
    main()
