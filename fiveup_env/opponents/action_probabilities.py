"""The probabilities with which an agent chooses its actions: reported by it, or estimated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from fiveup_env.engine.view import legal_masks
from fiveup_env.errors import AgentError, IllegalMoveError, shown
from fiveup_env.rules.actions import MOVES

if TYPE_CHECKING:
    from fiveup_env.opponents.agent import Agent


@runtime_checkable
class Mixed(Protocol):
    """An agent that reports its probabilities; with `sample` False it does not draw by them."""

    def probabilities(self, views: np.ndarray) -> np.ndarray:
        """Return the probability of every action, a row for each view."""


def probabilities_of(
    agent: Agent | Mixed,
    views: np.ndarray,
    times: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the probability of every action, a row for each view.

    An agent that draws its actions by probabilities that it reports is taken at its word. Any other
    agent is called `times` times, and the shares of its choices are returned. The views that it is
    given are its own.
    """
    if times < 1:
        raise AgentError(f"an agent must be called once or more, not {shown(times)} times")
    if isinstance(agent, Mixed) and getattr(agent, "sample", True):
        return agent.probabilities(views.copy())
    assert callable(agent)
    masks, every = legal_masks(views), np.arange(len(views))
    counts = np.zeros(masks.shape)
    for _ in range(times):
        chosen = agent(views.copy(), rng)
        wrong = np.flatnonzero(masks[every, chosen] == 0)
        if len(wrong):
            name = getattr(agent, "__name__", type(agent).__name__)
            raise IllegalMoveError(f"{name} chose {MOVES[chosen[wrong[0]]]}, which is not allowed")
        counts[every, chosen] += 1
    return counts / times
