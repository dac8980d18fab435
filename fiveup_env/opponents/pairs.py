"""`pair`: two agents as partners of each other, as strangers who meet at a table are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fiveup_env.errors import AgentError
from fiveup_env.opponents.agent import Agent, CompiledAgent, unchecked
from fiveup_env.opponents.mixtures import Mixture
from fiveup_env.opponents.registry import get_agent
from fiveup_env.opponents.rng import keyed_rng


@dataclass
class Pair(CompiledAgent):
    """Plays a side with two agents as partners, `pair:greedy,second=policy:partners`.

    The first has the lower of the side's two seats. Where everybody plays alone, it plays. Options
    of a member follow it: `pair:pimc:worlds=50,playout=partner,second=policy:family,sample=1`.
    """

    first: str | Agent = field(metadata={"help": "the agent in the lower seat"})
    second: str | Agent = field(metadata={"help": "the agent in the upper seat"})

    def __post_init__(self) -> None:
        """Make the members; raise AgentError if there is no such agent."""
        members = [get_agent(one) for one in (self.first, self.second)]
        if any(isinstance(member, Mixture) for member in members):
            raise AgentError("a pair has no mixtures in it; a mixture may have pairs")
        self._members = [unchecked(member) for member in members]

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view; the members draw from generators of their own."""
        actions, key = np.empty(len(views), np.int64), int(rng.integers(1 << 63))
        upper = views["seat"] >= views["public"]["rules"]["sides"]
        for place, member in enumerate(self._members):
            asked = np.flatnonzero(upper == place)
            if len(asked):
                actions[asked] = member(views[asked], keyed_rng("pair", place, key))
        return actions
