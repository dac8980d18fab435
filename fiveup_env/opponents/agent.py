"""The protocol of an agent, and the agent that plays at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Agent(Protocol):
    """Anything that chooses actions from views.

    `views` is an array of VIEW structs, `masks` has a row of 0 and 1 for each, and `random` is the
    only source of chance. The agent returns an action for each view; one decision is an array of
    one view.
    """

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator, /
    ) -> np.ndarray:
        """Return an action for every view."""


def for_own_views(agent: Agent) -> Agent:
    """Return an agent that chooses from views that the library itself has made.

    An agent in compiled code, which checks no index, checks what it is given first. For a fast one
    that takes a fifth of its time, so it may offer `choose_unchecked` beside its call.
    """
    unchecked: Agent = getattr(agent, "choose_unchecked", agent)
    return unchecked


def random_actions(views: np.ndarray, masks: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return an allowed action for every view, each with the same probability."""
    del views
    return (random.random(masks.shape, np.float32) - (masks == 0)).argmax(1)


@dataclass(frozen=True)
class Random:
    """Plays any allowed action, each with the same probability."""

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        return random_actions(views, masks, random)

    def probabilities(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the probability of every action, a row for each view."""
        del views
        return masks / masks.sum(1, keepdims=True)
