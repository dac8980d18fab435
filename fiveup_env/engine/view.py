"""What one seat may know: the VIEW struct, made from a GAME.

    VIEW = PUBLIC (with the whole public history) + the seat, its hand, and the tiles it drew

Agents and encoders get views, never games: nothing in a view reveals another hand, the order of the
boneyard or the seed. The functions of the engine that take `public` and a `hand` serve both.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.compiled import Array, Struct, compiled, inlined
from fiveup_env.engine.legality import mark_legal
from fiveup_env.engine.state import PUBLIC
from fiveup_env.errors import InputError, shown
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.tiles import TILE_COUNT

VIEW = np.dtype(
    [
        (("table", "public"), PUBLIC),  # "table", its name in version 0.1, still works
        ("hand", np.uint32),  # a mask of tiles
        ("seat", np.int8),
        ("drawn", np.int8, (TILE_COUNT,)),  # the k-th tile drawn if this seat drew it, else -1
    ],
    align=True,
)


@inlined
def observe(game: Struct, seat: int, view: Struct) -> None:
    """Write what a seat may know into a view."""
    view.public = game.public
    view.hand = game.hands[seat]
    view.seat = seat
    for k in range(TILE_COUNT):
        view.drawn[k] = -1
    for k in range(game.public.drawn):
        if game.public.draw_seat[k] == seat:
            view.drawn[k] = game.order[k]


@compiled
def observe_at(games: Array, i: int, seat: int, views: Array, j: int) -> None:
    """Write what a seat of the i-th game may know into the j-th view."""
    observe(games[i], seat, views[j])


@compiled
def observe_seats(games: Array, which: Array, seats: Array, views: Array, masks: Array) -> None:
    """Write the view of one seat in each of some games, and its legal actions if it is to move.

    The k-th view and mask are those of the k-th game in `which`.
    """
    for k in range(len(which)):
        game = games[which[k]]
        observe(game, seats[k], views[k])
        for action in range(ACTION_COUNT):
            masks[k, action] = 0
        if game.public.turn == seats[k]:
            mark_legal(game.public, views[k].hand, masks, k, 0)


def as_views(views: np.ndarray) -> np.ndarray:
    """Return views as compiled code reads them: aligned, contiguous and writeable.

    They are cast where need be: `np.load` returns structs that have lost their alignment. Raises
    InputError for anything but views.
    """
    if not isinstance(views, np.ndarray):
        raise InputError(f"views are an array of VIEW structs, not {shown(views)}")
    if views.ndim != 1 or views.dtype != VIEW:
        of = shown(views.dtype, str)
        raise InputError(f"views are a row of VIEW structs, not {of} in the shape {views.shape}")
    if views.dtype.isalignedstruct and views.flags.carray:
        return views
    return views.astype(VIEW)
