"""Means and differences of what runs made of deals, with 95 % intervals over runs and deals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from agents.compare.games import opponents
from agents.results import cell
from fiveup_env.arena.statistics.bootstrap import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.files import Json

NORMAL: Final = 1.96  # standard errors from the mean to the ends of a 95 % interval
ANGLES: Final = 100_001

Ends: TypeAlias = tuple[float, float]  # the lowest and the highest value


class Estimate(NamedTuple):
    """A mean and its interval."""

    value: float
    low: float
    high: float

    def cell(self, form: str) -> Json:
        """Return it as a cell of a table of results."""
        return cell(self.value, (self.low, self.high), form)


def mean_of(values: np.ndarray, ends: Ends, met: int | None = None) -> Estimate:
    """Return the mean of values [runs x deals].

    Where the runs are those of way `met`, and have met runs of the other, it is over these, too.
    """
    by_run = [values.mean(1)]
    if met is not None:
        by_run.append(_by_opponent(values, met))
    return estimate(values.mean(0), by_run, ends)


def difference(first: np.ndarray, second: np.ndarray, ends: Ends, *, met: bool) -> Estimate:
    """Return the mean of the first values [runs x deals] less that of the second.

    Where their runs have `met`, what a run's opponents made counts as its own doing, too.
    """
    by_run = [first.mean(1), second.mean(1)]
    if met:
        by_run = [by_run[0] - _by_opponent(second, 1), by_run[1] - _by_opponent(first, 0)]
    return estimate(first.mean(0) - second.mean(0), by_run, ends)


def _by_opponent(values: np.ndarray, way: int) -> np.ndarray:
    """Return the means of values [runs x deals] by the run of the other way that was met."""
    runs, deals = values.shape
    return values[opponents(runs, deals, 1 - way), np.arange(deals)].mean(1)


def estimate(by_deal: np.ndarray, by_run: Sequence[np.ndarray], ends: Ends) -> Estimate:
    """Return a mean with its interval over deals and runs.

    Its variance is the sum of what the means by deal show and what the means by run do, each with
    what is left to chance; so the interval is rather too wide than too narrow. It reaches as far as
    that of Student's t with the degrees of freedom of such a sum (Satterthwaite's).

    Args:
        by_deal: The mean of every deal.
        by_run: The means of the runs of each way.
        ends: The lowest and the highest value.
    """
    value, (low, high) = float(by_deal.mean()), mean_interval(by_deal, ends)
    parts = [(((high - low) / (2 * NORMAL)) ** 2, len(by_deal) - 1)]
    parts += [(runs.var(ddof=1) / len(runs), len(runs) - 1) for runs in by_run]
    variance = sum(part for part, _ in parts)
    freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    reach = _reach(freedom) * math.sqrt(variance)
    return Estimate(value, max(ends[0], value - reach), min(ends[1], value + reach))


def _reach(freedom: float) -> float:
    """Return the half-width of a 95 % interval of Student's t, in standard errors."""
    angles = np.linspace(0, math.pi / 2, ANGLES)  # t is the square root of freedom by their tangent
    shares = np.cumsum(np.cos(angles) ** (freedom - 1))
    return math.sqrt(freedom) * math.tan(np.interp(0.95 * shares[-1], shares, angles))
