"""The protocol of an agent, and the agent that plays at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fiveup_env.engine.view import as_views, legal_masks, unchecked_masks


class Agent(Protocol):
    """Anything that chooses actions from views: a function, or an object that is called like one.

    Args:
        views: An array of VIEW structs [N]; one decision is an array of one view. The seat of each
            is to move, and `fiveup_env.legal_masks(views)` has its legal actions.
        rng: The agent's only source of chance.

    Returns:
        A legal action for each view, as an array of integers [N].
    """

    def __call__(self, views: np.ndarray, rng: np.random.Generator, /) -> np.ndarray:
        """Return an action for every view."""


class CompiledAgent:
    """A fast agent in compiled code, which checks no index: its call checks the views for it."""

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view; raise InputError for any that play cannot lead to."""
        return self.choose_unchecked(as_views(views), rng)

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view that the library itself has made."""
        raise NotImplementedError


def unchecked(agent: Agent) -> Agent:
    """Return the function by which an agent chooses in views that the library itself has made.

    Checking them takes up to three times as long as choosing does.
    """
    if isinstance(agent, CompiledAgent) and type(agent).__call__ is CompiledAgent.__call__:
        return agent.choose_unchecked
    return agent


@dataclass(frozen=True)
class Random(CompiledAgent):
    """Plays any allowed action, each with the same probability."""

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        masks = unchecked_masks(views)
        return (rng.random(masks.shape, np.float32) - (masks == 0)).argmax(1)

    def probabilities(self, views: np.ndarray) -> np.ndarray:
        """Return the probability of every action, a row for each view."""
        masks = legal_masks(views)
        return masks / masks.sum(1, keepdims=True)
