"""What sampled worlds show of some actions, summed up as worlds come in.

Worlds may count by how likely they are. What all actions of a world have in common tells nothing
about which to choose, so errors are those of differences. An action that is clearly worse than the
best is closed, and looked at no more.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.opponents.pimc import CLEARLY

LEAST_NOISE: Final = 1e-6  # the policy decides between actions that worlds find alike


class WorldStatistics:
    """What is known of the actions of some views, from which each view's best can be told."""

    def __init__(self, logs: np.ndarray, open_: np.ndarray, trust: float) -> None:
        """Nothing is: there are the logarithms of the policy's probabilities [views x actions]."""
        views, actions = logs.shape
        self._logs, self._trust = logs, trust
        self.open = open_ & (open_.sum(1, keepdims=True) > 1)
        self.scores = np.where(open_, 0.0, -np.inf)
        self._worlds = np.zeros((views, 1))
        self._highest = np.full((views, 1), np.finfo(float).min)  # likelihood; weights are relative
        self._weight, self._squared = np.zeros((views, 1)), np.zeros((views, 1))
        self._sums = np.zeros((views, actions))  # of weighted worths
        self._apart = np.zeros((views, actions))  # of what an action differs from its world's mean
        self._products = np.zeros((views, actions, actions))  # and of the products of two of these

    @property
    def effective_worlds(self) -> np.ndarray:
        """How many equally weighted worlds would tell as much."""
        return (self._weight**2 / self._squared)[:, 0]

    def add(self, worths: np.ndarray, likelihoods: np.ndarray) -> None:
        """Take in what the open actions are worth in some more worlds [views x worlds x actions].

        The worlds' likelihoods [views x worlds] are logarithms. Then score the actions anew.
        """
        thinking, tried = self.open.any(1), self.open[:, None]
        likelihoods = np.where(thinking[:, None], likelihoods, -np.inf)
        highest = np.maximum(self._highest, likelihoods.max(1, keepdims=True))
        fade, weights = np.exp(self._highest - highest), np.exp(likelihoods - highest)
        self._highest = highest
        self._weight = fade * self._weight + weights.sum(1, keepdims=True)
        self._squared = fade**2 * self._squared + (weights**2).sum(1, keepdims=True)
        self._sums = fade * self._sums + (weights[:, None] @ worths)[:, 0]
        common = (worths * tried).sum(2, keepdims=True) / np.maximum(1, tried.sum(2, keepdims=True))
        apart = (worths - common) * tried
        self._worlds[thinking] += worths.shape[1]
        self._apart += apart.sum(1)
        self._products += apart.transpose(0, 2, 1) @ apart
        self._score()

    def _score(self) -> None:
        """Score what is open, and close what is clearly worse than the best."""
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
        """The standard errors of how much each action's mean differs from the best one's."""
        every, worlds = np.arange(len(best)), np.maximum(2, self._worlds)
        means = self._apart / worlds
        squares = np.diagonal(self._products, axis1=1, axis2=2)
        products = squares + squares[every, best][:, None] - 2 * self._products[every, best]
        gap = means - means[every, best][:, None]
        spread = np.maximum(0, products / worlds - gap**2) * worlds / (worlds - 1)
        weight = np.where(self._weight > 0, self._weight, 1)
        return np.maximum(LEAST_NOISE, np.sqrt(spread * self._squared) / weight)
