"""What sampled worlds show about each action, updated as worlds are added.

Worlds may be weighted by their likelihoods. What the actions of a world have in common says nothing
about which to choose, so errors are those of differences. An action that is clearly worse than the
best is closed, and is not tried any further.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.opponents.pimc import CLEARLY

LEAST_NOISE: Final = 1e-6  # the policy decides between actions that have equal values in all worlds


class WorldStatistics:
    """The scores of the actions of some views, from the worlds added and from a policy."""

    def __init__(self, logs: np.ndarray, open_: np.ndarray, trust: float) -> None:
        """Start without worlds.

        `logs` are the logarithms of the policy's probabilities [views x actions], `open_` says
        which actions may be chosen, and `trust` is the weight of the policy.
        """
        views, actions = logs.shape
        self._logs, self._trust = logs, trust
        self.open = open_ & (open_.sum(1, keepdims=True) > 1)
        self.scores = np.where(open_, 0.0, -np.inf)
        self._worlds = np.zeros((views, 1))
        # The highest log-likelihood so far, to which the weights are relative.
        self._highest = np.full((views, 1), np.finfo(float).min)
        self._weight, self._squared = np.zeros((views, 1)), np.zeros((views, 1))
        self._sums = np.zeros((views, actions))  # of weighted values
        self._apart = np.zeros(
            (views, actions)
        )  # of differences from the mean of a world's actions
        self._products = np.zeros((views, actions, actions))  # of the products of two differences

    @property
    def effective_worlds(self) -> np.ndarray:
        """The number of equally weighted worlds that would be as informative, for each view."""
        return (self._weight**2 / self._squared)[:, 0]

    def add(self, values: np.ndarray, likelihoods: np.ndarray) -> None:
        """Add the values of the open actions in more worlds [views x worlds x actions].

        The likelihoods of the worlds [views x worlds] are logarithms. Updates the scores.
        """
        undecided, tried = self.open.any(1), self.open[:, None]
        likelihoods = np.where(undecided[:, None], likelihoods, -np.inf)
        highest = np.maximum(self._highest, likelihoods.max(1, keepdims=True))
        fade, weights = np.exp(self._highest - highest), np.exp(likelihoods - highest)
        self._highest = highest
        self._weight = fade * self._weight + weights.sum(1, keepdims=True)
        self._squared = fade**2 * self._squared + (weights**2).sum(1, keepdims=True)
        self._sums = fade * self._sums + (weights[:, None] @ values)[:, 0]
        common = (values * tried).sum(2, keepdims=True) / np.maximum(1, tried.sum(2, keepdims=True))
        apart = (values - common) * tried
        self._worlds[undecided] += values.shape[1]
        self._apart += apart.sum(1)
        self._products += apart.transpose(0, 2, 1) @ apart
        self._score()

    def _score(self) -> None:
        """Score the open actions, and close those that are clearly worse than the best."""
        weight = np.where(self._weight > 0, self._weight, 1)
        means = np.where(self.open, self._sums / weight, -np.inf)
        others = np.maximum(1, self.open.sum(1, keepdims=True) - 1)
        errors = self._errors(means.argmax(1)) * self.open
        noise = errors.sum(1, keepdims=True) / others / np.sqrt(2)
        found = means + self._trust * noise * self._logs
        errors = self._errors(found.argmax(1))
        worse = found < found.max(1, keepdims=True) - CLEARLY * errors
        self.scores[self.open] = np.where(worse, -np.inf, found)[self.open]
        self.open = self.open & ~worse
        self.open &= self.open.sum(1, keepdims=True) > 1

    def _errors(self, best: np.ndarray) -> np.ndarray:
        """Return the standard errors of the differences between each mean and the best one."""
        every, worlds = np.arange(len(best)), np.maximum(2, self._worlds)
        means = self._apart / worlds
        squares = np.diagonal(self._products, axis1=1, axis2=2)
        products = squares + squares[every, best][:, None] - 2 * self._products[every, best]
        gap = means - means[every, best][:, None]
        spread = np.maximum(0, products / worlds - gap**2) * worlds / (worlds - 1)
        weight = np.where(self._weight > 0, self._weight, 1)
        return np.maximum(LEAST_NOISE, np.sqrt(spread * self._squared) / weight)
