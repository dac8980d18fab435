"""The protocol of an agent, and the agent that plays at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fiveup_env.engine.view import as_views


class Agent(Protocol):
    """Anything that chooses actions from views.

    `views` is an array of VIEW structs, `masks` has a row of 0 and 1 for each, and `random` is the
    only source of chance. The agent returns an action for each view; one decision is an array of
    one view.
    """

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, rng: np.random.Generator, /
    ) -> np.ndarray:
        """Return an action for every view."""


class CompiledAgent:
    """A fast agent in compiled code, which checks no index: its call checks the views for it."""

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view; raise InputError for any that play cannot lead to."""
        return self.choose_unchecked(as_views(views), masks, rng)

    def choose_unchecked(
        self, views: np.ndarray, masks: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view that the library itself has made."""
        raise NotImplementedError


def unchecked(agent: Agent) -> Agent:
    """Return what chooses as an agent does, for views that the library itself has made.

    Checking them takes up to three times as long as choosing does.
    """
    if isinstance(agent, CompiledAgent) and type(agent).__call__ is CompiledAgent.__call__:
        return agent.choose_unchecked
    return agent


def random_actions(views: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an allowed action for every view, each with the same probability."""
    del views
    return (rng.random(masks.shape, np.float32) - (masks == 0)).argmax(1)


@dataclass(frozen=True)
class Random:
    """Plays any allowed action, each with the same probability."""

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        return random_actions(views, masks, rng)

    def probabilities(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the probability of every action, a row for each view."""
        del views
        return masks / masks.sum(1, keepdims=True)
