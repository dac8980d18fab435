"""Intervals of means over deals, and how many games duplicate deals save."""

from __future__ import annotations

import math

import numpy as np

from fiveup_env.engine.chance import chance_below, scramble
from fiveup_env.engine.compiled import Array, Word, compiled

RESAMPLES = 2_000
TAILS = (2.5, 97.5)  # per cent
NORMAL = 1.959964  # standard deviations that leave these tails
FEW = 5


def resampled_means(values: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the mean of every column over resampled deals (rows): a row for each resample.

    All columns of a resample use the same deals, so columns that were played on the same deals
    stay paired.
    """
    sums = np.zeros((RESAMPLES, values.shape[1]))
    add_resamples(np.ascontiguousarray(values, np.float64), np.uint64(seed), sums)
    return sums / len(values)


def resampled_ratios(values: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of all columns but the first, over that of the first; and of resamples.

    Rows in which the first column is 0 count for nothing, and must not be all.
    """
    counted = values[values[:, 0] > 0]
    totals, means = counted.sum(0), resampled_means(counted, seed)
    return totals[1:] / totals[0], means[:, 1:] / means[:, :1]


def interval(resamples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper bounds of the 95 % interval of every column."""
    low, high = np.percentile(resamples, TAILS, axis=0)
    return low, high


def share_bounds(shares: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Return the bounds of a share's interval, which resamples make too narrow near 0 and 1.

    Resamples of deals that were all lost are all the same. Where few deals were won, or lost, the
    interval is Wilson's, by deal, if that is wider.

    >>> low, high = share_bounds(np.zeros(40), 0, 0)
    >>> round(high, 3)
    0.088
    """
    deals, won = len(shares), float(shares.sum())
    if min(won, deals - won) >= min(FEW, deals / 4):
        return low, high
    share, more = won / deals, NORMAL**2 / deals
    middle = (share + more / 2) / (1 + more)
    half = math.sqrt(share * (1 - share) * more + more**2 / 4) / (1 + more)
    return max(0.0, min(low, middle - half)), min(1.0, max(high, middle + half))


def variance_reduction(games: np.ndarray) -> float:
    """Return the factor by which the mean's variance would grow if every game had its own deal.

    `games` has a row for every deal and a column for every seating. The factor is NaN for a single
    deal, and where the deals do not differ.
    """
    if len(games) < 2:
        return float("nan")
    independent = games.var(ddof=1) / games.size
    duplicate = games.mean(1).var(ddof=1) / len(games)
    return float(independent / duplicate) if duplicate > 0 else float("nan")


@compiled
def add_resamples(values: Array, seed: Word, sums: Array) -> None:
    """Add to every row of `sums` as many rows of `values` as there are, drawn with replacement."""
    rows, columns = values.shape
    for r in range(len(sums)):
        key = scramble(scramble(seed) + np.uint64(r))
        for k in range(rows):
            row = chance_below(key, k, rows)
            for c in range(columns):
                sums[r, c] += values[row, c]
