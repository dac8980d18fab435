"""The truth beside a view: what is hidden, for critics that may see it while they learn.

This is no encoder of views, and cannot be chosen as one: it needs the game itself.
"""

from __future__ import annotations

from fiveup_env.compiled import Array, Record, compiled, inlined, lowest_bit, whole
from fiveup_env.encoders.pieces import Piece
from fiveup_env.engine import ONE, next_seat
from fiveup_env.rules import MAX_PLAYERS
from fiveup_env.tiles import TILE_COUNT

TRUTH_PIECES = (
    Piece("hands", (MAX_PLAYERS, TILE_COUNT), 0, 1, "every hand, seats counted from the one asked"),
    Piece(
        "boneyard_place", (TILE_COUNT,), 0, TILE_COUNT, "1 + each tile's place, next drawn first"
    ),
)
TRUTH_SIZE = sum(piece.size for piece in TRUTH_PIECES)
_BONEYARD = TRUTH_PIECES[0].size


@compiled
def write_truths(games: Array, seats: Array, rows: Array) -> None:
    """Write what is hidden in each game, as it lies from the seat named for it."""
    for r in range(len(games)):
        _write_truth(games[r], seats[r], rows, r)


@inlined
def _write_truth(game: Record, seat: int, rows: Array, r: int) -> None:
    table = game.table
    for entry in range(TRUTH_SIZE):
        rows[r, entry] = 0
    asked = whole(seat)
    for k in range(table.rules.players):
        hand = game.hands[asked]
        while hand:
            rows[r, TILE_COUNT * k + whole(lowest_bit(hand))] = 1
            hand &= hand - ONE
        asked = next_seat(table.rules, asked)
    for place in range(table.drawn, table.boneyard):
        rows[r, _BONEYARD + game.order[place]] = 1 + place - table.drawn
