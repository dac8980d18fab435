"""Sequential tests: play on until the data favour one of two hypotheses about two agents.

H0 says that the first agent leads the second by `elo0`, H1 that it leads by `elo1`. The test is the
generalised sequential probability ratio test. Its unit is the deal, whose score is the share of its
games that the first agent won. Under either hypothesis the scores may have any distribution with
the mean that its Elo predicts, and the likelihood is that of the best such distribution (Owen's
empirical likelihood). For two sides that is the pentanomial model of chess engines. One even deal
is added: without it, agents that seldom differ are told apart too soon.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.statistics.bootstrap import with_bounds
from fiveup_env.arena.statistics.duels import duel_between, duel_of
from fiveup_env.arena.statistics.ratings import lead_of, win_rate
from fiveup_env.native import Array, Doubles, Int64s, compiled, inner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fiveup_env.arena.play.tournament import TournamentResult

ERROR_RATE: Final = 0.05  # the chance to accept H1 where H0 is true, and the other way round
BOUND: Final = math.log((1 - ERROR_RATE) / ERROR_RATE)  # Wald's, for the log likelihood ratio
EVERY: Final = 16  # deals from one evaluation to the next
ADDED: Final = 0.5  # deals with a score of 0, and as many with 1: together one even deal
NORMAL: Final = 1.96  # standard errors on either side of a 95 % interval
STEPS: Final = 100
PRECISION: Final = 1e-10


class SequentialTest:
    """A test of two hypotheses, to which deals are added in order until it accepts one.

    Attributes:
        rates: the mean scores that H0 and H1 predict.
        games: the number of games of a deal.
        scores: the scores of the deals that the test has used.
        llr: the log likelihood ratio of H1 to H0 when it was last evaluated.
    """

    def __init__(self, elo0: float, elo1: float, sides: int = 2) -> None:
        self.elo0, self.elo1, self.sides = elo0, elo1, sides
        self.rates = win_rate(elo0, sides), win_rate(elo1, sides)
        if not 0 < self.rates[0] < self.rates[1] < 1:
            raise ArenaError(
                "a sequential test needs two differences in Elo, the lower one first, such as "
                f"--sprt 0 5, not {elo0:g} and {elo1:g}"
            )
        self.games = sides if sides == 2 else 2 * sides
        self.scores = np.zeros(0)
        self.llr = 0.0

    @property
    def verdict(self) -> str | None:
        """The hypothesis that the test has accepted, H0 or H1, or None."""
        return decided_by(self.llr)

    def add(self, scores: np.ndarray) -> None:
        """Use the scores of the next deals, up to those that decide the test."""
        if self.verdict:
            return
        before, known = len(self.scores), np.append(self.scores, scores)
        values = np.unique(np.append(known, (0, 1)))
        places = np.searchsorted(values, known)
        counts = counts_of(values, places[:before])
        used, self.llr = advance(values, counts, places[before:], before, *self.rates, self.llr)
        self.scores = known[: before + used]

    @property
    def lead(self) -> tuple[float, tuple[float | None, float | None]]:
        """The first agent's lead in Elo, with one even deal added, and its 95 % interval.

        The interval is that of the scores with one deal that was lost and one that was won, so that
        it has width where all are alike. None is an end without a bound.
        """
        scores = np.append(self.scores, (0.0, 1.0))
        mean, error = scores.mean(), scores.std(ddof=1) / math.sqrt(len(scores))
        low, high = (
            lead_of(rate, self.sides) if 0 < rate < 1 else None
            for rate in (mean - NORMAL * error, mean + NORMAL * error)
        )
        even = (self.scores.sum() + 0.5) / (len(self.scores) + 1)
        return lead_of(even, self.sides), (low, high)

    @property
    def progress(self) -> str:
        """The state of the test in one line that fits a terminal."""
        return (
            f"LLR {self.llr:+.2f} ({-BOUND:.2f} .. {BOUND:+.2f}), "
            f"Elo {with_bounds(*self.lead, '+.1f')}, "
            f"{len(self.scores) * self.games:,} games"
        )

    def sentence(self, agents: Sequence[str]) -> str:
        """Return the verdict of the test on two agents, and its figures."""
        lead, low, high = f"{agents[0]} leads {agents[1]} by", self.elo0, self.elo1
        verdict = {
            "H0": f"accepts H0: {lead} {low:+g} Elo rather than by {high:+g}",
            "H1": f"accepts H1: {lead} {high:+g} Elo rather than by {low:+g}",
            None: f"cannot tell whether {lead} {low:+g} Elo (H0) or by {high:+g} (H1)",
        }[self.verdict]
        return f"The sequential test {verdict}. {self.progress} on {len(self.scores):,} deals."

    def to_json(self) -> dict[str, Any]:
        """Return the hypotheses and the results as plain values."""
        lead, bounds = self.lead
        return {
            "elo0": self.elo0,
            "elo1": self.elo1,
            "error_rate": ERROR_RATE,
            "bound": BOUND,
            "llr": self.llr,
            "verdict": self.verdict,
            "deals": len(self.scores),
            "games": len(self.scores) * self.games,
            "elo": lead,
            "elo_ci": list(bounds),
        }


class Follower:
    """Feeds a sequential test with the deals of a tournament of two agents, in order.

    Chunks are finished in any order. One counts as soon as all before it do, so the verdict depends
    on the deals alone.
    """

    def __init__(self, test: SequentialTest, show: Callable[[str], None] = lambda _: None) -> None:
        """Call `show` with the state of the test whenever it has changed."""
        self.test, self.show = test, show
        self.deals = 0  # that the test has been given

    def __call__(self, outcome: TournamentResult) -> bool:
        """Add the deals that are there, and return whether the test is decided."""
        tournament, before = outcome.tournament, self.deals
        a, b = tournament.agents
        rules = tournament.terms.rules
        while self.deals < tournament.deals and not self.test.verdict:
            tasks = {one: tournament.task(one, self.deals) for one in tournament.meetings}
            if not all(task in outcome.played for task in tasks.values()):
                break
            duels = {one: duel_of([outcome.played[task]], rules) for one, task in tasks.items()}
            self.test.add(duel_between(a, b, duels, rules.sides).wins)
            self.deals += tournament.task((a, b), self.deals).deals
        if self.deals > before:
            self.show(self.test.progress)
        return self.test.verdict is not None


def decided_by(llr: float) -> str | None:
    """Return the hypothesis that this LLR accepts, H0 or H1, or None."""
    if abs(llr) < BOUND:
        return None
    return "H1" if llr > 0 else "H0"


def counts_of(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the count of each score, including the even deal that is added.

    Args:
        values: all scores that may occur, in ascending order, from 0 to 1.
        places: the score of every deal, as its place in `values`.
    """
    counts = np.bincount(places, minlength=len(values)).astype(np.float64)
    counts[[0, -1]] += ADDED
    return counts


