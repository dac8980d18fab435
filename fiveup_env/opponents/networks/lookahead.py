"""`lookahead`: an encoder that adds the heuristics' features of every allowed action.

Sums modulo five over unseen tiles are hard to learn but cheap to compute. A row begins with the
features of every action; all of `flat` follows. Then come the tiles that each of the others passed
over, how much more it would have scored, and how likely it holds each tile, as
`heuristics/hidden.py` infers it. By these chances the features of an action are expected.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.encoders import Piece, register_encoder
from fiveup_env.encoders.flat import FLAT_PIECES, FLAT_SIZE, seats_on, write_flat
from fiveup_env.encoders.pieces import CompiledEncoder
from fiveup_env.engine.compiled import Array, Struct, compiled_later, inlined, lowest_bit, signed
from fiveup_env.engine.layout import attach, clear, open_pips, total_after
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import ONE, next_seat
from fiveup_env.opponents.heuristics.features import (
    EVERY_FEATURE,
    FEATURE_NAMES,
    FEATURES,
    best_of,
    look_around,
    unseen_by,
)
from fiveup_env.opponents.heuristics.hidden import (
    HIDDEN,
    LAPSE,
    WEIGHTS,
    expect_features,
    write_chances,
)
from fiveup_env.rules.actions import ACTION_COUNT, DRAW
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import SUITS_OF, TILE_COUNT, TILE_PIPS

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
PASSED_OVER: Final = Piece(
    "passed_over",
    (OTHERS, TILE_COUNT),
    0,
    TILE_COUNT,
    "for every other seat and every unseen tile: how often, since its last draw, the seat played "
    "another tile where this one would have fitted",
)
FORGONE: Final = Piece(
    "forgone",
    (OTHERS, TILE_COUNT),
    0,
    MOST,
    "the largest score that the seat passed up by not playing the tile, in units",
)
CERTAIN: Final = 64  # the entry of a tile that a seat holds for certain
CHANCES: Final = Piece(
    "chances",
    (OTHERS, TILE_COUNT),
    0,
    CERTAIN,
    f"the chance, in {CERTAIN}ths, that the seat holds the tile, by all that it played and lacked; "
    "all 0 after the end of a hand",
)
EVIDENCE_SIZE: Final = PASSED_OVER.size + FORGONE.size + CHANCES.size
_EVIDENCE: Final = FEATURES_SIZE + FLAT_SIZE  # where these three start
_CHANCES: Final = PASSED_OVER.size + FORGONE.size  # where the last of them starts


class Lookahead(CompiledEncoder):
    """The heuristics' features of every action, and everything that a player can know."""

    name, version, pieces = "lookahead", 2, (PIECE, *FLAT_PIECES, PASSED_OVER, FORGONE, CHANCES)

    def encode_unchecked(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        _write(views, np.zeros(1, HIDDEN), rows)


@compiled_later
def _write(views: Array, memory: Array, rows: Array) -> None:
    hidden = memory[0]
    for r in range(len(views)):
        write_flat(views[r], rows, r, FEATURES_SIZE)
        write_evidence(views[r], hidden, rows, r, _EVIDENCE)
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
def write_evidence(view: Struct, hidden: Struct, rows: Array, r: int, at: int) -> None:
    """Write what the others' plays tell into row r, from column `at` on; `hidden` keeps it."""
    _write_passed_over(view, hidden.features.layout, rows, r, at)
    write_chances(view, WEIGHTS, LAPSE, hidden)
    seat = signed(view.seat)
    for others in range(view.public.rules.players - 1):
        seat = next_seat(view.public.rules, seat)
        for tile in range(TILE_COUNT):
            entry = at + _CHANCES + others * TILE_COUNT + tile
            rows[r, entry] = int(np.rint(hidden.chances[seat, tile] * CERTAIN))


@inlined
def _write_passed_over(view: Struct, layout: Struct, rows: Array, r: int, at: int) -> None:
    """Write what the others passed over since they last drew into row r, from column `at` on."""
    public, rules = view.public, view.public.rules
    for entry in range(EVIDENCE_SIZE):
        rows[r, at + entry] = 0
    unseen, drew = unseen_by(public, view.hand), np.zeros(MAX_PLAYERS, np.int64)
    for k in range(public.drawn):
        drew[public.draw_seat[k]] = public.draw_ply[k]
    clear(layout)
    for ply in range(public.plies):
        action, seat = signed(public.play_action[ply]), signed(public.play_seat[ply])
        others = seats_on(view, seat) - 1
        if others >= 0 and ply >= drew[seat]:
            scored = FIVES[rules.multiple, total_after(layout, action)]
            pool = unseen & SUITS_OF[open_pips(layout)] if ply > 0 else unseen
            if ply == 0 and public.forced_lead >= 0:
                pool = np.uint32(0)
            while pool:
                tile = signed(lowest_bit(pool))
                pool &= pool - ONE
                if ply > 0:
                    points = signed(best_of(rules, layout, ONE << np.uint32(tile)))
                else:
                    points = signed(FIVES[rules.multiple, TILE_PIPS[tile]])
                entry = at + others * TILE_COUNT + tile
                rows[r, entry] += 1
                entry += OTHERS * TILE_COUNT
                rows[r, entry] = max(signed(rows[r, entry]), points - scored)
        attach(rules, layout, action)


register_encoder(Lookahead())
