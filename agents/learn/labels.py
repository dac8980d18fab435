"""Labels from true deals: every legal action of a decision, played out in the deal that is there.

In self-play the deal that is really there is a free sample of what the mover cannot see, given all
that was played: the others' moves came from those very hands. So the value of an action, played out
once in the true deal, is an unbiased sample of its value, inference included. All actions of a
decision share the deal and its boneyard, so their differences are much less noisy than each value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.engine.compiled import Array, Word, compiled
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, side_of
from fiveup_env.opponents import ladder, networks
from fiveup_env.opponents.features import SCRATCH
from fiveup_env.opponents.networks import Memory, Weights, memory_for, play_out_by
from fiveup_env.opponents.outlook import hand_value
from fiveup_env.opponents.playouts import play_out
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from numpy.random import Generator

    from agents.policies.units import Units


class Judge:
    """What plays and judges in self-play: a compiled network, or `partner` where there is none."""

    def __init__(self, weights: Weights | None = None) -> None:
        self._weights = weights

    def __call__(self, views: np.ndarray, masks: np.ndarray, chance: Generator) -> np.ndarray:
        """Return an action for every view."""
        del masks  # a view implies its mask
        actions = np.empty(len(views), np.int64)
        if self._weights is None:
            key = np.uint64(chance.integers(1 << 63))
            heuristic = ladder.weights_of("partner")
            ladder.choose_all(views, key, heuristic, np.zeros(1, SCRATCH), actions)
        else:
            networks.choose_all(views, self._weights, memory_for(self._weights), actions)
        return actions

    def label(
        self,
        games: np.ndarray,
        which: np.ndarray,
        units: Units,
        chance: Generator,
    ) -> np.ndarray:
        """Return the reward that every legal action brings in the true deal, otherwise NaN.

        `units` are those of the views of the seats to move in the games `which`.
        """
        labels = np.full((len(which), ACTION_COUNT), np.nan)
        spare, scratch = np.zeros(1, GAME), np.zeros(1, SCRATCH)
        rest = (units.chances, units.which, spare, scratch, labels)
        if self._weights is None:
            key = np.uint64(chance.integers(1 << 63))
            label_by_heuristic(games, which, ladder.weights_of("partner"), key, *rest)
        else:
            label_by_network(games, which, self._weights, memory_for(self._weights), *rest)
        return units.rewards(labels).astype(np.float32)


@compiled
def label_by_network(
    games: Array,
    which: Array,
    weights: Weights,
    memory: Memory,
    chances: Array,
    grids: Array,
    spare: Array,
    scratch: Array,
    labels: Array,
) -> None:
    """Write the value of every legal action of the games `which`, played out by a network."""
    for k in range(len(which)):
        game = games[which[k]]
        side = side_of(game.public.rules, game.public.turn)
        count = list_legal(game.public, game.hands[game.public.turn], scratch[0].actions)
        for c in range(count):
            action = scratch[0].actions[c]
            spare[0] = game
            play(spare[0], action)
            play_out_by(spare[0], weights, memory)
            value = hand_value(spare[0].public, game.public, side, chances[grids[k]])
            labels[k, action] = value


@compiled
def label_by_heuristic(
    games: Array,
    which: Array,
    weights: Array,
    key: Word,
    chances: Array,
    grids: Array,
    spare: Array,
    scratch: Array,
    labels: Array,
) -> None:
    """Write the same, played out by a heuristic; ties are broken alike for all actions."""
    for k in range(len(which)):
        game = games[which[k]]
        side = side_of(game.public.rules, game.public.turn)
        count = list_legal(game.public, game.hands[game.public.turn], scratch[0].actions)
        for action in scratch[0].actions[:count].copy():
            spare[0] = game
            play(spare[0], action)
            play_out(spare[0], weights, scratch[0], key + np.uint64(k))
            value = hand_value(spare[0].public, game.public, side, chances[grids[k]])
            labels[k, action] = value
