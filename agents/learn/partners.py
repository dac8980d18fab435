"""Partners: agents that sit beside the learner in some of the games, and are not learnt from.

A learner that plays only with itself comes to rely on its own habits. In a share of the games, one
seat is played by an agent drawn from a population, so that the others learn to play with strangers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.opponents.mixtures import shares_of
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from agents.runs.config import Config
    from fiveup_env.envs.batch import Batch

NO_SEAT: Final = -1


class Partners:
    """The partners of a run: in which games they play, and in which seats."""

    def __init__(self, config: Config, batch: Batch) -> None:
        rules = batch.states["public"]["rules"]
        first = np.arange(len(batch)) < round(config.partner_share * len(batch))
        self._games = np.flatnonzero(first & (rules["sides"] < rules["players"]))
        self._players = rules["players"].astype(np.int64)
        self._agents = [make_agent(spec) for spec in config.partners]
        self.seat = np.full(len(batch), NO_SEAT)
        self.agent = np.zeros(len(batch), np.int64)  # which of the population

    def begin(self, rng: np.random.Generator) -> None:
        """Seat partners in the first games."""
        self._seat(self._games, rng)

    def to_move(self, batch: Batch) -> np.ndarray:
        """Return in which games it is a partner's turn."""
        return batch.turn == self.seat

    def move(
        self, batch: Batch, indices: np.ndarray, actions: np.ndarray, rng: np.random.Generator
    ) -> None:
        """Write the partners' actions for some of the games into `actions`."""
        for agent in np.unique(self.agent[indices]):
            games = indices[self.agent[indices] == agent]
            chances = partial(batch.chances, games, agent)
            for member, part in shares_of(self._agents[agent], len(games), chances):
                actions[games[part]] = member(batch.views(games[part]), rng)

    def meet(self, batch: Batch, rng: np.random.Generator) -> None:
        """Seat another partner where a game is over."""
        self._seat(self._games[batch.terminated[self._games] > 0], rng)

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of the arrays that `restore` needs."""
        return {"seat": self.seat.copy(), "agent": self.agent.copy()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue with the partners of a saved state."""
        self.seat[:], self.agent[:] = arrays["seat"], arrays["agent"]

    def _seat(self, games: np.ndarray, rng: np.random.Generator) -> None:
        if len(games):
            self.seat[games] = rng.integers(self._players[games])
            self.agent[games] = rng.integers(len(self._agents), size=len(games))
