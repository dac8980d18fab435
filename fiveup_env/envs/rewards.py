"""Rewards by functions of one's own, and the check of what they return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from fiveup_env.envs.options import as_array
from fiveup_env.errors import OptionError, shown
from fiveup_env.game.game import Game
from fiveup_env.rules.actions import Move

# Of one game before a move, the move, and the game after it: a number for each seat.
RewardFunction: TypeAlias = Callable[[Game, Move, Game], Sequence[float] | np.ndarray]
# Of GAME structs before moves, the actions, and GAME structs after them: numbers [games, seats].
BatchRewardFunction: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def checked_rewards(rewards: object, *shape: int) -> np.ndarray:
    """Return the rewards of a reward function as float32.

    Raises OptionError unless it is an array of this shape of numbers that float32 holds.
    """
    each = "one for each seat" if len(shape) == 1 else "a row for each game, one for each seat"
    wanted = f"{' x '.join(map(str, shape))} numbers that float32 holds, {each}"
    array = as_array(rewards, "what the reward function returns", wanted)
    if array.shape == shape and array.dtype.kind in "iuf":
        with np.errstate(over="ignore"):
            array = array.astype(np.float32)
        if np.isfinite(array).all():
            return array
    raise OptionError(f"what the reward function returns must be {wanted}, not {shown(rewards)}")
