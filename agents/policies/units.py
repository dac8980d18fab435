"""TODO."""

from __future__ import annotations

import copy
from typing import Final

import numpy as np

from fiveup_env.engine.compiled import Array, compiled, signed
from fiveup_env.engine.layout import attach
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import LAYOUT, NOBODY, side_of
from fiveup_env.opponents.outlook import chance_by_score, outlooks_of
from fiveup_env.rules.fields import MAX_PLAYERS

POINTS_IN_ONE: Final = 5.0
HANDS_IN_A_CHANCE: Final = 8.0  # a hand changes the chance to win by an eighth or so
AIMS: Final = {"margin": "hand", "outlook": "game"}  # what a search has to aim at, by the reward


class Units:
    """Turns what searches find for some views into what the learner is rewarded with, and back."""

    def __init__(self, views: np.ndarray, reward: str) -> None:
        self.chances, self.which = outlooks_of(views, AIMS[reward])
        self.starts, self.scale = np.zeros(len(views)), 1 / POINTS_IN_ONE
        if reward == "outlook":
            begun, chances = views.copy(), np.zeros((len(views), MAX_PLAYERS))
            take_back_points(begun)
            write_chances(begun, self.which, self.chances, chances)
            self.starts = chances[np.arange(len(views)), views["seat"]]
            self.scale = HANDS_IN_A_CHANCE

    def part(self, which: np.ndarray) -> Units:
        """Return the units of some of the views."""
        part = copy.copy(self)
        part.which, part.starts = self.which[which], self.starts[which]
        return part

    def rewards(self, worths: np.ndarray) -> np.ndarray:
        """What a hand still brings, by what it is worth (a number or a row for every view)."""
        return self.scale * (worths.T - self.starts).T

    def worths(self, rewards: np.ndarray) -> np.ndarray:
        """What a hand is worth, by what it still brings."""
        return (rewards.T / self.scale + self.starts).T


@compiled
def write_chances(games: Array, which: Array, tables: Array, chances: Array) -> None:
    """Every seat's chance, for the side that leads is known when a hand begins."""
    for i in range(len(games)):
        public, rules = games[i].public, games[i].public.rules
        for seat in range(rules.players):
            side = side_of(rules, seat)
            leads = signed(side_of(rules, public.lead) == side)
            chances[i, seat] = chance_by_score(public, side, leads, tables[which[i]])


def take_back_points(records: np.ndarray) -> None:
    """Take the points of the hand's plays from the scores of GAME or VIEW records.

    What an exact target has refused is taken, too: scores do not tell.
    """
    layouts = np.zeros(len(records), LAYOUT)
    layouts["spinner"] = NOBODY
    _take_back(records, layouts)


@compiled
def _take_back(records: Array, layouts: Array) -> None:
    """Set the tiles anew on empty layouts, and take what each has scored."""
    for i in range(len(records)):
        public, rules = records[i].public, records[i].public.rules
        for ply in range(public.plies):
            attach(rules, layouts[i], public.play_action[ply])
            points = FIVES[rules.multiple, layouts[i].total] * rules.unit
            public.scores[side_of(rules, public.play_seat[ply])] -= points
