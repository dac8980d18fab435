"""What one seat may know: the VIEW struct, made from a GAME.

    VIEW = PUBLIC (with the whole public history) + the seat, its hand, and the tiles it drew

Agents and encoders get views, never games: nothing in a view reveals another hand, the order of the
boneyard or the seed. The functions of the engine that take `public` and a `hand` serve both.
`as_views` and its neighbours are the boundary before compiled code, which checks nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.engine.legality import mark_legal
from fiveup_env.engine.state import GAME, PLAYING, VIEW, Games, Views
from fiveup_env.engine.valid import FAULTS, first_unsound_game, first_unsound_view
from fiveup_env.errors import InputError, shown
from fiveup_env.native import Int8Rows, Int64s, Struct, compiled, inlined
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable


@inlined
def observe(game: Struct, seat: int, view: Struct) -> None:
    """Write a seat's view of a game."""
    view.public = game.public
    view.hand = game.hands[seat]
    view.seat = seat
    for k in range(TILE_COUNT):
        view.drawn[k] = -1
    for k in range(game.public.drawn):
        if game.public.draw_seat[k] == seat:
            view.drawn[k] = game.order[k]


@compiled
def observe_at(games: Games, i: int, seat: int, views: Views, j: int) -> None:
    """Write a seat's view of the i-th game into the j-th view."""
    observe(games[i], seat, views[j])


@compiled
def observe_seats(games: Games, indices: Int64s, seats: Int64s, views: Views) -> None:
    """Write views of the games at `indices`: `views[k]` is that of `seats[k]` in the k-th."""
    for k in range(len(indices)):
        observe(games[indices[k]], seats[k], views[k])


@compiled
def mark_legal_in(views: Views, masks: Int8Rows) -> None:
    """Write 1 for every legal action of each view whose seat is to move, and 0 for all others."""
    for i in range(len(views)):
        view = views[i]
        for action in range(ACTION_COUNT):
            masks[i, action] = 0
        if view.public.phase == PLAYING and view.public.turn == view.seat:
            mark_legal(view.public, view.hand, masks, i, 0)


def unchecked_masks(views: np.ndarray) -> np.ndarray:
    """Return the same as `legal_masks`, for views that were checked or that the library made."""
    masks = np.empty((len(views), ACTION_COUNT), np.int8)
    mark_legal_in(views, masks)
    return masks


# --- The boundary in front of compiled code


def legal_masks(views: np.ndarray) -> np.ndarray:
    """Return the legal actions in some views, which are 1, among all others, which are 0.

    Args:
        views: An array of VIEW structs [N].

    Returns:
        An array of int8 [N, 121]; a row is all 0 if its seat is not to move.

    Raises:
        InputError: If a view is not such as play leads to.
    """
    return unchecked_masks(as_views(views))


def as_views(views: np.ndarray) -> np.ndarray:
    """Return views as compiled code reads them: sound, aligned, contiguous and writeable.

    They are cast where need be: `np.load` returns structs that have lost their alignment. Raises
    InputError for anything but views that play could have stored.
    """
    return _as_structs(views, VIEW, "view", first_unsound_view)


def as_view(view: np.ndarray) -> np.ndarray:
    """Return an array of one view as compiled code reads it; raise as `as_views` does."""
    view = as_views(view)
    if len(view) != 1:
        raise InputError(f"one view is needed, not {len(view)}")
    return view


def as_game(game: np.ndarray) -> np.ndarray:
    """Return an array of one GAME struct as compiled code reads it.

    Raises InputError for anything but a state that play could have stored.
    """
    game = _as_structs(game, GAME, "game", first_unsound_game)
    if len(game) != 1:
        raise InputError(f"one game is needed, not {len(game)}")
    return game


def _as_structs(
    structs: np.ndarray,
    dtype: np.dtype,
    kind: str,
    first_unsound: Callable[[np.ndarray], tuple[int, int]],
) -> np.ndarray:
    name = kind.upper()
    if not isinstance(structs, np.ndarray):
        raise InputError(f"{kind}s are an array of {name} structs, not {shown(structs)}")
    if structs.ndim != 1 or structs.dtype != dtype:
        of = shown(structs.dtype, str)
        raise InputError(
            f"{kind}s are a row of {name} structs, not {of} in the shape {structs.shape}"
        )
    if not (structs.dtype.isalignedstruct and structs.flags.carray):
        structs = structs.astype(dtype)
    i, fault = first_unsound(structs)
    if i >= 0:
        raise InputError(f"{kind} {i} is not valid: {FAULTS[fault]}")
    return structs
