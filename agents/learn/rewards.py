"""What the learner is rewarded for, scaled so that values are of order 1.

margin    points of one's side less the others', whenever they are scored
outlook   how the chance to win the game has changed, when a hand ends
win       winning the game, when it ends
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from agents.learn.hindsight import take_back_points
from agents.play.outlook import chance_by_score, outlook_of, outlooks_of
from fiveup_env.compiled import Array, compiled, whole
from fiveup_env.engine import side_of
from fiveup_env.rules import MAX_PLAYERS

if TYPE_CHECKING:
    from fiveup_env.batch import Batch

POINTS_IN_ONE: Final = 5.0
HANDS_IN_A_CHANCE: Final = 8.0  # a hand changes the chance to win by an eighth or so

OF_THE_BATCH: Final = {"margin": "margin", "outlook": "win", "win": "win"}
AIMS: Final = {"margin": "hand", "outlook": "game"}  # what a search has to aim at, by the reward


class Rewards:
    """What every seat of every game was given by the last move."""

    def __init__(self, kind: str, batch: Batch) -> None:
        self._scale: np.ndarray = np.ones((len(batch), 1), np.float32)
        if kind == "margin":
            units = batch.games["table"]["rules"]["unit"].astype(np.float32)
            self._scale = 1 / (POINTS_IN_ONE * units[:, None])
        self._outlook = _Outlook(batch) if kind == "outlook" else None

    def of(self, batch: Batch, hand_over: np.ndarray) -> np.ndarray:
        """The rewards [games x seats], where some games' hands are over and the next have begun."""
        if self._outlook:
            return self._outlook.changes(batch, hand_over)
        return batch.reward * self._scale

    def state(self) -> dict[str, np.ndarray]:
        """What `restore` needs."""
        return {"chances": self._outlook.chances} if self._outlook else {}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a saved state."""
        if self._outlook:
            self._outlook.chances[:] = state["chances"]


class _Outlook:
    """Every seat's chance to win the game, as it was when the present hand began."""

    def __init__(self, batch: Batch) -> None:
        rules, self._which = np.unique(batch.games["table"]["rules"], return_inverse=True)
        self._tables = np.stack([outlook_of(one) for one in rules])
        self.chances = np.zeros_like(batch.reward)
        write_chances(batch.games, self._which, self._tables, self.chances)

    def changes(self, batch: Batch, hand_over: np.ndarray) -> np.ndarray:
        """How the chances changed where a hand is over; won or lost where the game is."""
        before, now = self.chances.copy(), self.chances
        write_chances(batch.games, self._which, self._tables, now)
        now[~hand_over] = before[~hand_over]
        came_to = np.where(batch.done[:, None], batch.reward > 0, now)
        return (HANDS_IN_A_CHANCE * (came_to - before)).astype(np.float32)


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
        table, rules = games[i].table, games[i].table.rules
        for seat in range(rules.players):
            side = side_of(rules, seat)
            leads = whole(side_of(rules, table.lead) == side)
            chances[i, seat] = chance_by_score(table, side, leads, tables[which[i]])
