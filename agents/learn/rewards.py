"""The learner's rewards, scaled so that values are of order 1.

margin    the points of one's own side less the others', whenever points are scored
outlook   the change in the chance to win the game, at the end of each hand
win       winning the game, at its end
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.native import read_only
from fiveup_env.opponents.search.outlook import outlook_of
from fiveup_env.opponents.search.units import HANDS_IN_A_CHANCE, POINTS_IN_ONE, write_chances

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fiveup_env.envs.batch import Batch
    from fiveup_env.envs.episodes import RewardName

# The reward that the batch computes for each of these.
BATCH_REWARDS: Final[Mapping[str, RewardName]] = {
    "margin": "margin",
    "win": "win",
    "outlook": "win",
}


class Rewards:
    """The rewards of every seat of every game for the last move."""

    def __init__(self, kind: str, batch: Batch) -> None:
        self._scale: np.ndarray = np.ones((len(batch), 1), np.float32)
        if kind == "margin":
            units = batch.states["public"]["rules"]["unit"].astype(np.float32)
            self._scale = 1 / (POINTS_IN_ONE * units[:, None])
        self._outlook = _Outlook(batch) if kind == "outlook" else None

    def of(self, batch: Batch, hand_over: np.ndarray) -> np.ndarray:
        """Return the rewards [games x seats]; `hand_over` is where the move ended a hand.

        In those games the batch has already begun the next hand.
        """
        if self._outlook:
            return self._outlook.changes(batch, hand_over)
        return batch.reward * self._scale

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of the arrays that `restore` needs."""
        return {"chances": self._outlook.chances.copy()} if self._outlook else {}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Continue from a saved state."""
        if self._outlook:
            self._outlook.chances[:] = state["chances"]


class _Outlook:
    """Every seat's chance to win the game, as of the beginning of the current hand."""

    def __init__(self, batch: Batch) -> None:
        rules, self._which = np.unique(batch.states["public"]["rules"], return_inverse=True)
        self._tables = read_only(np.stack([outlook_of(struct) for struct in rules]))
        self.chances = np.zeros_like(batch.reward)
        write_chances(batch.states, self._which, self._tables, self.chances)

    def changes(self, batch: Batch, hand_over: np.ndarray) -> np.ndarray:
        """Return the changes in the chances where a hand is over; a finished game is 1 or 0."""
        before, now = self.chances.copy(), self.chances
        write_chances(batch.states, self._which, self._tables, now)
        now[~hand_over] = before[~hand_over]
        after = np.where(batch.terminated[:, None], batch.reward > 0, now)
        return (HANDS_IN_A_CHANCE * (after - before)).astype(np.float32)
