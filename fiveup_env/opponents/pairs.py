"""`pair` and `seats`: agents each of whose seats another agent plays."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, fields

import numpy as np

from fiveup_env.errors import AgentError
from fiveup_env.opponents.agent import Agent, CompiledAgent, unchecked
from fiveup_env.opponents.mixtures import Mixture
from fiveup_env.opponents.registry import get_agent
from fiveup_env.opponents.rng import keyed_rng


@dataclass
class _Seated(CompiledAgent):
    """Plays with several agents, its members, each of which has seats of its own."""

    def __post_init__(self) -> None:
        """Make the members; raise AgentError if there is no such agent."""
        given = [getattr(self, option.name) for option in fields(self)]
        members = [get_agent(member) for member in given if member is not None]
        if None in given[: len(members)]:
            missing = fields(self)[given.index(None)].name
            raise AgentError(f"seats are filled in order: name the {missing}")
        if any(isinstance(member, Mixture) for member in members):
            name = type(self).__name__.lower()
            raise AgentError(f"{name} has no mixtures in it; a mixture may have {name} in it")
        self._members = [unchecked(member) for member in members]

    @abstractmethod
    def _numbers(self, views: np.ndarray) -> np.ndarray:
        """Return the number of the member that plays each view."""

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view; the members draw from generators of their own."""
        actions, key = np.empty(len(views), np.int64), int(rng.integers(1 << 63))
        numbers = self._numbers(views)
        for number, member in enumerate(self._members):
            asked = np.flatnonzero(numbers == number)
            if len(asked):
                actions[asked] = member(views[asked], keyed_rng("pair", number, key))
        return actions


@dataclass
class Pair(_Seated):
    """Plays a side with two agents as partners, `pair:greedy,second=policy:partners`.

    The first has the lower of the side's two seats. Where everybody plays alone, it plays. Options
    of a member follow it: `pair:pimc:worlds=50,playout=partner,second=policy:family,sample=1`.
    """

    first: str | Agent = field(metadata={"help": "the agent in the lower seat"})
    second: str | Agent = field(metadata={"help": "the agent in the upper seat"})

    def _numbers(self, views: np.ndarray) -> np.ndarray:
        return views["seat"] >= views["public"]["rules"]["sides"]


@dataclass
class Seats(_Seated):
    """Plays every seat with an agent of its own, `seats:policy:A,second=policy:B`.

    The first has seat 0, the second seat 1; where there are more seats than agents, the first
    follows the last. So two agents have a side each, and four a seat each.
    """

    first: str | Agent = field(metadata={"help": "the agent in seat 0"})
    second: str | Agent = field(metadata={"help": "the agent in seat 1"})
    third: str | Agent | None = field(default=None, metadata={"help": "the agent in seat 2"})
    fourth: str | Agent | None = field(default=None, metadata={"help": "the agent in seat 3"})
    fifth: str | Agent | None = field(default=None, metadata={"help": "the agent in seat 4"})

    def _numbers(self, views: np.ndarray) -> np.ndarray:
        return views["seat"] % len(self._members)
