"""`lookahead`: an encoder that adds the heuristics' features of every allowed action.

Sums modulo five over unseen tiles are hard to learn but cheap to compute. A row begins with the
features of every action; all of `flat` follows. Then comes how likely each of the others holds
each tile, as `heuristics/hidden.py` infers it from their plays; the features are expected by it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.encoders import Piece, register_encoder
from fiveup_env.encoders.flat import FLAT_PIECES, FLAT_SIZE, write_flat
from fiveup_env.encoders.pieces import CompiledEncoder
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.state import Views, next_seat
from fiveup_env.native import Array, Int8Rows, Struct, compiled, inlined, signed
from fiveup_env.opponents.heuristics.features import (
    EVERY_FEATURE,
    FEATURE_NAMES,
    FEATURES,
    look_around,
)
from fiveup_env.opponents.heuristics.hidden import (
    HIDDEN,
    LAPSE,
    WEIGHTS,
    Hiddens,
    expect_features,
    write_chances,
)
from fiveup_env.rules.actions import ACTION_COUNT, DRAW
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

STEPS: Final = 24  # a feature of one point is encoded as this number
MOST: Final = 127
FEATURE_COUNT: Final = len(FEATURE_NAMES)
FEATURES_SIZE: Final = ACTION_COUNT * FEATURE_COUNT
OTHERS: Final = MAX_PLAYERS - 1
PIECE: Final = Piece(
    "features",
    (ACTION_COUNT, FEATURE_COUNT),
    0,
    MOST,
    f"for every allowed action, in {STEPS}ths of a point: {'; '.join(FEATURES.values())}",
)
CERTAIN: Final = 64  # the entry of a tile that a seat holds for certain
CHANCES: Final = Piece(
    "chances",
    (OTHERS, TILE_COUNT),
    0,
    CERTAIN,
    f"the chance, in {CERTAIN}ths, that each other seat, the next one first, holds a tile, by what "
    "it played, lacked and drew; all 0 after the end of a hand",
)


class Lookahead(CompiledEncoder):
    """The heuristics' features of every action, and everything that a player can know."""

    name, version, pieces = "lookahead", 2, (PIECE, *FLAT_PIECES, CHANCES)

    def encode_unchecked(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        write_rows(views, np.zeros(1, HIDDEN), rows)


@compiled
def write_rows(views: Views, memory: Hiddens, rows: Int8Rows) -> None:
    """Write a row for each view."""
    hidden = memory[0]
    for r in range(len(views)):
        write_flat(views[r], rows, r, FEATURES_SIZE)
        write_hidden(views[r], hidden, rows, r, FEATURES_SIZE + FLAT_SIZE)
        _write_features(views[r], hidden, rows, r)


@inlined
def _write_features(view: Struct, hidden: Struct, rows: Array, r: int) -> None:
    public, hand, scratch = view.public, view.hand, hidden.features
    for entry in range(FEATURES_SIZE):
        rows[r, entry] = 0
    if public.turn != view.seat:
        return
    count = list_legal(public, hand, scratch.actions)
    unseen = look_around(public, hand, EVERY_FEATURE, scratch)
    for k in range(count):
        action = scratch.actions[k]
        if action < DRAW:
            expect_features(public, hand, unseen, action, hidden)
            for name in range(FEATURE_COUNT):
                rows[r, action * FEATURE_COUNT + name] = steps_of(scratch.features[name])


@inlined
def steps_of(feature: float) -> int:
    """Return a feature as it is encoded."""
    return max(0, min(MOST, int(np.rint(feature * STEPS))))


@inlined
def write_hidden(view: Struct, hidden: Struct, rows: Array, r: int, at: int) -> None:
    """Write the chances of the hidden tiles into row r, from column `at` on, and into `hidden`."""
    write_chances(view, WEIGHTS, LAPSE, hidden)
    seat = signed(view.seat)
    for others in range(OTHERS):
        seat = next_seat(view.public.rules, seat)
        is_there = others < view.public.rules.players - 1
        for tile in range(TILE_COUNT):
            chance = hidden.chances[seat, tile] if is_there else 0.0
            rows[r, at + others * TILE_COUNT + tile] = int(np.rint(chance * CERTAIN))


register_encoder(Lookahead())
