"""Convert search values (points or chances to win) to learner rewards, and back.

Rewards are of order 1: points divided by POINTS_IN_ONE, or changes in the chance to win multiplied
by HANDS_IN_A_CHANCE. A policy's metadata name the reward, and so the units of its values.
"""

from __future__ import annotations

import copy
from typing import Final

import numpy as np

from fiveup_env.engine.layout import attach, clear
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import LAYOUT, VIEW, Games, Views, side_of
from fiveup_env.native import (
    Array,
    DoubleRows,
    Doubles,
    DoubleTables,
    FloatRows,
    Int64s,
    Struct,
    compiled,
    inlined,
    inner,
    signed,
    uncompiled,
)
from fiveup_env.opponents.search.outlook import chance_by_score, outlooks_of

POINTS_IN_ONE: Final = 5.0
HANDS_IN_A_CHANCE: Final = 8.0  # a hand changes the chance to win by about an eighth
SWING: Final = 10  # points by which stakes move the scores, up and down
LEAST_STAKE: Final = 0.1  # where the game is all but decided
AIMS: Final = {"margin": "hand", "outlook": "game"}  # of a search, by the learner's reward


class Units:
    """Converts search values of some views to the learner's rewards, and back.

    `stakes` are the rewards for POINTS_IN_ONE points at the scores with which each hand began.
    Rewards that are divided by them weigh alike at all scores, and are in the units of `margin`.
    """

    def __init__(self, views: np.ndarray, reward: str) -> None:
        self.chances, self.table_indices = outlooks_of(views, AIMS[reward])
        self.scale = uncompiled(scale_of, self.chances[0])
        self.starts, self.stakes = np.zeros(len(views)), np.ones(len(views))
        if reward == "outlook":
            write_units(views, self.table_indices, self.chances, self.starts, self.stakes)

    def part(self, indices: np.ndarray) -> Units:
        """Return the units of some of the views."""
        part = copy.copy(self)
        part.table_indices = self.table_indices[indices]
        part.starts, part.stakes = self.starts[indices], self.stakes[indices]
        return part

    def rewards(self, values: np.ndarray) -> np.ndarray:
        """Return the rewards still to come for values, a number or a row for every view."""
        return self.scale * (values.T - self.starts).T

    def values(self, rewards: np.ndarray) -> np.ndarray:
        """Return the values for rewards still to come; the inverse of `rewards`."""
        return (rewards.T / self.scale + self.starts).T


@inlined
def scale_of(chances: DoubleRows) -> float:
    """Return the reward for a value of 1, a point if there are no chances to win."""
    return HANDS_IN_A_CHANCE if chances.size else 1 / POINTS_IN_ONE


@compiled
def write_units(
    views: Views, table_indices: Int64s, tables: DoubleTables, starts: Doubles, stakes: Doubles
) -> None:
    """Write the chance to win with which each view's hand began, and the stakes."""
    begun, layout = np.empty(1, VIEW), np.zeros(1, LAYOUT)
    for i in range(len(views)):
        begun[0] = views[i]
        public, chances = begun[0].public, tables[table_indices[i]]
        rules = public.rules
        side = side_of(rules, views[i].seat)
        leads = signed(side_of(rules, public.lead) == side)
        take_back_points(public, layout[0], public.scores)
        starts[i] = chance_by_score(public, side, leads, chances)
        public.scores[side] += SWING * rules.unit
        above = chance_by_score(public, side, leads, chances)
        public.scores[side] -= 2 * SWING * rules.unit
        below = chance_by_score(public, side, leads, chances)
        swing = HANDS_IN_A_CHANCE * (above - below)
        stakes[i] = max(LEAST_STAKE, swing * POINTS_IN_ONE / (2 * SWING))


@compiled
def write_chances(
    games: Games, table_indices: Int64s, tables: DoubleTables, chances: FloatRows
) -> None:
    """Write every seat's chance to win at the beginning of a hand, when the leader is known."""
    for i in range(len(games)):
        write_seats_chances(games[i].public, tables[table_indices[i]], chances, i)


@inlined
def write_seats_chances(public: Struct, table: Array, chances: Array, i: int) -> None:
    """Write every seat's chance to win, in row i, at the beginning of a hand."""
    rules = public.rules
    for seat in range(rules.players):
        side = side_of(rules, seat)
        leads = signed(side_of(rules, public.lead) == side)
        chances[i, seat] = chance_by_score(public, side, leads, table)


@inner
def take_back_points(public: Struct, layout: Struct, scores: Array) -> None:
    """Subtract the points of the hand's plays from the scores by side.

    Points that an exact target refused are subtracted too: the scores do not show which were.
    """
    rules = public.rules
    clear(layout)
    for ply in range(public.plies):
        attach(rules, layout, public.play_action[ply])
        points = FIVES[rules.multiple, layout.total] * rules.unit
        scores[side_of(rules, public.play_seat[ply])] -= points
