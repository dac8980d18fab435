"""The heuristic ladder: each agent is named for what it adds to the one below.

Each rung plays the action with the largest weighted sum of the features in `features.py`, all in
compiled code. The weights were found by `python -m agents.fitting.tuning` and are kept in
weights.json; docs/understand/strategy.md shows what each rung gains. `reader` stands on top: it
weighs the same features as `partner`, but expects them by what the others' plays tell, which takes
ten times as long.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from fiveup_env.engine.chance import scramble
from fiveup_env.engine.state import Views
from fiveup_env.native import Doubles, Int64s, Word, compiled, read_only
from fiveup_env.opponents.agent import CompiledAgent
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES, SCRATCH, Scratches, best_action
from fiveup_env.opponents.heuristics.hidden import HIDDEN, Hiddens, best_expected

WEIGHTS_FILE: Final = Path(__file__).with_name("weights.json")

# The features that each rung adds to those of the rung below.
LADDER: Final = {
    "greedy": ("points",),
    "defensive": ("reply",),
    "positional": ("pips", "double", "follow", "control"),
    "counter": ("starve", "starve_last"),
    "partner": ("feed",),
}
READER: Final = "reader"


@cache
def weights_of(rung: str) -> np.ndarray:
    """Return the weights of a rung, in the order of FEATURES; read-only, as all share them."""
    named = json.loads(WEIGHTS_FILE.read_text())["weights"][rung]
    return read_only(np.array([named.get(name, 0.0) for name in FEATURE_NAMES]))


@dataclass(frozen=True)
class Rung(CompiledAgent):
    """A rung of the ladder: plays the best action by its weights."""

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        name = type(self).__name__.lower()
        return choose(name, weights_of(name), views, rng)


class Greedy(Rung):
    """Plays for the most points now."""


class Defensive(Rung):
    """Also minds what the next player's best reply is expected to score."""


class Positional(Rung):
    """Also minds what it keeps: tiles that fit and score next, few pips, no doubles."""


class Counter(Rung):
    """Also tries to leave its opponents without a play, so that they draw or pass."""


class Partner(Rung):
    """Also sets up its partner's next play."""


class Reader(Rung):
    """Also infers from the others' plays which tiles they hold."""


def choose(
    rung: str, weights: np.ndarray, views: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the action that a rung would choose for every view with some weights."""
    actions, key = np.empty(len(views), np.int64), np.uint64(rng.integers(1 << 63))
    if rung == READER:
        choose_reading(views, key, weights, np.zeros(1, HIDDEN), actions)
    else:
        choose_all(views, key, weights, np.zeros(1, SCRATCH), actions)
    return actions


@compiled
def choose_all(
    views: Views, key: Word, weights: Doubles, scratch: Scratches, actions: Int64s
) -> None:
    """Write the best action for every view into `actions`."""
    for i in range(len(views)):
        own = scramble(key + np.uint64(i))
        actions[i] = best_action(views[i].public, views[i].hand, weights, scratch[0], own)


@compiled
def choose_reading(
    views: Views, key: Word, weights: Doubles, memory: Hiddens, actions: Int64s
) -> None:
    """Write the action that `reader` chooses for every view into `actions`."""
    for i in range(len(views)):
        own = scramble(key + np.uint64(i))
        actions[i] = best_expected(views[i], weights, memory[0], own)
