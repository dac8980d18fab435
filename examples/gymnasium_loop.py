"""Gymnasium: you play one seat, and an opponent plays the other.

Among other things, the observation says what every allowed action would score (`plays`). Taking the
action that scores most needs no learning, and outscores a random opponent on average.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium
import numpy as np

import fiveup_env
from fiveup_env.encoders import piece_of

if TYPE_CHECKING:
    from collections.abc import Callable

HANDS = 200
FLAT = fiveup_env.get_encoder("flat")
CHANCE = np.random.default_rng(0)


def at_random(_observation: np.ndarray, mask: np.ndarray) -> int:
    """Return any allowed action."""
    return int(CHANCE.choice(np.flatnonzero(mask)))


def most_points(observation: np.ndarray, _mask: np.ndarray) -> int:
    """Return the action that scores most; `plays` is 0 where an action is not allowed."""
    return int(piece_of(FLAT, "plays", observation[None]).argmax())


def points_a_hand(choose: Callable[[np.ndarray, np.ndarray], int]) -> float:
    """Return the mean margin over the opponent, in points a hand, of a way to choose actions."""
    env = gymnasium.make(
        "fiveup/FiveUp-v0", players=2, opponents="random", episode="hand", reward="margin"
    )
    points = 0.0
    for hand in range(HANDS):
        observation, info = env.reset(seed=hand)
        over = False
        while not over:
            action = choose(observation, info["action_mask"])
            observation, reward, terminated, truncated, info = env.step(action)
            points += float(reward)
            over = terminated or truncated
    return points / HANDS


for choose in (at_random, most_points):
    print(f"{choose.__name__}: {points_a_hand(choose):+.2f} points a hand against a random player")
