"""Measure what a sequential test errs and saves: `python -m benchmarks.sequential`.

Real agents meet on duplicate deals, and the scores of their deals are counted. Simulated deals have
that distribution, tilted so that one agent leads the other by some Elo, and go through the code
that `evaluate.py --sprt` runs. The fixed number of deals is that at which a comparison of the mean
with a threshold has the same error rates.
"""

from __future__ import annotations

import argparse
import math
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from benchmarks.results import add_save, named, publish
from fiveup_env.arena.duels import duel
from fiveup_env.arena.ratings import win_rate
from fiveup_env.arena.sequential import ERROR_RATE, NORMAL, advance, counts_of, decided_by
from fiveup_env.cli.evaluate import MOST_DEALS
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress
from fiveup_env.rules.fields import Rules

PAIRS: Final = (
    ("counter", "partner"),
    ("policy:family", "partner"),
    ("policy:partners", "policy:family"),
)
LEADS: Final = (0, 0.5, 1, 2)  # in units of the higher bound above the lower one
FIRST_SEED: Final = 960_000_000
BLOCK: Final = 4_096  # deals that are drawn at once
HALVINGS: Final = 60


class Runs(NamedTuple):
    """What many runs of a test came to.

    Attributes:
        h0: the share that accepted H0.
        h1: the share that accepted H1; the others reached the limit.
        deals: the mean number of deals.
    """

    h0: float
    h1: float
    deals: float


def main() -> None:
    """Measure, simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sprt", type=float, nargs=2, default=(0, 5), metavar=("ELO0", "ELO1"))
    parser.add_argument("--deals", type=int, default=4_000, help="to measure the distributions")
    parser.add_argument("--runs", type=int, default=10_000, help="of each test")
    add_save(parser)
    options = parser.parse_args()
    low, high = options.sprt
    heads = ("a", "b", "a leads by", "accepts H0 (%)", "accepts H1 (%)")
    rows: list[tuple[str, ...]] = [(*heads, "deals", "fixed number", "share")]
    measured = {pair: measure(pair, options.deals) for pair in PAIRS}
    places = [(pair, low + lead * (high - low)) for pair in PAIRS for lead in LEADS]
    for pair, lead in progress(places, len(places), "tests"):
        values, weights = measured[pair]
        rates = win_rate(low), win_rate(high)
        fixed = fixed_deals(values, weights, *rates)
        runs = simulate(values, tilted(values, weights, win_rate(lead)), *rates, options.runs)
        accepted = [share(rate, options.runs) for rate in (runs.h0, runs.h1)]
        counts = f"{runs.deals:,.0f}", f"{fixed:,}", f"{runs.deals / fixed:.2f}"
        rows.append((*pair, f"{lead:+g}", *accepted, *counts))
    for pair, (values, weights) in measured.items():
        shares = ", ".join(f"{100 * weights[k]:.2f} % {values[k]:g}" for k in range(len(values)))
        print(f"scores of {pair[0]} against {pair[1]}: {shares}")
    publish("sequential", keep=options.save, rows=named(rows))


def measure(pair: tuple[str, str], deals: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of deals that occurred between two agents, and how often each did."""
    seeds = np.arange(FIRST_SEED, FIRST_SEED + deals, dtype=np.uint64)
    scores = duel([make_agent(spec) for spec in pair], Rules.preset(), seeds).wins
    values, counts = np.unique(np.append(scores, (0, 1)), return_counts=True)
    counts[[0, -1]] -= 1
    return values, counts / deals


def tilted(values: np.ndarray, weights: np.ndarray, mean: float) -> np.ndarray:
    """Return the weights, times an exponential function of the values that gives them this mean."""

    def at(slope: float) -> np.ndarray:
        unnormalised = weights * np.exp(slope * (values - mean))
        return unnormalised / unnormalised.sum()

    low, high = -100.0, 100.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) @ values < mean else (low, middle)
    return at(low)


def simulate(
    values: np.ndarray, weights: np.ndarray, rate0: float, rate1: float, runs: int, seed: int = 0
) -> Runs:
    """Run the test of two win rates many times on deals with this distribution of scores."""
    rng = np.random.default_rng(seed)
    chances = weights.cumsum()[:-1]
    accepted, total = [0, 0], 0
    for _ in range(runs):
        counts, llr, deals = counts_of(values, np.zeros(0, np.int64)), 0.0, 0
        while not (verdict := decided_by(llr)) and deals < MOST_DEALS:
            block = min(BLOCK, MOST_DEALS - deals)
            drawn = np.searchsorted(chances, rng.random(block), side="right")
            used, llr = advance(values, counts, drawn, deals, rate0, rate1, llr)
            deals += used
        if verdict:
            accepted[verdict == "H1"] += 1
        total += deals
    return Runs(accepted[0] / runs, accepted[1] / runs, total / runs)


def fixed_deals(values: np.ndarray, weights: np.ndarray, rate0: float, rate1: float) -> int:
    """Return how many deals a test of a fixed number needs for the same error rates."""
    spreads = 0.0
    for rate in (rate0, rate1):
        spreads += math.sqrt(tilted(values, weights, rate) @ (values - rate) ** 2)
    return math.ceil((NormalDist().inv_cdf(1 - ERROR_RATE) * spreads / (rate1 - rate0)) ** 2)


def share(rate: float, runs: int) -> str:
    """Return a share of the runs in per cent, and its 95 % interval (Wilson's)."""
    factor = NORMAL**2 / runs
    middle = (rate + factor / 2) / (1 + factor)
    width = NORMAL * math.sqrt(rate * (1 - rate) / runs + factor / (4 * runs)) / (1 + factor)
    low, high = max(0.0, middle - width), min(1.0, middle + width)
    return f"{100 * rate:.1f} ({100 * low:.1f} .. {100 * high:.1f})"


if __name__ == "__main__":
    main()
