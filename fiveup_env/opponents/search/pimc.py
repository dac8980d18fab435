"""`pimc`: every action is tried in sampled worlds, hands are played out, the best mean is chosen.

This is the search of `world_search` with a uniform prior. Its name is that of perfect-information
Monte Carlo search, from which it began; "rollout" is the honest one: a heuristic plays the hands
out for every seat, and each sees only its own hand. So values do not suffer from strategy fusion,
the belief of a player who sees all tiles that later choices may depend on hidden ones.

With `weighed`, worlds count by how likely the others' moves were in them (see `inference`). With
`playout=student`, the small network of the agent `student` plays hands out.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from fiveup_env.engine.view import as_views
from fiveup_env.opponents.search.outlook import outlooks_of
from fiveup_env.opponents.search.world_search import (
    Search,
    WorldSearch,
    check_weighed,
    mark_allowed,
    playout_of,
)
from fiveup_env.opponents.search.world_statistics import WorldStatistics
from fiveup_env.rules.actions import ACTION_COUNT


@dataclass(frozen=True)
class Pimc(Search):
    """Plays every action out in sampled worlds and chooses the best on average."""

    weighed: int = field(
        default=1,
        metadata={"help": "worlds weighed by the others' moves for each that is tried; 1: none"},
    )

    def __post_init__(self) -> None:
        """Raise AgentError if an option is out of range."""
        super().__post_init__()
        check_weighed(self.weighed)

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        return self.search(views, rng).scores.argmax(1)

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
        search = WorldSearch(self, playout_of(self.playout), self.weighed)
        key = np.uint64(rng.integers(1 << 63))
        return search(views, WorldStatistics(allowed), outlooks_of(views, self.aim), key, began)
