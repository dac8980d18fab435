"""Tune the weights of the heuristic ladder: `python -m agents.fitting.tuning --rung positional`.

CMA-ES (Hansen 2016) searches over the weights that a rung adds to the one below and over those it
takes from there. It maximizes the margin, in points a hand, against the rung below, on duplicate
deals: each is played both ways. All candidates of a generation play the same deals, and every
generation plays new ones, with seeds from 2,000,000,000 up, on which no result is reported.
"""

from __future__ import annotations

import itertools
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.statistics.duels import duel
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.files import atomic_file
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES
from fiveup_env.opponents.heuristics.ladder import LADDER, READER, WEIGHTS_FILE, choose, weights_of
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TUNING_SEEDS = 2_000_000_000
FIRST_STEP = 0.15  # in units of the weights: how far the first candidates lie from the start


def margin(seeds: np.ndarray, rung: str, weights: np.ndarray, below: str) -> float:
    """Return the gain of a rung with some weights over the one below, in points a hand."""
    agents = [partial(choose, rung, weights), make_agent(below)]
    played = duel(agents, Rules.preset("five_up", 4), seeds, "hand")
    return float(played.margins.mean())


def evolve(
    start: np.ndarray, evaluate: Callable[[np.ndarray, int], np.ndarray], step: float, seed: int
) -> Iterator[tuple[np.ndarray, float]]:
    """Yield the mean of a CMA-ES search and the mean value of its candidates, by generation.

    `evaluate` takes candidates (a row each) and the generation's number, and returns the value of
    each candidate; more is better.
    """
    rng = np.random.default_rng(seed)
    size = len(start)
    count = 4 + int(3 * np.log(size))
    parents = count // 2
    shares = np.log((count + 1) / 2) - np.log(np.arange(1, parents + 1))
    shares /= shares.sum()
    effective = 1 / (shares**2).sum()
    path_rate = (effective + 2) / (size + effective + 5)
    damping = 1 + 2 * max(0, np.sqrt((effective - 1) / (size + 1)) - 1) + path_rate
    cov_path_rate = (4 + effective / size) / (size + 4 + 2 * effective / size)
    rank_one = 2 / ((size + 1.3) ** 2 + effective)
    rank_many = min(
        1 - rank_one, 2 * (effective - 2 + 1 / effective) / ((size + 2) ** 2 + effective)
    )
    expected_length = np.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))
    mean, covariance = start.astype(float), np.eye(size)
    path, cov_path = np.zeros(size), np.zeros(size)
    for generation in itertools.count():
        scales, axes = np.linalg.eigh(covariance)
        scales = np.sqrt(np.maximum(scales, 1e-20))
        steps = rng.standard_normal((count, size)) * scales @ axes.T
        values = evaluate(mean + step * steps, generation)
        best = steps[np.argsort(-values)[:parents]]
        move = shares @ best
        mean = mean + step * move
        path = (1 - path_rate) * path + np.sqrt(path_rate * (2 - path_rate) * effective) * (
            axes @ (axes.T @ move / scales)
        )
        step *= np.exp(path_rate / damping * (np.linalg.norm(path) / expected_length - 1))
        cov_path = (1 - cov_path_rate) * cov_path + np.sqrt(
            cov_path_rate * (2 - cov_path_rate) * effective
        ) * move
        covariance = (
            (1 - rank_one - rank_many) * covariance
            + rank_one * np.outer(cov_path, cov_path)
            + rank_many * (best.T * shares) @ best
        )
        yield mean, float(values.mean())


def tune(rung: str, generations: int, deals: int, seed: int, threads: int) -> np.ndarray:
    """Return the weights that a search finds for a rung, starting from those of the rung below."""
    names = [*LADDER, READER]
    below = names[names.index(rung) - 1]
    start = weights_of(below)
    free = [
        FEATURE_NAMES.index(name)
        for lower in names[1 : names.index(rung) + 1]
        for name in LADDER.get(lower, ())
    ]
    pool = ThreadPoolExecutor(threads)

    def weights(values: np.ndarray) -> np.ndarray:
        full = start.copy()
        full[free] = values
        return full

    def evaluate(candidates: np.ndarray, generation: int) -> np.ndarray:
        first = TUNING_SEEDS + (seed * generations + generation) * deals
        seeds = np.arange(first, first + deals, dtype=np.uint64)
        play = partial(margin, seeds, rung, below=below)
        return np.array(list(pool.map(play, map(weights, candidates))))

    search = evolve(start[free], evaluate, FIRST_STEP, seed)
    means = []
    for generation, (mean, gained) in enumerate(itertools.islice(search, generations)):
        means.append(mean)
        print(f"{generation:>4}  {gained:+.3f} points a hand  {np.round(mean, 2)}", flush=True)
    return weights(np.mean(means[-generations // 4 :], axis=0))


def main() -> int:
    """Tune one rung and save its weights."""
    return answer("tuning", _run)


def _run() -> int:
    parser = Parser(description=__doc__)
    parser.add_argument("--rung", choices=[*LADDER, READER][1:], required=True)
    parser.add_argument("--generations", type=int, default=120)
    parser.add_argument("--deals", type=int, default=2000, help="deals in each generation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    weights = tune(
        options.rung, options.generations, options.deals, options.seed, options.threads
    ).round(3)
    kept = json.loads(WEIGHTS_FILE.read_text())
    kept["weights"][options.rung] = {
        name: value for name, value in zip(FEATURE_NAMES, weights.tolist(), strict=True) if value
    }
    kept["made by"] = "python -m agents.fitting.tuning --rung RUNG"
    with atomic_file(WEIGHTS_FILE) as file:
        json.dump(kept, file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
