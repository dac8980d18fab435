"""The heuristic ladder: each agent is named for what it adds to the one before.

All are compiled: the best action by a weighted sum of what `values.py` looks at. The weights were
found by `python -m agents.search.tuning` and lie in weights.json; docs/strategy.md says what each
rung is worth.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Word, compiled
from fiveup_env.opponents.features import FEATURE_NAMES, SCRATCH, best_action

WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")

# What each rung looks at beyond the rung before.
LADDER: Final = {
    "greedy": ("points",),
    "defensive": ("reply",),
    "positional": ("pips", "double", "follow", "control"),
    "counter": ("starve", "starve_last"),
    "partner": ("feed",),
}


@cache
def weights_of(rung: str) -> np.ndarray:
    """The weights of a rung of the ladder, for compiled code."""
    named = json.loads(WEIGHTS_FILE.read_text())["weights"][rung]
    return np.array([named.get(name, 0.0) for name in FEATURE_NAMES])


@dataclass(frozen=True)
class Rung:
    """A rung of the ladder: the best action by its weights."""

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose an action for every view, which itself says what is allowed."""
        del masks
        actions, key = np.empty(len(views), np.int64), np.uint64(random.integers(1 << 63))
        weights = weights_of(type(self).__name__.lower())
        choose_all(views, key, weights, np.zeros(1, SCRATCH), actions)
        return actions


class Greedy(Rung):
    """The most points now."""


class Defensive(Rung):
    """Points now, less what the next player's best reply is expected to score."""


class Positional(Rung):
    """Minds also what it keeps: tiles that score next and fit, no doubles, few pips."""


class Counter(Rung):
    """Minds also whether its opponents can play at all: makes them draw and pass."""


class Partner(Rung):
    """Minds also its partner, and feeds it."""


@compiled
def choose_all(views: Array, key: Word, weights: Array, scratch: Array, actions: Array) -> None:
    """The best action for every view."""
    for i in range(len(views)):
        own = scramble(key + np.uint64(i))
        actions[i] = best_action(views[i].public, views[i].hand, weights, scratch[0], own)
