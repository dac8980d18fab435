"""TODO."""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.state import LAYOUT
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

BONEYARD = MAX_PLAYERS  # who holds what nobody has drawn

# Named as in a GAME: worlds can be written into either.
WORLD = np.dtype(
    [
        ("hands", np.uint32, (MAX_PLAYERS,)),  # masks of tiles, the viewer's own among them
        ("order", np.int8, (TILE_COUNT,)),  # the boneyard, with what was drawn from it; then -1
    ],
    align=True,
)

GROUP = np.dtype(
    [
        ("admits", np.uint32),  # the tiles that may lie in its places
        ("answers", np.uint32),  # the tiles that fit, if its seat must have one
        ("first", np.int8),  # where its places begin
        ("room", np.int8),  # how many they are
        ("stride", np.int64),  # how much smaller the state is for every place taken
        ("span", np.int64),  # after how many states its room is the same again
    ],
    align=True,
)

# A tile that was played and lay in any of some places, whatever lay in the others.
SETTLED = np.dtype([("tile", np.int8), ("first", np.int8), ("room", np.int8)], align=True)

# What a view tells, made ready for counting. The boneyard's places are numbered in its order, those
# of the dealt hands after them. 64 bits hold the ways, as no way to split a set has 2**60: with
# forced draws all runs but one show their last tile, with optional ones there are at most 5 groups.
BELIEF = np.dtype(
    [
        ("layout", LAYOUT),  # built up once more, play by play
        ("lacked", np.uint8, (MAX_PLAYERS, TILE_COUNT + 1)),  # pips that a seat lacked at a ply
        ("asked", np.int8),  # another seat that must have a tile that fits, or NOBODY
        ("known", WORLD),  # what is the same in every world
        ("hidden", np.uint32),  # the tiles in other hands and in the boneyard
        ("free", np.uint32),  # the tiles that the groups take: those, and some that were played
        ("boneyard", np.int8),  # how many places it has
        ("places", np.int8, (TILE_COUNT,)),  # the places that are not known, seat by seat
        ("holder", np.int8, (TILE_COUNT,)),  # by place: the seat that its tile came to, or BONEYARD
        ("place_count", np.int8),
        ("settled", SETTLED, (TILE_COUNT,)),
        ("settled_count", np.int8),
        ("groups", GROUP, (TILE_COUNT,)),
        ("group_count", np.int8),
        ("rooms", np.int64),  # how many states the rooms have
        ("states", np.int64),  # twice that where a seat is asked for a tile; 0 for impossible views
    ],
    align=True,
)
