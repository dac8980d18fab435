"""The structs that hold a game, and what their numbers mean.

A GAME is one NumPy struct:

    GAME = PUBLIC (everything that all players see) + hands + boneyard + seed
    PUBLIC = RULES + LAYOUT + scores, turn, and the public history of the hand

The public history holds everything that was seen: for each tile set, the action and the seat; for
each tile drawn, the seat and the ply (the number of tiles set by then). Tiles are drawn in boneyard
order. A pass leaves no entry, because it follows from the seats. The pips that each seat was shown
to lack also follow from the history; they are stored as well because so much code needs them.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from fiveup_env.native import Entries, Mask, Struct, inlined
from fiveup_env.rules.fields import MAX_PLAYERS, RULES
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT

ManyRules: TypeAlias = Annotated[np.ndarray, Entries(RULES)]

# The states of a pip's double.
NOT_PLAYED, TWO_SIDES, ONE_SIDE, TWO_CROSSES, ONE_CROSS, CLOSED = range(6)

# The phases: a hand in play, between two hands, the end of the game.
PLAYING, HAND_OVER, GAME_OVER = range(3)

# How a hand ended.
NOT_ENDED, DOMINO, BLOCKED, TARGET = range(4)

NOBODY = -1

LAYOUT = np.dtype(
    [
        ("total", np.int16),  # the sum of all open ends
        ("plain", np.int8, (PIP_COUNT,)),  # the number of plain ends that show each pip
        ("double", np.int8, (PIP_COUNT,)),  # the state of each pip's double
        ("open", np.uint16),  # bit p: pip p has a plain end; bit 7 + p: its double has an open end
        ("spinner", np.int8),  # the pip of the first double played, or NOBODY
    ],
    align=True,
)

PUBLIC = np.dtype(
    [
        ("rules", RULES),
        ("layout", LAYOUT),
        ("scores", np.int32, (MAX_PLAYERS,)),  # by side
        ("end_points", np.int32, (MAX_PLAYERS,)),  # by side, gained or lost at the hand's end
        ("hand_number", np.int32),
        ("phase", np.int8),
        ("ended", np.int8),  # how this hand ended
        ("winner", np.int8),  # the side that won the game, or NOBODY
        ("lead", np.int8),  # the seat that leads this hand
        ("forced_lead", np.int8),  # the tile that it must lead, or -1 if it may lead any
        ("turn", np.int8),  # the seat to move
        ("passes", np.int8),  # the number of passes in a row
        ("sizes", np.int8, (MAX_PLAYERS,)),  # the number of tiles in each hand
        ("draws", np.int8, (MAX_PLAYERS,)),  # the number of tiles that each seat has drawn
        ("lacked", np.uint8, (MAX_PLAYERS,)),  # the pips that each seat was ever shown to lack
        ("lack_ply", np.int8, (MAX_PLAYERS, PIP_COUNT)),  # when that was last shown (-1: never) ...
        ("lack_draws", np.int8, (MAX_PLAYERS, PIP_COUNT)),  # ... and the seat's draws by then
        ("boneyard", np.int8),  # the number of tiles that were not dealt
        ("drawn", np.int8),  # how many of them have been drawn
        ("draw_seat", np.int8, (TILE_COUNT,)),  # who drew each of them, then -1
        ("draw_ply", np.int8, (TILE_COUNT,)),  # ... and at which ply
        ("plies", np.int8),  # the number of tiles set
        ("play_seat", np.int8, (TILE_COUNT,)),  # by ply: who set the tile, then -1
        ("play_action", np.int8, (TILE_COUNT,)),  # ... and with which action
    ],
    align=True,
)

GAME = np.dtype(
    [
        ("public", PUBLIC),
        ("seed", np.uint64),
        ("hands", np.uint32, (MAX_PLAYERS,)),  # masks of tiles
        ("order", np.int8, (TILE_COUNT,)),  # the boneyard's tiles in the order drawn, then -1
    ],
    align=True,
)
Games: TypeAlias = Annotated[np.ndarray, Entries(GAME)]

VIEW = np.dtype(
    [
        ("public", PUBLIC),
        ("hand", np.uint32),  # a mask of tiles
        ("seat", np.int8),
        ("drawn", np.int8, (TILE_COUNT,)),  # the k-th tile drawn if this seat drew it, else -1
    ],
    align=True,
)
Views: TypeAlias = Annotated[np.ndarray, Entries(VIEW)]
ONE = np.uint32(1)


@inlined
def next_seat(rules: Struct, seat: int) -> int:
    """Return the seat whose turn comes after a seat's."""
    return seat + 1 if seat + 1 < rules.players else 0


@inlined
def tile_count(rules: Struct) -> int:
    """Return the number of tiles of the set."""
    return (rules.max_pip + 1) * (rules.max_pip + 2) // 2


@inlined
def all_tiles(rules: Struct) -> Mask:
    """Return the mask of all tiles of the set."""
    return np.uint32((1 << tile_count(rules)) - 1)


@inlined
def side_of(rules: Struct, seat: int) -> int:
    """Return the side of a seat."""
    return seat - rules.sides if seat >= rules.sides else seat
