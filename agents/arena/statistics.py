"""How sure a mean over deals is: bootstrap intervals, and what duplicate deals save."""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.chance import chance_below, scramble
from fiveup_env.engine.compiled import Array, Word, compiled

RESAMPLES = 2_000
TAILS = (2.5, 97.5)  # per cent


def resampled_means(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """The mean of every column when the deals (rows) are drawn anew: a row for each resample.

    All columns get the same deals, so that what was played on the same deals stays together.
    """
    sums = np.zeros((RESAMPLES, values.shape[1]))
    add_resamples(np.ascontiguousarray(values, np.float64), np.uint64(seed), sums)
    return sums / len(values)


def interval(resamples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 95 % interval of every column."""
    low, high = np.percentile(resamples, TAILS, axis=0)
    return low, high


def variance_reduction(games: np.ndarray) -> float:
    """How much larger the variance of the mean would be if every game had a deal of its own.

    A row for every deal, a column for every seating.
    """
    if len(games) < 2:
        return float("nan")
    independent = games.var(ddof=1) / games.size
    duplicate = games.mean(1).var(ddof=1) / len(games)
    return float(independent / duplicate) if duplicate > 0 else float("nan")


@compiled
def add_resamples(values: Array, seed: Word, sums: Array) -> None:
    """Sum up as many rows as there are, each drawn by chance, for every row of sums."""
    rows, columns = values.shape
    for r in range(len(sums)):
        key = scramble(scramble(seed) + np.uint64(r))
        for k in range(rows):
            row = chance_below(key, k, rows)
            for c in range(columns):
                sums[r, c] += values[row, c]
