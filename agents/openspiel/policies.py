"""Our agents as OpenSpiel's policies and bots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fiveup_env.doors.openspiel  # noqa: F401 - its error says how to install OpenSpiel

# isort: split
import pyspiel
from open_spiel.python import policy

from fiveup_env.opponents.action_probabilities import probabilities_of
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    from fiveup_env.doors.openspiel import FiveUpGame, FiveUpState
    from fiveup_env.opponents.agent import Agent


class AgentPolicy(policy.Policy):
    """The action probabilities of an agent: those it reports, or the shares of what it chooses.

    They depend only on the information state and the seed. Many algorithms ask often: make the
    whole policy of a small game once, with `policy.tabular_policy_from_callable`.
    """

    def __init__(
        self, game: FiveUpGame, agent: str | Agent, samples: int = 1, seed: int = 0
    ) -> None:
        """Make the policy of an agent or its spec.

        An agent that does not report its probabilities is asked `samples` times.
        """
        super().__init__(game, range(game.num_players()))
        self._agent = make_agent(agent) if isinstance(agent, str) else agent
        self._samples, self._seed = samples, seed

    def action_probabilities(
        self, state: FiveUpState, player_id: int | None = None
    ) -> dict[int, float]:
        """Return the probability of each legal action."""
        seat = state.current_player() if player_id is None else player_id
        text = state.information_state_string(seat)
        rng = keyed_rng("OpenSpiel policy", self._seed, text)
        legal = state.legal_actions()
        view = state.playthrough.view(seat)
        (shares,) = probabilities_of(self._agent, view, self._samples, rng)
        return {action: float(shares[action]) for action in legal}


class AgentBot(pyspiel.Bot):
    """An agent that plays any seat wherever OpenSpiel lets bots play."""

    def __init__(self, agent: str | Agent, seed: int = 0) -> None:
        """Make a bot of an agent or its spec."""
        super().__init__()
        self._agent = make_agent(agent) if isinstance(agent, str) else agent
        self._rng = keyed_rng("OpenSpiel bot", seed)

    def step(self, state: FiveUpState) -> int:
        """Return the agent's action for the seat to move."""
        view = state.playthrough.view(state.current_player())
        return int(self._agent(view, self._rng)[0])

    def restart_at(self, state: FiveUpState) -> None:
        """Do nothing: the bot remembers nothing between states."""
