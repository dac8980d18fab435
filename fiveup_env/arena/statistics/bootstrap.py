"""Intervals of means over deals, and how many games duplicate deals save."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.engine.chance import chance_below, scramble
from fiveup_env.native import DoubleRows, Word, compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    Ends = tuple[ArrayLike, ArrayLike]  # the lowest and the highest value, of all columns or each

RESAMPLES = 2_000
TAILS = (2.5, 97.5)  # per cent
FEW = 5  # deals unlike the others, below which their resamples vary too little
ALIKE = 1e-9


def resampled_means(values: np.ndarray, ends: Ends | None = None, seed: int = 0) -> np.ndarray:
    """Return the mean of every column over resampled deals (rows): a row for each resample.

    All columns of a resample use the same deals, so columns that were played on the same deals
    stay paired. Resamples of deals that are all alike are all the same, as if no other deal were
    possible. With `ends`, the means of columns in which few deals differ from the others include
    two deals that were not seen, one at either end, with the weights of a Bayesian bootstrap.

    >>> low, high = interval(resampled_means(np.zeros((40, 1)), (0, 1)))
    >>> bool(high[0] > 0.07)
    True
    """
    deals = len(values)
    sums = np.zeros((RESAMPLES, values.shape[1]))
    add_resamples(np.ascontiguousarray(values, np.float64), np.uint64(seed), sums)
    means = sums / deals
    if ends is None:
        return means
    alike = (np.abs(values - np.median(values, 0)) > ALIKE).sum(0) < FEW
    seen, low, high = np.random.default_rng(seed).dirichlet((deals, 1, 1), RESAMPLES).T[..., None]
    return np.where(alike, seen * means + low * ends[0] + high * ends[1], means)


def resampled_ratios(
    values: np.ndarray, most: ArrayLike, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of all columns but the first, over that of the first; and of resamples.

    Rows in which the first column is 0 count for nothing, and must not be all. Ratios are from 0
    to `most`.
    """
    counted = values[values[:, 0] > 0]
    counts = counted[:, 0].mean()
    ends = (
        np.append(counts, np.zeros(len(counted[0]) - 1)),
        np.append(counts, counts * np.asarray(most)),
    )
    totals, means = counted.sum(0), resampled_means(counted, ends, seed)
    return totals[1:] / totals[0], means[:, 1:] / means[:, :1]


def interval(
    resamples: np.ndarray, values: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower and upper bounds of the 95 % interval of every column.

    It is widened to hold the `values` that were measured.
    """
    low, high = np.percentile(resamples, TAILS, axis=0)
    return (low, high) if values is None else (np.minimum(low, values), np.maximum(high, values))


def mean_interval(values: np.ndarray, ends: Ends, seed: int = 0) -> tuple[float, float]:
    """Return the 95 % interval of the mean of a value by deal, by bootstrap over the deals."""
    low, high = interval(resampled_means(values[:, None], ends, seed), values.mean())
    return float(low[0]), float(high[0])


def with_bounds(value: float, bounds: Sequence[float | None], form: str) -> str:
    """Return a value with its interval, where None is the end of one that has no bound.

    >>> with_bounds(-382, [None, -205], "+.0f")
    '-382 (< -205)'
    """
    low, high = (None if bound is None else format(bound, form) for bound in bounds)
    if low is None or high is None:
        limit = "no bounds" if low == high else f"> {low}" if low else f"< {high}"
        return f"{value:{form}} ({limit})"
    return f"{value:{form}} ({low} .. {high})"


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
def add_resamples(values: DoubleRows, seed: Word, sums: DoubleRows) -> None:
    """Add to every row of `sums` as many rows of `values` as there are, drawn with replacement."""
    rows, columns = values.shape
    for r in range(len(sums)):
        key = scramble(scramble(seed) + np.uint64(r))
        for k in range(rows):
            row = chance_below(key, k, rows)
            for c in range(columns):
                sums[r, c] += values[row, c]
