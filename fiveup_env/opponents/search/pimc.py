"""`pimc`: every action is tried in sampled worlds, hands are played out, the best mean is chosen.

The name is that of perfect-information Monte Carlo search, from which it began. But a heuristic
plays hands out for every seat, and each sees only its own hand: values do not suffer from strategy
fusion, the belief of a player who sees all tiles that later choices may depend on hidden ones.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from fiveup_env.opponents.search.outlook import outlooks_of
from fiveup_env.opponents.search.world_search import (
    Search,
    Searcher,
    mark_allowed,
    playout_of,
    search_worlds,
)
from fiveup_env.opponents.search.world_statistics import WorldStatistics
from fiveup_env.rules.actions import ACTION_COUNT


@dataclass(frozen=True)
class Pimc(Search, Searcher):
    """Plays every action out in sampled worlds and chooses the best on average."""

    def search_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> WorldStatistics:
        """Return means and standard errors of the legal actions over worlds."""
        began = time.perf_counter()
        allowed = np.full((len(views), ACTION_COUNT), -np.inf)
        mark_allowed(views, allowed)
        statistics, outlooks = WorldStatistics(allowed), outlooks_of(views, self.aim)
        playout = playout_of(self.playout)
        return search_worlds(self, playout, views, statistics, outlooks, rng, began)
