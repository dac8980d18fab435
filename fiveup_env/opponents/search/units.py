"""Units: between the values that a search finds and the rewards that a learner counts.

A search with `aim=hand` values points, and one with `aim=game` chances to win. A learner counts
rewards of order 1: points divided by POINTS_IN_ONE, or changes in the chance to win multiplied by
HANDS_IN_A_CHANCE (see `outlook.py`). A policy's metadata name the reward, and so the units of its
values.
"""

from __future__ import annotations

import copy
from typing import Final

import numpy as np

from fiveup_env.engine.compiled import Array, compiled, signed
from fiveup_env.engine.layout import attach, clear
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import LAYOUT, side_of
from fiveup_env.opponents.search.outlook import chance_by_score, outlooks_of
from fiveup_env.rules.fields import MAX_PLAYERS

POINTS_IN_ONE: Final = 5.0
HANDS_IN_A_CHANCE: Final = 8.0  # a hand changes the chance to win by about an eighth
SWING: Final = 10  # points by which stakes move the scores, up and down
LEAST_STAKE: Final = 0.1  # where the game is all but decided
AIMS: Final = {"margin": "hand", "outlook": "game"}  # of a search, by the learner's reward


class Units:
    """Converts the values that searches find for some views to the learner's rewards, and back."""

    def __init__(self, views: np.ndarray, reward: str) -> None:
        self.chances, self.which = outlooks_of(views, AIMS[reward])
        self.starts, self.scale = np.zeros(len(views)), 1 / POINTS_IN_ONE
        self.begun = None
        if reward == "outlook":
            self.begun = views.copy()
            take_back_points(self.begun)
            self.starts = self._chances(self.begun)
            self.scale = HANDS_IN_A_CHANCE

    def stakes(self) -> np.ndarray:
        """Return the reward for POINTS_IN_ONE points, at the scores with which each hand began.

        Rewards that are divided by it weigh alike at all scores, and are in the units of `margin`.
        """
        if self.begun is None:
            return np.ones(len(self.which))
        moved = []
        for points in (SWING, -SWING):
            views = self.begun.copy()
            public = views["public"]
            side = views["seat"] % public["rules"]["sides"]
            public["scores"][np.arange(len(views)), side] += points * public["rules"]["unit"]
            moved.append(self._chances(views))
        stakes = self.scale * (moved[0] - moved[1]) * POINTS_IN_ONE / (2 * SWING)
        return np.maximum(LEAST_STAKE, stakes)

    def _chances(self, views: np.ndarray) -> np.ndarray:
        """Return the chance to win of every view's side, by the scores."""
        chances = np.zeros((len(views), MAX_PLAYERS))
        write_chances(views, self.which, self.chances, chances)
        return chances[np.arange(len(views)), views["seat"]]

    def part(self, which: np.ndarray) -> Units:
        """Return the units of some of the views."""
        part = copy.copy(self)
        part.which, part.starts = self.which[which], self.starts[which]
        part.begun = None if self.begun is None else self.begun[which]
        return part

    def rewards(self, values: np.ndarray) -> np.ndarray:
        """Return the rewards still to come for values, a number or a row for every view."""
        return self.scale * (values.T - self.starts).T

    def values(self, rewards: np.ndarray) -> np.ndarray:
        """Return the values for rewards still to come; the inverse of `rewards`."""
        return (rewards.T / self.scale + self.starts).T


@compiled
def write_chances(games: Array, which: Array, tables: Array, chances: Array) -> None:
    """Write every seat's chance to win at the beginning of a hand, when the leader is known."""
    for i in range(len(games)):
        public, rules = games[i].public, games[i].public.rules
        for seat in range(rules.players):
            side = side_of(rules, seat)
            leads = signed(side_of(rules, public.lead) == side)
            chances[i, seat] = chance_by_score(public, side, leads, tables[which[i]])


def take_back_points(structs: np.ndarray) -> None:
    """Subtract the points of the hand's plays from the scores of GAME or VIEW structs.

    Points that an exact target refused are subtracted too: the scores do not show which were.
    """
    _take_back(structs, np.zeros(1, LAYOUT))


@compiled
def _take_back(structs: Array, layouts: Array) -> None:
    """Replay the tiles on an empty layout, and subtract what each has scored."""
    layout = layouts[0]
    for i in range(len(structs)):
        public, rules = structs[i].public, structs[i].public.rules
        clear(layout)
        for ply in range(public.plies):
            attach(rules, layout, public.play_action[ply])
            points = FIVES[rules.multiple, layout.total] * rules.unit
            public.scores[side_of(rules, public.play_seat[ply])] -= points
