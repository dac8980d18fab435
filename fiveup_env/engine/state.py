"""TODO."""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.compiled import Struct, inlined
from fiveup_env.rules.fields import MAX_PLAYERS, RULES
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT

# What has become of a pip's double.
NOT_PLAYED, TWO_SIDES, ONE_SIDE, TWO_CROSSES, ONE_CROSS, CLOSED = range(6)

# What is going on: a hand, the end of one, or the end of the game.
PLAYING, HAND_OVER, GAME_OVER = range(3)

# How the hand ended.
NOT_ENDED, DOMINO, BLOCKED, TARGET = range(4)

NOBODY = -1

LAYOUT = np.dtype(
    [
        ("total", np.int16),  # what all open ends count together
        ("plain", np.int8, (PIP_COUNT,)),  # how many plain ends show each pip
        ("double", np.int8, (PIP_COUNT,)),  # what has become of each pip's double
        ("open", np.uint16),  # bit p: pip p has a plain end; bit 7 + p: its double has a place free
        ("spinner", np.int8),  # the pip of the first double played
    ],
    align=True,
)

PUBLIC = np.dtype(
    [
        ("rules", RULES),
        ("layout", LAYOUT),
        ("scores", np.int32, (MAX_PLAYERS,)),  # by side
        ("end_points", np.int32, (MAX_PLAYERS,)),  # by side, what the hand's end brought
        ("hand_number", np.int32),
        ("phase", np.int8),
        ("ended", np.int8),  # how this hand ended
        ("winner", np.int8),  # the side that won the game
        ("lead", np.int8),  # the seat that leads this hand
        ("turn", np.int8),  # the seat to move
        ("passes", np.int8),  # how many have passed in a row
        ("sizes", np.int8, (MAX_PLAYERS,)),  # tiles in each hand
        ("draws", np.int8, (MAX_PLAYERS,)),  # tiles that each seat has drawn
        ("lacked", np.uint8, (MAX_PLAYERS,)),  # the pips that each seat was ever shown to lack
        ("lack_ply", np.int8, (MAX_PLAYERS, PIP_COUNT)),  # when that was seen last ...
        ("lack_draws", np.int8, (MAX_PLAYERS, PIP_COUNT)),  # ... and the seat's draws by then
        ("boneyard", np.int8),  # tiles that were not dealt
        ("drawn", np.int8),  # how many of them have been drawn
        ("draw_seat", np.int8, (TILE_COUNT,)),
        ("draw_ply", np.int8, (TILE_COUNT,)),
        ("plies", np.int8),  # how many tiles have been set
        ("play_seat", np.int8, (TILE_COUNT,)),
        ("play_action", np.int8, (TILE_COUNT,)),
    ],
    align=True,
)

GAME = np.dtype(
    [
        (("table", "public"), PUBLIC),  # "table" is its name in version 0.1, which still works
        ("seed", np.uint64),
        ("hands", np.uint32, (MAX_PLAYERS,)),  # masks of tiles
        ("order", np.int8, (TILE_COUNT,)),  # the boneyard's tiles in the order drawn, then -1
    ],
    align=True,
)
ONE = np.uint32(1)


# --- A move


@inlined
def next_seat(rules: Struct, seat: int) -> int:
    """Whose turn comes after a seat's."""
    return seat + 1 if seat + 1 < rules.players else 0


@inlined
def side_of(rules: Struct, seat: int) -> int:
    """The side that a seat plays for."""
    return seat - rules.sides if seat >= rules.sides else seat
