"""`mix`: an agent that is drawn anew for every episode, for learners that meet many.

The draw is that of the environment, the tournament or the table, which know where episodes begin:
views do not tell. So the members of a mixture are drawn here and asked there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fiveup_env.checks import finite
from fiveup_env.errors import AgentError, shown
from fiveup_env.opponents.agent import unchecked
from fiveup_env.opponents.registry import MIX, begins_spec, make_agent, split_name
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.opponents.agent import Agent


@dataclass
class Mixture:
    """Plays each episode with one of several agents, `mix:greedy=0.5,partner=0.3,policy:FOLDER=1`.

    A member is a spec and its weight, the number after its last `=`; weights need not add up to 1.
    A part that begins with the name of an agent begins a member, and other parts are options of the
    member before them: `mix:pimc:worlds=50,playout=partner=2,greedy=1`.
    """

    members: str = field(metadata={"help": "specs, each with its weight"})

    def __post_init__(self) -> None:
        """Make the members; raise AgentError if there is no such agent."""
        specs, weights = zip(*members_of(self.members), strict=True)
        self.agents: list[Agent] = [make_agent(spec) for spec in specs]
        self._choices = [unchecked(agent) for agent in self.agents]
        self._bounds = np.cumsum(weights)[:-1] / sum(weights)

    def __call__(self, _views: np.ndarray, _rng: np.random.Generator) -> NoReturn:
        """Raise AgentError: whoever asks has to know the episode."""
        raise AgentError(
            f"a mixture is drawn for each episode, by environments, tournaments and tables: "
            f"name an agent here, not {MIX}:{self.members}"
        )

    def shares(self, chances: np.ndarray) -> list[tuple[Agent, np.ndarray]]:
        """Return the members that choose in some games, and the positions of their games.

        They are given views that the library has made.

        Args:
            chances: A number from 0 to 1 for the episode of each game, which draws its member.
        """
        drawn = np.searchsorted(self._bounds, chances, "right")
        return [(self._choices[k], np.flatnonzero(drawn == k)) for k in np.unique(drawn)]


def drawn(agent: Agent, *key: int | str) -> Agent:
    """Return the agent that plays an episode: the member that the key draws, if it is a mixture."""
    if not isinstance(agent, Mixture):
        return agent
    ((member, _),) = agent.shares(keyed_rng("mixture", *key).random(1))
    return member


def shares_of(agent: Agent, count: int, chances: Callable[[], Any]) -> list[tuple[Agent, Any]]:
    """Return the choosers for an agent in some games, and the positions of their games.

    Args:
        agent: A mixture, or any other agent, which chooses in all of them.
        count: The number of games.
        chances: For a mixture, a function that returns a number from 0 to 1 for the episode
            of each game.
    """
    if isinstance(agent, Mixture):
        return agent.shares(chances())
    return [(unchecked(agent), np.arange(count))]


def members_of(text: str) -> list[tuple[str, float]]:
    """Return the specs that a mixture names, each with its weight."""
    members: list[str] = []
    for part in filter(None, text.split(",")):
        if members and not begins_spec(part):
            members[-1] += f",{part}"
        else:
            members.append(part)
    return [_weighed(member) for member in members or [text]]


def _weighed(member: str) -> tuple[str, float]:
    spec, _, text = member.rpartition("=")
    try:
        weight = finite(float(text))
    except ValueError:
        weight = None
    if not spec or weight is None or weight <= 0:
        raise AgentError(
            f"a mixture names agents with weights above 0, such as {MIX}:greedy=0.5,partner=0.5 "
            f"(in a list of agents, last), not {shown(member)}"
        )
    if split_name(spec)[0] == MIX:
        raise AgentError(f"a mixture has no mixtures in it, such as {shown(spec)}")
    return spec, weight
