"""What a view hides, for critics that may see it while they learn.

This is not an encoder and cannot be chosen as one: it needs the game itself, not a view.
"""

from __future__ import annotations

from fiveup_env.encoders.pieces import Piece
from fiveup_env.engine.state import ONE, Games, next_seat
from fiveup_env.native import Array, Int8Rows, Int64s, Struct, compiled, inlined, lowest_bit, signed
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

TRUTH_PIECES = (
    Piece("hands", (MAX_PLAYERS, TILE_COUNT), 0, 1, "every hand, seats counted from the observer"),
    Piece(
        "boneyard_place",
        (TILE_COUNT,),
        0,
        TILE_COUNT,
        "for every tile: its place in the boneyard, 1 for the next to be drawn (0: not there)",
    ),
)
TRUTH_SIZE = sum(piece.size for piece in TRUTH_PIECES)
_BONEYARD = TRUTH_PIECES[0].size


@compiled
def write_truths(games: Games, seats: Int64s, rows: Int8Rows) -> None:
    """Write the hidden tiles of each game into its row, as seen by the observer in `seats`."""
    for r in range(len(games)):
        _write_truth(games[r], seats[r], rows, r)


@inlined
def _write_truth(game: Struct, seat: int, rows: Array, r: int) -> None:
    public = game.public
    for entry in range(TRUTH_SIZE):
        rows[r, entry] = 0
    holder = signed(seat)
    for k in range(public.rules.players):
        hand = game.hands[holder]
        while hand:
            rows[r, TILE_COUNT * k + signed(lowest_bit(hand))] = 1
            hand &= hand - ONE
        holder = next_seat(public.rules, holder)
    for place in range(public.drawn, public.boneyard):
        rows[r, _BONEYARD + game.order[place]] = 1 + place - public.drawn
