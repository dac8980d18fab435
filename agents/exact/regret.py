"""CFR+: both sides play against each other, each by what it regrets not to have done before.

With two players the average of what they played comes to an equilibrium. Regret matching+ in every
information state, seats in turn, and averages that weigh the t-th round t times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.exact.values import reaches, write_reaches, write_worth
from fiveup_env.engine.compiled import Array, compiled

if TYPE_CHECKING:
    from agents.exact.form import Form


class CfrPlus:
    """CFR+ on a game: `run` goes on, `average` is what it has come to."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.rounds = 0
        self._profile = form.uniform()
        self._reach = reaches(form, self._profile)
        self._regrets = np.zeros(len(self._profile))
        self._played = np.zeros(len(self._profile))

    @property
    def average(self) -> np.ndarray:
        """The average profile."""
        return self.form.normalised(self._played)

    def run(self, rounds: int) -> None:
        """Play so many more rounds."""
        form = self.form
        play_rounds(
            form.seats,
            form.parents,
            form.firsts,
            form.ends,
            form.payoffs,
            self.rounds,
            rounds,
            self._profile,
            self._reach,
            self._regrets,
            self._played,
        )
        self.rounds += rounds


@compiled
def play_rounds(
    seats: Array,
    parents: Array,
    firsts: Array,
    ends: Array,
    payoffs: Array,
    done: int,
    rounds: int,
    profile: Array,
    reach: Array,
    regrets: Array,
    played: Array,
) -> None:
    """Play rounds of CFR+; all that it keeps is written in place."""
    worth = np.empty(len(profile))
    for t in range(done + 1, done + rounds + 1):
        for seat in range(ends.shape[1]):
            write_worth(ends, payoffs, reach, seat, worth)
            _learn(seats, parents, firsts, seat, worth, profile, regrets)
            write_reaches(parents, firsts, profile, reach)
        for sequence in range(ends.shape[1], len(profile)):
            played[sequence] += t * reach[sequence]


@compiled
def _learn(
    seats: Array,
    parents: Array,
    firsts: Array,
    seat: int,
    worth: Array,
    profile: Array,
    regrets: Array,
) -> None:
    """Note what a seat regrets, from its last choices back to its first, and let it act on that."""
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
