"""The exact value of a profile, and of each seat's best reply to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.native import DoubleRows, Doubles, Int8s, Int32Rows, Int32s, Int64s, compiled

if TYPE_CHECKING:
    from fiveup_env.exact.form import Form


class Exploitability(NamedTuple):
    """The value of a profile, and of the best reply to the other seats, by seat."""

    values: np.ndarray
    best: np.ndarray

    @property
    def nash_conv(self) -> float:
        """The sum of what each seat could gain alone; 0 if and only if this is an equilibrium."""
        return float((self.best - self.values).sum())


def exploitability(form: Form, profile: np.ndarray) -> Exploitability:
    """Return the value of a profile and of the best replies to it."""
    reach = reaches(form, profile)
    values, best = np.zeros(form.rules.players), np.zeros(form.rules.players)
    worth = np.empty(len(profile))
    for seat in range(form.rules.players):
        write_worth(form.ends, form.payoffs, reach, seat, worth)
        values[seat] = worth @ reach
        add_best_replies(form.seats, form.parents, form.firsts, seat, worth)
        best[seat] = worth[seat]
    return Exploitability(values, best)


def nash_conv_of_random(form: Form) -> float:
    """Return the NashConv of random play, the measure of what a player that knows nothing loses."""
    return exploitability(form, form.uniform()).nash_conv


def reaches(form: Form, profile: np.ndarray) -> np.ndarray:
    """Return the probability that its own seat plays every sequence, ignoring chance and others."""
    reach = profile.copy()
    write_reaches(form.parents, form.firsts, profile, reach)
    return reach


@compiled
def write_reaches(parents: Int32s, firsts: Int64s, profile: Doubles, reach: Doubles) -> None:
    """Write the probability of every sequence; parents come before the sequences after them."""
    for state in range(len(parents)):
        before = reach[parents[state]]
        for sequence in range(firsts[state], firsts[state + 1]):
            reach[sequence] = before * profile[sequence]


@compiled
def write_worth(
    ends: Int32Rows, payoffs: DoubleRows, reach: Doubles, seat: int, worth: Doubles
) -> None:
    """Write the counterfactual payoff right after each of `seat`'s sequences; 0 for other seats."""
    worth[:] = 0
    players = ends.shape[1]
    for i in range(len(ends)):
        weight = payoffs[i, seat]
        for other in range(players):
            if other != seat:
                weight *= reach[ends[i, other]]
        worth[ends[i, seat]] += weight


@compiled
def add_best_replies(
    seats: Int8s, parents: Int32s, firsts: Int64s, seat: int, worth: Doubles
) -> None:
    """Add the best-response value below each of `seat`'s sequences, bottom up."""
    for state in range(len(parents) - 1, -1, -1):
        if seats[state] == seat:
            best = worth[firsts[state]]
            for sequence in range(firsts[state] + 1, firsts[state + 1]):
                best = max(best, worth[sequence])
            worth[parents[state]] += best
