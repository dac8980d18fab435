"""CFR+: the seats play each other, each by regret matching+ in every information state.

The seats update in turn, and the average profile weighs round t by t. With two players it
converges to an equilibrium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.exact.values import reaches, write_reaches, write_worth
from fiveup_env.native import (
    Array,
    DoubleRows,
    Doubles,
    Int8s,
    Int32Rows,
    Int32s,
    Int64s,
    compiled,
    inner,
)

if TYPE_CHECKING:
    from fiveup_env.exact.form import Form


class Play(NamedTuple):
    """The arrays that CFR+ updates, indexed by sequence."""

    profile: Doubles
    reach: Doubles
    regrets: Doubles
    played: Doubles  # the profiles so far, weighed


class CfrPlus:
    """CFR+ on a game: `run` plays more rounds, `average` is the profile found so far."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.rounds = 0
        profile = form.uniform()
        nothing = np.zeros((2, len(profile)))
        self._play = Play(profile, reaches(form, profile), *nothing)

    @property
    def average(self) -> np.ndarray:
        """The average profile."""
        return self.form.normalised(self._play.played)

    def run(self, rounds: int) -> None:
        """Play `rounds` more rounds."""
        form = self.form
        play_rounds(
            form.seats,
            form.parents,
            form.firsts,
            form.ends,
            form.payoffs,
            self.rounds,
            rounds,
            self._play,
        )
        self.rounds += rounds


@compiled
def play_rounds(
    seats: Int8s,
    parents: Int32s,
    firsts: Int64s,
    ends: Int32Rows,
    payoffs: DoubleRows,
    done: int,
    rounds: int,
    play: Play,
) -> None:
    """Play rounds of CFR+ after `done` earlier ones."""
    profile, reach, regrets, played = play
    worth = np.empty(len(profile))
    for t in range(done + 1, done + rounds + 1):
        for seat in range(ends.shape[1]):
            write_worth(ends, payoffs, reach, seat, worth)
            _learn(seats, parents, firsts, seat, worth, profile, regrets)
            write_reaches(parents, firsts, profile, reach)
        for sequence in range(ends.shape[1], len(profile)):
            played[sequence] += t * reach[sequence]


@inner
def _learn(
    seats: Array,
    parents: Array,
    firsts: Array,
    seat: int,
    worth: Array,
    profile: Array,
    regrets: Array,
) -> None:
    """Update a seat's regrets and its profile, from its last choices back to its first."""
    for state in range(len(parents) - 1, -1, -1):
        if seats[state] != seat:
            continue
        first, last = firsts[state], firsts[state + 1]
        mean = 0.0
        for sequence in range(first, last):
            mean += profile[sequence] * worth[sequence]
        worth[parents[state]] += mean
        total = 0.0
        for sequence in range(first, last):
            regrets[sequence] = max(0.0, regrets[sequence] + worth[sequence] - mean)
            total += regrets[sequence]
        for sequence in range(first, last):
            profile[sequence] = regrets[sequence] / total if total > 0 else 1 / (last - first)
