"""The truth beside a view: what is hidden, for critics that may see it while they learn.

This is no encoder of views, and cannot be chosen as one: it needs the game itself.
"""

from __future__ import annotations

from fiveup_env.encoders.pieces import Piece
from fiveup_env.engine.compiled import Array, Struct, compiled, inlined, lowest_bit, signed
from fiveup_env.engine.state import ONE, next_seat
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

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
def _write_truth(game: Struct, seat: int, rows: Array, r: int) -> None:
    public = game.public
    for entry in range(TRUTH_SIZE):
        rows[r, entry] = 0
    asked = signed(seat)
    for k in range(public.rules.players):
        hand = game.hands[asked]
        while hand:
            rows[r, TILE_COUNT * k + signed(lowest_bit(hand))] = 1
            hand &= hand - ONE
        asked = next_seat(public.rules, asked)
    for place in range(public.drawn, public.boneyard):
        rows[r, _BONEYARD + game.order[place]] = 1 + place - public.drawn
