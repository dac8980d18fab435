"""The heuristic ladder: each agent is named for what it adds to the one before.

All are compiled: the best action by a weighted sum of what `values.py` looks at. The weights were
found by `python -m agents.play.tuning` and lie in weights.json; docs/strategy.md says what each
rung is worth.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from agents.play.values import NAMES, ROOM, best_action
from agents.registry import register
from fiveup_env.compiled import Array, Word, compiled
from fiveup_env.engine import scramble
from fiveup_env.opponents import random_policy

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
    return np.array([named.get(name, 0.0) for name in NAMES])


@register("random")
@dataclass(frozen=True)
class Random:
    """Any allowed action, each as likely as the other."""

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose an action for every view."""
        return random_policy(views, masks, random)

    def probabilities(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The probability of every action."""
        del views
        return masks / masks.sum(1, keepdims=True)


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
        choose_all(views, key, weights, np.zeros(1, ROOM), actions)
        return actions


@register("greedy")
class Greedy(Rung):
    """The most points now."""


@register("defensive")
class Defensive(Rung):
    """Points now, less what the next player's best reply is expected to score."""


@register("positional")
class Positional(Rung):
    """Minds also what it keeps: tiles that score next and fit, no doubles, few pips."""


@register("counter")
class Counter(Rung):
    """Minds also whether its opponents can play at all: makes them draw and pass."""


@register("partner")
class Partner(Rung):
    """Minds also its partner, and feeds it."""


@compiled
def choose_all(views: Array, key: Word, weights: Array, room: Array, actions: Array) -> None:
    """The best action for every view."""
    for i in range(len(views)):
        own = scramble(key + np.uint64(i))
        actions[i] = best_action(views[i].table, views[i].hand, weights, room[0], own)
