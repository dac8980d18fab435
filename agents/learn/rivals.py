"""Rivals: agents that play all sides but one in some of the games, and are not learnt from.

A rival is named by its spec or, if it is a past self, by the folder of its policy within the run's
folder. Rivals that are hard to beat are met more often.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.policies.agent import spec_of
from fiveup_env.errors import shown
from fiveup_env.opponents.mixtures import shares_of
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from pathlib import Path

    from agents.runs.config import Config
    from fiveup_env.envs.batch import Batch
    from fiveup_env.opponents.agent import Agent

NO_RIVAL: Final = -1
PAST: Final = re.compile(r"past/\d{6,}")  # the folder of a past self, in that of the run
ARRAYS: Final = ("rival", "side", "margin")  # what a run saves
MEMORY: Final = 0.02  # the weight of the latest game in the rate at which a rival is beaten
LEAST_WEIGHT: Final = 0.01  # so that even a rival that always loses is met sometimes


class Rivals:
    """The rivals of a run: in which games they play, and how often each is beaten."""

    def __init__(self, config: Config, batch: Batch, folder: Path) -> None:
        games = len(batch)
        self._with_rival = np.arange(games) >= games - round(config.rival_share * games)
        self._past_kept = config.past_kept
        self._folder, self._encoder = folder, config.encoder
        self._agents: dict[str, Agent] = {}
        self.past: list[str] = []
        self.specs: list[str] = []
        self.beaten: list[float] = []
        self.rival = np.full(games, NO_RIVAL)
        self.side = np.zeros(games, np.int64)  # the learner's side
        self.margin = np.zeros(games)  # of the learner's side, in the current game so far
        self._sides = batch.states["public"]["rules"]["sides"].astype(np.int64)
        self._configured = config.rivals if config.rival_share else ()
        for spec in self._configured:
            self._add(spec)

    def begin(self, rng: np.random.Generator) -> None:
        """Choose rivals for the first games."""
        self._seat(np.flatnonzero(self._with_rival), rng)

    def to_move(self, batch: Batch) -> np.ndarray:
        """Return in which games it is a rival's turn."""
        return (self.rival != NO_RIVAL) & (batch.turn % self._sides != self.side)

    def move(
        self, batch: Batch, indices: np.ndarray, actions: np.ndarray, rng: np.random.Generator
    ) -> None:
        """Write the rivals' actions for some of the games into `actions`."""
        for rival in np.unique(self.rival[indices]):
            games = indices[self.rival[indices] == rival]
            agent = self._agents[self.specs[rival]]
            for member, part in shares_of(agent, len(games), partial(batch.chances, games, rival)):
                actions[games[part]] = member(batch.views(games[part]), rng)

    def meet(self, batch: Batch, rng: np.random.Generator) -> None:
        """Record the last move's rewards, and choose a new rival where a game is over."""
        if not self._with_rival.any():
            return
        games = np.arange(len(batch))
        self.margin += batch.reward[games, self.side]
        over = np.flatnonzero(self._with_rival & batch.terminated)
        for game in over[self.rival[over] != NO_RIVAL]:
            won = (1 + np.sign(self.margin[game])) / 2
            self.beaten[self.rival[game]] += MEMORY * (won - self.beaten[self.rival[game]])
        self._seat(over, rng)

    def join(self, past: str) -> None:
        """Add a past self; if there are now too many, remove the one that is beaten most often.

        The learner takes over its seats in the games that it was playing.
        """
        self.past.append(past)
        self._add(past)
        if len(self.past) > self._past_kept:
            easiest = max(self.past, key=lambda past: self.beaten[self.specs.index(past)])
            gone = self.specs.index(easiest)
            self.rival[self.rival == gone] = NO_RIVAL
            self.rival[self.rival > gone] -= 1
            self.past.remove(easiest)
            del self.specs[gone], self.beaten[gone], self._agents[easiest]

    def state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return copies of the arrays and the values that `restore` needs."""
        arrays = {name: getattr(self, name).copy() for name in ARRAYS}
        return arrays, {"beaten": [*self.beaten], "past": [*self.past]}

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue with the rivals of a saved state."""
        self.beaten, self.past = [*about["beaten"]], [*about["past"]]
        if not all(map(PAST.fullmatch, self.past)):
            raise ValueError(f"{shown(self.past)} are not past selves of the run")
        for name in ARRAYS:
            getattr(self, name)[:] = arrays[name]
        self.specs = [*self._configured, *self.past]
        self._agents = {spec: self._make(spec) for spec in self.specs}

    def _add(self, spec: str) -> None:
        self._agents[spec] = self._make(spec)
        self.specs.append(spec)
        self.beaten.append(0.5)

    def _make(self, spec: str) -> Agent:
        if spec in self.past:
            return make_agent(f"{spec_of(self._folder / spec, self._encoder)},sample=1")
        return make_agent(spec)

    def _seat(self, games: np.ndarray, rng: np.random.Generator) -> None:
        """Choose a rival and the learner's side for games that are about to begin."""
        self.margin[games] = 0
        self.side[games] = rng.integers(self._sides[games])
        if self.specs:
            hard = (1 - np.array(self.beaten)) ** 2 + LEAST_WEIGHT
            self.rival[games] = rng.choice(len(hard), len(games), p=hard / hard.sum())
