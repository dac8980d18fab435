"""Rivals: agents that play all sides but one in some of the games, and are not learnt from.

They are agents by spec, and past selves by the folder of their policy within the run's. Who is
hard to beat is met more often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.runs.config import Config
    from fiveup_env.envs.batch import Batch
    from fiveup_env.opponents.agent import Agent

NO_RIVAL: Final = -1
MEMORY: Final = 0.02  # the weight of the newest game in the share of games that beat a rival
LEAST_WEIGHT: Final = 0.01


class Rivals:
    """Who plays against the learner, in which games, and how often it was beaten."""

    def __init__(self, config: Config, batch: Batch, folder: Path) -> None:
        games = len(batch)
        self._with_rival = np.arange(games) >= games - round(config.rival_share * games)
        self._past_kept = config.past_kept
        self._folder = folder
        self._agents: dict[str, Agent] = {}
        self.past: list[str] = []
        self.specs: list[str] = []
        self.beaten: list[float] = []
        self.rival = np.full(games, NO_RIVAL)
        self.side = np.zeros(games, np.int64)  # the learner's
        self.margin = np.zeros(games)  # of the learner's side so far
        self._sides = batch.states["public"]["rules"]["sides"].astype(np.int64)
        for spec in config.rivals if config.rival_share else ():
            self._add(spec)

    def begin(self, chance: np.random.Generator) -> None:
        """Find rivals for the first games."""
        self._seat(np.flatnonzero(self._with_rival), chance)

    def to_move(self, batch: Batch) -> np.ndarray:
        """Where it is a rival's turn."""
        return (self.rival != NO_RIVAL) & (batch.turn % self._sides != self.side)

    def move(
        self, batch: Batch, which: np.ndarray, actions: np.ndarray, chance: np.random.Generator
    ) -> None:
        """Write the rivals' actions in some of the games."""
        for rival in np.unique(self.rival[which]):
            games = which[self.rival[which] == rival]
            agent = self._agents[self.specs[rival]]
            actions[games] = agent(batch.views(games), batch.mask[games], chance)

    def meet(self, batch: Batch, chance: np.random.Generator) -> None:
        """Take in what the last move brought; where a game is over, another rival sits down."""
        if not self._with_rival.any():
            return
        games = np.arange(len(batch))
        self.margin += batch.reward[games, self.side]
        over = np.flatnonzero(self._with_rival & batch.done)
        for game in over[self.rival[over] != NO_RIVAL]:
            won = (1 + np.sign(self.margin[game])) / 2
            self.beaten[self.rival[game]] += MEMORY * (won - self.beaten[self.rival[game]])
        self._seat(over, chance)

    def join(self, past: str) -> None:
        """Let a past self join; where there are too many, the most beaten one leaves.

        A game that it was playing goes on with the learner in its seats.
        """
        self.past.append(past)
        self._add(past)
        if len(self.past) > self._past_kept:
            easiest = max(self.past, key=lambda one: self.beaten[self.specs.index(one)])
            gone = self.specs.index(easiest)
            self.rival[self.rival == gone] = NO_RIVAL
            self.rival[self.rival > gone] -= 1
            self.past.remove(easiest)
            del self.specs[gone], self.beaten[gone], self._agents[easiest]

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and values for `restore`."""
        arrays = {"rival": self.rival, "side": self.side, "margin": self.margin}
        return arrays, {"specs": self.specs, "beaten": self.beaten, "past": self.past}

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Go on with the rivals of a saved state."""
        self.specs, self.beaten, self.past = about["specs"], about["beaten"], about["past"]
        self._agents = {spec: self._made(spec) for spec in self.specs}
        self.rival[:], self.side[:] = arrays["rival"], arrays["side"]
        self.margin[:] = arrays["margin"]

    def _add(self, spec: str) -> None:
        self._agents[spec] = self._made(spec)
        self.specs.append(spec)
        self.beaten.append(0.5)

    def _made(self, spec: str) -> Agent:
        if spec in self.past:
            return make_agent(f"policy:{self._folder / spec},sample=1")
        return make_agent(spec)

    def _seat(self, games: np.ndarray, chance: np.random.Generator) -> None:
        """Choose a rival and the learner's side for games that begin."""
        self.margin[games] = 0
        self.side[games] = chance.integers(self._sides[games])
        if self.specs:
            hard = (1 - np.array(self.beaten)) ** 2 + LEAST_WEIGHT
            self.rival[games] = chance.choice(len(hard), len(games), p=hard / hard.sum())
