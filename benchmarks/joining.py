"""Measure how a network's expectations and worlds are joined best: `python -m benchmarks.joining`.

Labels from true deals are regressed on what the student expects of the actions of a decision, and
on their means over some worlds, both as differences within the decision. If the two err
independently, the coefficients are in proportion to their precisions. The noise of the means is
known from the worlds, so the error of the network follows: this is the `error` of `student+search`.
"""

from __future__ import annotations

import argparse
import time
from typing import Final

import numpy as np

from agents.learn.labels import Judge
from fiveup_env.arena.tables import columns
from fiveup_env.envs.batch import Batch
from fiveup_env.opponents.student import Student
from fiveup_env.opponents.units import Units
from fiveup_env.opponents.world_search import Search, WorldSearch, playout_of
from fiveup_env.opponents.world_statistics import WorldStatistics
from fiveup_env.progress import progress

SEED: Final = 2_300_000_000
GAMES: Final = 512
BURN_IN: Final = 200  # moves in every game before any counts
EVERY: Final = 3  # moves between two that count
REWARD: Final = "outlook@2"
WORLDS: Final = ((1, 16), (1, 64), (8, 16), (8, 64))  # weighed for each one tried, and those tried


def positions(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return views with a choice, in games between copies of the student, and the games."""
    batch, student, chance = Batch(GAMES, players=4, seed=SEED), Student(), np.random.default_rng(0)
    batch.reset()
    views: list[np.ndarray] = []
    games: list[np.ndarray] = []
    turn = gathered = 0
    while gathered < count:
        seen = batch.views()
        if turn >= BURN_IN and turn % EVERY == 0:
            which = np.flatnonzero(batch.mask.sum(1) > 1)
            views.append(seen[which])
            games.append(batch.states[which])
            gathered += len(which)
        batch.step(student(seen, batch.mask, chance))
        turn += 1
    return np.concatenate(views)[:count], np.concatenate(games)[:count]


def apart(values: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Return the differences of legal actions from their mean in each decision, in one row."""
    values = np.where(legal, values, 0)
    means = values.sum(1, keepdims=True) / legal.sum(1, keepdims=True)
    return (values - means)[legal]


def noise_of(found: WorldStatistics) -> np.ndarray:
    """Return the square error of the means over worlds, for each view."""
    worlds, counts = found.evidence["worlds"], found.evidence["count"]
    squares = np.einsum("ikk->i", found.products) / worlds
    squares -= ((found.candidates["apart"] / worlds[:, None]) ** 2).sum(1)
    return squares / (counts - 1) / worlds


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--decisions", type=int, default=30_000)
    options = parser.parse_args()
    views, games = positions(options.decisions)
    student, units = Student(), Units(views, REWARD)
    expected, stakes = student.logits(views), units.stakes()
    legal = np.isfinite(expected)
    judge, which = Judge(student.weights), np.arange(len(views))
    rewards = judge.label(games, which, units, np.random.default_rng(1))
    labels = apart(rewards / stakes[:, None], legal)
    rows: list[tuple[str, ...]] = [
        ("weighed", "worlds", "network", "worlds' means", "noise", "error of the network")
    ]
    for weighed, worlds in progress(WORLDS, len(WORLDS), "searches"):
        found = WorldStatistics(np.where(legal, 0.0, -np.inf))
        found.evidence["clearly"] = np.inf  # all actions are tried in all worlds
        search = WorldSearch(Search(worlds), playout_of("greedy"), weighed)
        search(views, found, (units.chances, units.which), np.uint64(SEED), time.perf_counter())
        means = np.where(legal, found.means, 0) * (units.scale / stakes)[:, None]
        inputs = np.stack([apart(expected, legal), apart(means, legal)], 1)
        shares, *_ = np.linalg.lstsq(inputs, labels, rcond=None)
        spread = np.linalg.inv(inputs.T @ inputs) * (labels - inputs @ shares).var()
        errors = 1.96 * np.sqrt(spread.diagonal())
        noise = (noise_of(found) * (units.scale / stakes) ** 2).mean()
        rows.append(
            (
                str(weighed),
                str(worlds),
                *(f"{one:.2f} +- {error:.2f}" for one, error in zip(shares, errors, strict=True)),
                f"{np.sqrt(noise):.2f}",
                f"{np.sqrt(noise * shares[1] / shares[0]):.2f}",
            )
        )
    print(columns(rows, right={0, 1, 2, 3, 4, 5}))


if __name__ == "__main__":
    main()
