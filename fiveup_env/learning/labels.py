"""Labels from true deals: every legal action of a decision, played out in the deal that is there.

In self-play the deal that is really there is a free sample of what the mover cannot see, given all
that was played: the others' moves came from those very hands. So the value of an action, played out
once in the true deal, is an unbiased sample of its value, inference included. All actions of a
decision share the deal and its boneyard, so their differences are much less noisy than each value.

A single sample is noisy all the same: its error is four times as large as what the best actions
differ by. A search is less noisy (see `teachers`), but its worlds must be weighed by a model of the
others' moves, and all that the model misses is missed by the labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.state import GAME, Games, side_of
from fiveup_env.native import DoubleRows, DoubleTables, Int64s, Word, compiled
from fiveup_env.opponents.heuristics import ladder
from fiveup_env.opponents.heuristics.features import SCRATCH
from fiveup_env.opponents.networks import compiled as networks
from fiveup_env.opponents.networks.compiled import Weights, memory_for
from fiveup_env.opponents.search.action_values import try_actions
from fiveup_env.opponents.search.playouts import Playout, playout_by
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from numpy.random import Generator

    from fiveup_env.opponents.search.units import Units


class Judge:
    """The player and judge of self-play: a compiled network, or `partner` where there is none."""

    def __init__(self, weights: Weights | None = None) -> None:
        self.player = ladder.weights_of("partner") if weights is None else weights

    def __call__(self, views: np.ndarray, rng: Generator) -> np.ndarray:
        """Return an action for every view."""
        actions = np.empty(len(views), np.int64)
        if isinstance(self.player, Weights):
            networks.choose_all(views, self.player, memory_for(self.player), actions)
        else:
            key = np.uint64(rng.integers(1 << 63))
            ladder.choose_all(views, key, self.player, np.zeros(1, SCRATCH), actions)
        return actions

    def label(
        self,
        games: np.ndarray,
        indices: np.ndarray,
        units: Units,
        rng: Generator,
    ) -> np.ndarray:
        """Return the reward that every legal action brings in the true deal, otherwise NaN.

        `units` are those of the views of the seats to move in the games at `indices`.
        """
        labels = np.full((len(indices), ACTION_COUNT), np.nan)
        write_labels(
            games,
            indices,
            playout_by(self.player),
            np.uint64(rng.integers(1 << 63)),
            units.chances,
            units.table_indices,
            np.zeros(1, GAME),
            labels,
        )
        return units.rewards(labels).astype(np.float32)


@compiled
def write_labels(
    games: Games,
    indices: Int64s,
    playout: Playout,
    key: Word,
    chances: DoubleTables,
    grids: Int64s,
    world: Games,
    labels: DoubleRows,
) -> None:
    """Write the value of every legal action of the games at `indices`.

    Ties are broken by the same key for all actions, so they differ only by what they lead to.
    """
    actions, values = np.empty(ACTION_COUNT, np.int64), np.empty((1, ACTION_COUNT, 1))
    for k in range(len(indices)):
        world[0] = games[indices[k]]
        world[0].seed = key + np.uint64(k)
        public = world[0].public
        side = side_of(public.rules, public.turn)
        count = list_legal(public, world[0].hands[public.turn], actions)
        try_actions(world, actions[:count], playout, side, (chances[grids[k]],), values)
        for n in range(count):
            labels[k, actions[n]] = values[0, n, 0]
