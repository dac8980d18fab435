"""Luck and skill: what the deals were worth, and what was made of them.

A reference player plays every deal in all seats, each seat knowing only its own hand. What that
brings, against the chance to win before the deal, is the luck of the deal; what the players brought
home, against the reference player, is their skill. So for every side

    chance before the first deal + luck of all hands + skill of all hands = chance at the end

where the chance at the end of a finished game is 1 or 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.analysis.chances import chances_by_score, moments_of
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.state import GAME, PLAYING, Games
from fiveup_env.native import DoubleRows, Doubles, compiled
from fiveup_env.opponents.heuristics.features import SCRATCH, Scratches
from fiveup_env.opponents.heuristics.ladder import weights_of
from fiveup_env.opponents.search.outlook import chance_to_win, outlook_of
from fiveup_env.opponents.search.playouts import play_out

if TYPE_CHECKING:
    from fiveup_env.game.game import Game

PLAYER: Final = "partner"  # the heuristic that plays every deal again
TIMES: Final = 16  # how often: it breaks ties at random


@dataclass(frozen=True)
class HandLuck:
    """A hand that was played to its end: every side's chance to win at three moments."""

    hand: int
    before: tuple[float, ...]  # before the deal
    worth: tuple[float, ...]  # after the reference player has played the deal
    after: tuple[float, ...]  # after the hand as it was played

    def luck(self, side: int) -> float:
        """Return by how much the deal raised a side's chance."""
        return self.worth[side] - self.before[side]

    def skill(self, side: int) -> float:
        """Return by how much the play raised a side's chance beyond what the deal was worth."""
        return self.after[side] - self.worth[side]


def luck_of(game: Game, player: str = PLAYER) -> list[HandLuck]:
    """Return the luck and the skill of every finished hand; `player` is a rung of the ladder."""
    hands: list[HandLuck] = []
    before, dealt = _chances_at_start(game), None
    for moment in moments_of(game):
        public = moment.state[0]["public"]
        if public["phase"] == PLAYING:
            if public["plies"] == 0 and public["drawn"] == 0:
                dealt = moment.state
            continue
        assert dealt is not None
        after = tuple(chances_by_score(moment.state))
        worth = tuple(_worth_of(dealt, player).tolist())
        hands.append(HandLuck(int(public["hand_number"]), before, worth, after))
        before = after
    return hands


def _chances_at_start(game: Game) -> tuple[float, ...]:
    """Return every side's chance before the first deal: no hand has ended, and the lot decides."""
    state = np.zeros(1, GAME)
    state["public"]["rules"] = game.rules.to_struct()
    return tuple(chances_by_score(state))


def _worth_of(dealt: np.ndarray, player: str) -> np.ndarray:
    rules = dealt[0]["public"]["rules"]
    worth = np.zeros(int(rules["sides"]))
    play_deal(dealt, weights_of(player), outlook_of(rules), np.zeros(1, SCRATCH), TIMES, worth)
    return worth


@compiled
def play_deal(
    dealt: Games,
    weights: Doubles,
    chances: DoubleRows,
    scratch: Scratches,
    times: int,
    worth: Doubles,
) -> None:
    """Write every side's mean chance after a heuristic has played the deal in all seats."""
    trial = np.empty(1, GAME)
    for k in range(times):
        trial[0] = dealt[0]
        play_out(trial[0], weights, scratch[0], scramble(np.uint64(k)))
        for side in range(len(worth)):
            worth[side] += chance_to_win(trial[0].public, side, chances) / times
