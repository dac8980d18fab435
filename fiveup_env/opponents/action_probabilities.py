"""How probably an agent does what: by its own word, or by what it did when it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from fiveup_env.errors import AgentError, IllegalMoveError
from fiveup_env.rules.actions import MOVES

if TYPE_CHECKING:
    from fiveup_env.opponents.agent import Agent


@runtime_checkable
class Mixed(Protocol):
    """An agent that tells its probabilities; an option `sample` may say that it does not draw."""

    def probabilities(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The probability of every action, a row for each view."""


def probabilities_of(
    agent: Agent | Mixed,
    views: np.ndarray,
    masks: np.ndarray,
    times: int,
    random: np.random.Generator,
) -> np.ndarray:
    """The probability of every action, a row for each view.

    One that draws its actions by probabilities that it tells is taken at its word; any other one is
    asked so many times, and what it did is how it plays.
    """
    if times < 1:
        raise AgentError(f"an agent is asked once or more, not {times!r} times")
    if isinstance(agent, Mixed) and getattr(agent, "sample", True):
        return agent.probabilities(views, masks)
    assert callable(agent)
    counts, every = np.zeros(masks.shape), np.arange(len(views))
    for _ in range(times):
        chosen = agent(views, masks, random)
        wrong = np.flatnonzero(masks[every, chosen] == 0)
        if len(wrong):
            raise IllegalMoveError(
                f"{type(agent).__name__} chose {MOVES[chosen[wrong[0]]]}, which is not allowed"
            )
        counts[every, chosen] += 1
    return counts / times
