"""The reference search: the value of every allowed action, and how exactly it is known.

An action's value is the chance to win the game after it, on average over sampled worlds: `pimc`
with many worlds and its best playouts, which gives no action up. All actions of a position are
tried in the same worlds, so the errors are those of differences.

The best of several noisy means is too high: whichever action was lucky is chosen. So the worlds are
kept in two halves. One half chooses the best action, the other gives its value. All that is lost
is that the first half sometimes chooses an action that is slightly worse, so regrets are not too
large but may be slightly too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from fiveup_env.errors import OptionError
from fiveup_env.opponents.search.pimc import Pimc

PLAYOUT: Final = "partner"
AIM: Final = "game"
BLOCK: Final = 32  # worlds of a search, which are too few for it to close an action


@dataclass(frozen=True, eq=False)
class ActionValues:
    """The values of the allowed actions of some positions, one position per row."""

    halves: np.ndarray  # [positions x 2 x actions], -inf where an action is not allowed (float32)
    errors: np.ndarray  # standard errors of the differences to the best, NaN likewise (float32)

    @property
    def means(self) -> np.ndarray:
        """The values by all worlds, a row for each position."""
        return self.halves.mean(1)

    def part(self, which: np.ndarray) -> ActionValues:
        """Return the values of some of the positions, by a mask or by their numbers."""
        return ActionValues(self.halves[which], self.errors[which])

    def regrets(self, actions: np.ndarray) -> np.ndarray:
        """Return by how much each action falls short of the best of its position.

        The best action of either half is valued by the other. So the noise of the values cancels
        out on average, and a regret may be slightly below 0.
        """
        every = np.arange(len(actions))
        losses = [
            self.halves[every, 1 - half, self.halves[:, half].argmax(1)]
            - self.halves[every, 1 - half, actions]
            for half in range(2)
        ]
        return np.stack(losses).mean(0, np.float64)


def checked_worlds(worlds: int) -> int:
    """Return a number of worlds; raise OptionError if it makes no two halves of blocks."""
    if worlds < 2 * BLOCK or worlds % (2 * BLOCK):
        raise OptionError(f"worlds must be a multiple of {2 * BLOCK}, not {worlds}")
    return worlds


def action_values(views: np.ndarray, worlds: int, rng: np.random.Generator) -> ActionValues:
    """Return the values of all allowed actions of positions that leave a choice.

    All blocks are held in memory until the end, so let many positions come in portions.
    """
    count = checked_worlds(worlds) // BLOCK
    # Each block of worlds is a search of its own: its actions share the worlds, and stay open.
    search = Pimc(worlds=BLOCK, playout=PLAYOUT, aim=AIM)
    blocks = np.stack([search.values(views, rng) for _ in range(count)])
    best = blocks.mean(0).argmax(1)
    with np.errstate(invalid="ignore"):  # of actions that are not allowed
        apart = blocks - blocks[:, np.arange(len(views)), best][..., None]
        errors = apart.std(0, ddof=1) / np.sqrt(len(blocks))
    halves = np.stack([blocks[half::2].mean(0) for half in range(2)], 1)
    return ActionValues(halves.astype(np.float32), errors.astype(np.float32))
