"""What an agent does in every information state of a small game, as a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import numpy as np

from fiveup_env.actions import ACTION_COUNT, MOVES
from fiveup_env.errors import IllegalMoveError

if TYPE_CHECKING:
    from agents.exact.form import Form
    from fiveup_env.opponents import Policy

TIMES: Final = 100  # that an agent is asked which does not tell its probabilities


@runtime_checkable
class Mixed(Protocol):
    """An agent that tells its probabilities; an option `sample` may say that it does not draw."""

    def probabilities(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """The probability of every action, a row for each view."""


def profile_of(form: Form, agent: Policy | Mixed, times: int = TIMES, seed: int = 0) -> np.ndarray:
    """The profile in which every seat is an agent's.

    One that draws its actions by probabilities that it tells is taken at its word; any other one is
    asked some times, and what it did is how it plays.
    """
    views, players = form.views(), form.rules.players
    state = np.repeat(np.arange(len(views)), form.widths)
    actions = form.actions[players:]
    masks = np.zeros((len(views), ACTION_COUNT), np.int8)
    masks[state, actions] = 1
    if isinstance(agent, Mixed) and getattr(agent, "sample", True):
        weights = agent.probabilities(views, masks)
    else:
        assert callable(agent)
        weights = _frequencies(agent, views, masks, times, seed)
    return form.normalised(np.concatenate([np.zeros(players), weights[state, actions]]))


def _frequencies(
    agent: Policy, views: np.ndarray, masks: np.ndarray, times: int, seed: int
) -> np.ndarray:
    """How often an agent chose every action when it was asked some times."""
    counts, every = np.zeros(masks.shape), np.arange(len(views))
    random = np.random.default_rng(seed)
    for _ in range(times):
        chosen = agent(views, masks, random)
        wrong = np.flatnonzero(masks[every, chosen] == 0)
        if len(wrong):
            raise IllegalMoveError(
                f"{type(agent).__name__} chose {MOVES[chosen[wrong[0]]]}, which is not allowed"
            )
        counts[every, chosen] += 1
    return counts
