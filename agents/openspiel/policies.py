"""Our agents as OpenSpiel's policies and bots."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import fiveup_env.adapters.openspiel  # noqa: F401 - it says how to install what comes next

# isort: split
import numpy as np
import pyspiel
from open_spiel.python import policy

from fiveup_env.opponents.action_probabilities import probabilities_of
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from fiveup_env.adapters.openspiel import FiveUpGame, FiveUpState
    from fiveup_env.opponents.agent import Agent


class AgentPolicy(policy.Policy):
    """What an agent does, as probabilities: those that it tells, or the shares of its answers.

    Answers depend on the information state and the seed alone. Many algorithms ask often: a small
    game's whole policy is made once by `policy.tabular_policy_from_callable`.
    """

    def __init__(
        self, game: FiveUpGame, agent: str | Agent, samples: int = 1, seed: int = 0
    ) -> None:
        """An agent, given as such or by its spec; how often it is asked if it tells nothing."""
        super().__init__(game, range(game.num_players()))
        self._agent = make_agent(agent) if isinstance(agent, str) else agent
        self._samples, self._seed = samples, seed

    def action_probabilities(
        self, state: FiveUpState, player_id: int | None = None
    ) -> dict[int, float]:
        """How probably the seat to move does each thing that is allowed."""
        seat = state.current_player() if player_id is None else player_id
        text = state.information_state_string(seat)
        random = np.random.default_rng([self._seed, crc32(text.encode())])
        legal = state.legal_actions()
        view, mask = state.course.view(seat), state.course.mask()[None]
        (shares,) = probabilities_of(self._agent, view, mask, self._samples, random)
        return {action: float(shares[action]) for action in legal}


class AgentBot(pyspiel.Bot):
    """An agent that plays any seat wherever OpenSpiel lets bots play."""

    def __init__(self, agent: str | Agent, seed: int = 0) -> None:
        """Let an agent play, given as such or by its spec."""
        super().__init__()
        self._agent = make_agent(agent) if isinstance(agent, str) else agent
        self._random = np.random.default_rng(seed)

    def step(self, state: FiveUpState) -> int:
        """What the agent does as the seat to move."""
        view, mask = state.course.view(state.current_player()), state.course.mask()[None]
        return int(self._agent(view, mask, self._random)[0])

    def restart_at(self, state: FiveUpState) -> None:
        """Nothing is kept from one state to the next."""
