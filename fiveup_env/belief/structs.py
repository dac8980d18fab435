"""The structs of a belief: a world, and what a view says in the form that counting needs.

evidence.py says what groups, settled tiles and free tiles are; counting.py, what a state is.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from fiveup_env.engine.state import LAYOUT
from fiveup_env.native import Entries
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

BONEYARD = MAX_PLAYERS  # the holder of the tiles that nobody has drawn

# The fields have the same names as in a GAME, so that worlds can be written into either.
WORLD = np.dtype(
    [
        ("hands", np.uint32, (MAX_PLAYERS,)),  # masks of tiles, the viewer's own hand included
        ("order", np.int8, (TILE_COUNT,)),  # the boneyard, including the tiles drawn; then -1
    ],
    align=True,
)
Worlds: TypeAlias = Annotated[np.ndarray, Entries(WORLD)]

GROUP = np.dtype(
    [
        ("admits", np.uint32),  # the tiles that may lie in its places
        ("fitting", np.uint32),  # the tiles that fit now, if its seat must have one; else none
        ("first", np.int8),  # the index of its first place in `places`
        ("size", np.int8),  # the number of its places
        ("stride", np.int64),  # how much the state decreases when one of its places is filled
        ("span", np.int64),  # the number of states after which its places left are the same again
    ],
    align=True,
)

# A tile that was played, or must be led, and was in any one of some places, whatever was in the
# others.
SETTLED = np.dtype([("tile", np.int8), ("first", np.int8), ("size", np.int8)], align=True)

# What a view says, prepared for counting. Places are numbered: first those of the boneyard in its
# order, then those of the dealt hands. 64 bits hold every number of ways, because no set splits in
# as many as 2**60 ways: with forced draws all runs of draws but one show their last tile, and with
# optional draws there are at most 5 groups. Only where draws are optional and some tiles were dealt
# to nobody is there a group for each run of draws; 2**56 ways were the most in 26,000 such views.
BELIEF = np.dtype(
    [
        ("layout", LAYOUT),  # replayed from the public history, play by play
        ("lacked", np.uint8, (MAX_PLAYERS, TILE_COUNT + 1)),  # the pips a seat lacked at a ply
        ("must_fit", np.int8),  # another seat that must have a tile that fits, or NOBODY
        ("known", WORLD),  # what is the same in every world; 0 and -1 elsewhere
        ("hidden", np.uint32),  # the tiles in other hands and in the boneyard
        ("free", np.uint32),  # the tiles that the groups take: hidden ones, and some played ones
        ("undealt", np.uint32),  # those of them that were dealt to nobody
        ("boneyard", np.int8),  # the number of its places
        ("places", np.int8, (TILE_COUNT,)),  # the places whose tile is not known, seat by seat
        ("holder", np.int8, (TILE_COUNT,)),  # by place: the seat that its tile came to, or BONEYARD
        ("place_count", np.int8),
        ("settled", SETTLED, (TILE_COUNT,)),
        ("settled_count", np.int8),
        ("groups", GROUP, (TILE_COUNT,)),
        ("group_count", np.int8),
        ("fillings", np.int64),  # the number of combinations of places left, over all groups
        ("states", np.int64),  # twice that if a seat must have a tile that fits; 0: impossible view
    ],
    align=True,
)
Beliefs: TypeAlias = Annotated[np.ndarray, Entries(BELIEF)]
