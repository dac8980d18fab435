"""The opponents of a learner: one agent in all other seats, or one for each of them.

    FiveUpEnv(opponents="greedy")
    FiveUpEnv(opponents=["greedy", "partner", "greedy"])              # in order of play
    FiveUpEnv(seat=0, opponents={1: "greedy", 2: "partner", 3: "greedy"})

A list has an agent for every other seat, in order of play from the seat after the learner's: with
partners, the second of three is the learner's partner wherever the learner sits. A dict names seats
of the game, so it needs a learner with a fixed seat. A mixture has one member in an episode, in all
the seats that it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fiveup_env.errors import OptionError, SeatError, shown
from fiveup_env.opponents.agent import Agent, unchecked
from fiveup_env.opponents.mixtures import drawn, shares_of
from fiveup_env.opponents.registry import get_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Opponent: TypeAlias = str | Agent
OpponentChoice: TypeAlias = Opponent | Sequence[Opponent] | Mapping[int, Opponent]


class Opponents:
    """The agents in the seats around a learner.

    Attributes:
        agents: what chooses for them, each agent once.
    """

    def __init__(self, chosen: OpponentChoice, players: Iterable[int], seat: int | None) -> None:
        """Make the agents for games of these numbers of players, with the learner at `seat`.

        Raises OptionError or SeatError if there is not one agent for each of the other seats, and
        AgentError if there is no such agent.
        """
        listed = _listed(chosen, players, seat)
        made: dict[int | str, int] = {}
        self.agents: list[Agent] = []
        self._by_offset: list[int] = []  # the index in `agents`, by seats after the learner's
        for agent in listed:
            key = agent if isinstance(agent, str) else id(agent)
            if key not in made:
                made[key] = len(self.agents)
                self.agents.append(get_agent(agent))
            self._by_offset.append(made[key])
        self._everybody = len(self.agents) == 1

    def seated(self, learner: int, players: int, *key: int) -> dict[int, Agent]:
        """Return the chooser of each seat in an episode of a game, which a key names."""
        playing = [unchecked(drawn(agent, *key, k)) for k, agent in enumerate(self.agents)]
        offsets = range(1, players)
        return {
            (learner + offset) % players: playing[0 if self._everybody else self._by_offset[k]]
            for k, offset in enumerate(offsets)
        }

    def shares(
        self,
        seats: np.ndarray,
        learners: np.ndarray,
        players: np.ndarray,
        chances: Callable[[np.ndarray, int], np.ndarray],
    ) -> list[tuple[Agent, np.ndarray]]:
        """Return the choosers for the agents that are to move, and the positions of their games.

        They are given views that the library has made.

        Args:
            seats: The seat to move in each game, which is not the learner's.
            learners: The learner's seat in each game.
            players: The number of players of each game.
            chances: A function that returns a number from 0 to 1 for the episodes of the games at
                some positions and the k-th agent, which draws the members of mixtures.
        """
        if self._everybody:
            chosen = np.zeros(len(seats), np.int64)
        else:
            chosen = np.array(self._by_offset)[(seats - learners) % players - 1]
        shares = []
        for k, agent in enumerate(self.agents):
            positions = np.flatnonzero(chosen == k)
            for member, part in shares_of(agent, len(positions), partial(chances, positions, k)):
                shares.append((member, positions[part]))
        return [(agent, positions) for agent, positions in shares if len(positions)]


def _listed(chosen: object, players: Iterable[int], seat: int | None) -> list[Any]:
    """Return one agent for all seats, or one for each seat after the learner's, in play order."""
    if isinstance(chosen, str) or callable(chosen):
        return [chosen]
    if not isinstance(chosen, (Sequence, Mapping)):
        raise OptionError(
            f"opponents must be an agent or its spec, a list of them, or a dict by seat, not "
            f"{shown(chosen)}"
        )
    counts = sorted(set(players))
    if len(counts) > 1:
        raise OptionError(
            f"opponents by seat need games of one number of players, not of "
            f"{' and '.join(map(str, counts))}: give one agent for all seats"
        )
    (count,) = counts
    if isinstance(chosen, Mapping):
        return _in_order_of_play(chosen, count, seat)
    if len(chosen) != count - 1:
        raise OptionError(
            f"opponents must be one agent, or {count - 1} of them for {count} players, in order "
            f"of play after the learner, not {len(chosen)}"
        )
    return list(chosen)


def _in_order_of_play(chosen: Mapping[Any, Any], count: int, seat: int | None) -> list[Any]:
    """Return the agents of a dict by seat, from that of the seat after the learner's."""
    if seat is None:
        raise OptionError(
            "opponents by seat need a learner with a fixed seat, such as seat=0; a list has them "
            "in order of play after the learner, wherever that sits"
        )
    order = [(seat + k) % count for k in range(1, count)]
    if set(chosen) != set(order):
        raise SeatError(
            f"opponents must have an agent for each seat but the learner's, "
            f"{', '.join(map(str, sorted(order)))}, not for {shown(list(chosen))}"
        )
    return [chosen[other] for other in order]
