"""`tokens`: the public history as a padded sequence, for attention models, then all of `flat`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fiveup_env.encoders.flat import FLAT_PIECES, seats_on, write_flat
from fiveup_env.encoders.pieces import CompiledEncoder, Piece
from fiveup_env.engine.state import Views
from fiveup_env.native import Array, Int8Rows, Struct, compiled, inlined
from fiveup_env.rules.actions import ACTION_END, ACTION_OUTWARD, ACTION_PIP, ACTION_TILE
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    import numpy as np

PLAYED, DRAWN = 1, 2
LENGTH = 2 * TILE_COUNT
FIELDS = 6
TOKENS_SIZE = LENGTH * FIELDS
EVENTS = Piece(
    "events",
    (LENGTH, FIELDS),
    0,
    TILE_COUNT,
    "the events so far, oldest first, then zeros. For each: 1 for a tile set, 2 for a tile drawn; "
    "1 + the seat, counted from the observer; 1 + the tile (0: unknown). For a tile set on an end, "
    "else 0: 1 + the pip of the end; 1 for a plain end, 2 for the double; 1 + the pip that the "
    "tile shows outwards",
)


class Tokens(CompiledEncoder):
    """The events of this hand, every tile set and every tile drawn, followed by all of `flat`.

    Passes are not events: they follow from the seats of the plays before and after.
    """

    name, version, pieces = "tokens", 1, (EVENTS, *FLAT_PIECES)

    def encode_unchecked(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        _write(views, rows)


@inlined
def _write_events(view: Struct, rows: Array, r: int) -> None:
    public = view.public
    for entry in range(TOKENS_SIZE):
        rows[r, entry] = 0
    at, draw = 0, 0
    for ply in range(public.plies + 1):
        while draw < public.drawn and public.draw_ply[draw] == ply:
            rows[r, at] = DRAWN
            rows[r, at + 1] = 1 + seats_on(view, public.draw_seat[draw])
            rows[r, at + 2] = 1 + view.drawn[draw]
            at += FIELDS
            draw += 1
        if ply < public.plies:
            action = public.play_action[ply]
            rows[r, at] = PLAYED
            rows[r, at + 1] = 1 + seats_on(view, public.play_seat[ply])
            rows[r, at + 2] = 1 + ACTION_TILE[action]
            rows[r, at + 3] = 1 + ACTION_PIP[action]
            rows[r, at + 4] = 1 + ACTION_END[action]
            rows[r, at + 5] = 1 + ACTION_OUTWARD[action]
            at += FIELDS


@compiled
def _write(views: Views, rows: Int8Rows) -> None:
    for r in range(len(views)):
        _write_events(views[r], rows, r)
        write_flat(views[r], rows, r, TOKENS_SIZE)
