"""`pimc`: every action is tried in sampled worlds, hands are played out, the best mean is chosen.

The name is that of perfect-information Monte Carlo search, from which it began. But a heuristic
plays hands out for every seat, and each sees only its own hand: values do not suffer from strategy
fusion, the belief of a player who sees all tiles that later choices may depend on hidden ones.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from fiveup_env.engine.view import as_views
from fiveup_env.opponents.search.outlook import outlooks_of
from fiveup_env.opponents.search.world_search import (
    Search,
    mark_allowed,
    playout_of,
    search_worlds,
)
from fiveup_env.opponents.search.world_statistics import WorldStatistics
from fiveup_env.rules.actions import ACTION_COUNT


@dataclass(frozen=True)
class Pimc(Search):
    """Plays every action out in sampled worlds and chooses the best on average."""

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        return self.search(views, rng).choices

    def values(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the average value of every action, -inf where it is not allowed.

        Values are chances to win the game, or with `aim=hand` the points still to be won in the
        hand. A single allowed action is not searched, and its value is 0. An action that was closed
        has the average of the worlds until then.
        """
        return self.search(views, rng).means

    def search(self, views: np.ndarray, rng: np.random.Generator) -> WorldStatistics:
        """Return what worlds show about the legal actions of some views: means and errors."""
        began, views = time.perf_counter(), as_views(views)
        allowed = np.full((len(views), ACTION_COUNT), -np.inf)
        mark_allowed(views, allowed)
        statistics, outlooks = WorldStatistics(allowed), outlooks_of(views, self.aim)
        playout = playout_of(self.playout)
        return search_worlds(self, playout, views, statistics, outlooks, rng, began)
