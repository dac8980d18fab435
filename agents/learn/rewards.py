"""What the learner is rewarded for, scaled so that values are of order 1.

margin    points of one's side less the others', whenever they are scored
outlook   how the chance to win the game has changed, when a hand ends
win       winning the game, when it ends
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.opponents.outlook import outlook_of

if TYPE_CHECKING:
    from fiveup_env.envs.batch import Batch
from agents.policies.units import HANDS_IN_A_CHANCE, POINTS_IN_ONE, write_chances

OF_THE_BATCH: Final = {"margin": "margin", "outlook": "win", "win": "win"}


class Rewards:
    """What every seat of every game was given by the last move."""

    def __init__(self, kind: str, batch: Batch) -> None:
        self._scale: np.ndarray = np.ones((len(batch), 1), np.float32)
        if kind == "margin":
            units = batch.states["public"]["rules"]["unit"].astype(np.float32)
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
        rules, self._which = np.unique(batch.states["public"]["rules"], return_inverse=True)
        self._tables = np.stack([outlook_of(one) for one in rules])
        self.chances = np.zeros_like(batch.reward)
        write_chances(batch.states, self._which, self._tables, self.chances)

    def changes(self, batch: Batch, hand_over: np.ndarray) -> np.ndarray:
        """How the chances changed where a hand is over; won or lost where the game is."""
        before, now = self.chances.copy(), self.chances
        write_chances(batch.states, self._which, self._tables, now)
        now[~hand_over] = before[~hand_over]
        came_to = np.where(batch.done[:, None], batch.reward > 0, now)
        return (HANDS_IN_A_CHANCE * (came_to - before)).astype(np.float32)