@compiled
def advance(
    values: Doubles,
    counts: Doubles,
    places: Int64s,
    before: int,
    rate0: float,
    rate1: float,
    llr: float,
) -> tuple[int, float]:
    """Add deals until the test is decided; return how many were added, and the LLR.

    Args:
        values: all scores that may occur, in ascending order, from 0 to 1.
        counts: how often each occurred; the added deals are counted here.
        places: the scores of the next deals, as places in `values`.
        before: how many deals were added earlier.
        rate0: the mean score by H0.
        rate1: the mean score by H1.
        llr: the LLR when it was last evaluated.
    """
    for k in range(len(places)):
        counts[places[k]] += 1
        if (before + k + 1) % EVERY == 0:
            llr = log_likelihood(values, counts, rate1) - log_likelihood(values, counts, rate0)
            if abs(llr) >= BOUND:
                return k + 1, llr
    return len(places), llr


@inner
def log_likelihood(values: Array, counts: Array, mean: float) -> float:
    """Return the log likelihood of the best distribution with this mean, less that of the best.

    Its weights are those of the counts, each divided by 1 + x (value - mean), where x gives them
    the mean. A safeguarded Newton iteration finds x.
    """
    low, high, x = -1 / (1 - mean), 1 / mean, 0.0
    for _ in range(STEPS):
        excess, slope = 0.0, 0.0
        for k in range(len(values)):
            share = (values[k] - mean) / (1 + x * (values[k] - mean))
            excess += counts[k] * share
            slope += counts[k] * share * share
        if excess > 0:
            low = x
        else:
            high = x
        last, x = x, x + excess / slope
        if not low < x < high:
            x = (low + high) / 2
        if abs(x - last) < PRECISION:
            break
    likelihood = 0.0
    for k in range(len(values)):
        likelihood -= counts[k] * np.log1p(x * (values[k] - mean))
    return likelihood
