"""Turn an agent's play in every information state of a small game into a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.opponents.action_probabilities import probabilities_of
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    from fiveup_env.exact.form import Form
    from fiveup_env.opponents.action_probabilities import Mixed
    from fiveup_env.opponents.agent import Agent

TIMES: Final = 100  # how often to ask an agent that does not report its probabilities


def profile_of(form: Form, agent: Agent | Mixed, times: int = TIMES, seed: int = 0) -> np.ndarray:
    """Return the profile in which an agent plays every seat.

    An agent that does not report its probabilities is asked `times` times in every information
    state.
    """
    views, players = form.views, form.rules.players
    state = np.repeat(np.arange(len(views)), form.widths)
    actions = form.actions[players:]
    shares = probabilities_of(agent, views, times, keyed_rng("profile", seed))
    return form.normalised(np.concatenate([np.zeros(players), shares[state, actions]]))
