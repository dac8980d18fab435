"""What a profile is worth, and what each seat could win by the best reply to it: exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.engine.compiled import Array, compiled

if TYPE_CHECKING:
    from agents.exact.form import Form


class Exploitability(NamedTuple):
    """By seat: what a profile brings, and what the best reply to the others would bring."""

    values: np.ndarray
    best: np.ndarray

    @property
    def nash_conv(self) -> float:
        """What all seats together could gain, each by itself: 0 for an equilibrium alone."""
        return float((self.best - self.values).sum())


def exploitability(form: Form, profile: np.ndarray) -> Exploitability:
    """How far every seat of a profile is from its best reply."""
    reach = reaches(form, profile)
    values, best = np.zeros(form.rules.players), np.zeros(form.rules.players)
    worth = np.empty(len(profile))
    for seat in range(form.rules.players):
        write_worth(form.ends, form.payoffs, reach, seat, worth)
        values[seat] = worth @ reach
        go_back(form.seats, form.parents, form.firsts, seat, worth)
        best[seat] = worth[seat]
    return Exploitability(values, best)


def reaches(form: Form, profile: np.ndarray) -> np.ndarray:
    """The probability of every sequence: of all its actions, chance and others set aside."""
    reach = profile.copy()
    write_reaches(form.parents, form.firsts, profile, reach)
    return reach


@compiled
def write_reaches(parents: Array, firsts: Array, profile: Array, reach: Array) -> None:
    """Write the probability of every sequence; those of parents come first."""
    for state in range(len(parents)):
        before = reach[parents[state]]
        for sequence in range(firsts[state], firsts[state + 1]):
            reach[sequence] = before * profile[sequence]


@compiled
def write_worth(ends: Array, payoffs: Array, reach: Array, seat: int, worth: Array) -> None:
    """Write what the ends right after every sequence of a seat bring it; 0 for other seats'."""
    worth[:] = 0
    players = ends.shape[1]
    for i in range(len(ends)):
        weight = payoffs[i, seat]
        for other in range(players):
            if other != seat:
                weight *= reach[ends[i, other]]
        worth[ends[i, seat]] += weight


@compiled
def go_back(seats: Array, parents: Array, firsts: Array, seat: int, worth: Array) -> None:
    """Add to each sequence of a seat what its best actions in all that follows bring."""
    for state in range(len(parents) - 1, -1, -1):
        if seats[state] == seat:
            best = worth[firsts[state]]
            for sequence in range(firsts[state] + 1, firsts[state + 1]):
                best = max(best, worth[sequence])
            worth[parents[state]] += best
