"""Pictures for other languages: where every tile of a hand lies on the felt."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import carray

from fiveup_env.drawing.felt.boxes import Sizes
from fiveup_env.drawing.felt.picture import MARK, PICTURE, TILE, draw
from fiveup_env.drawing.felt.search import TRIES
from fiveup_env.native import Array
from fiveup_env.portable.calls import BAD_PLAYS, INT, OK, STRUCTS, entry, reads, writes
from fiveup_env.rules.fields import CHOICES
from fiveup_env.rules.tiles import TILE_COUNT

WIDEST: Final = 1 << 10
SPINNERS: Final = len(CHOICES["spinners"])

STRUCTS.update(felt_tile=TILE, felt_mark=MARK, picture=PICTURE)


@entry(
    actions=reads(np.int8),
    arms=reads(np.int8),
    count=INT,
    spinners=INT,
    width=INT,
    shown=INT,
    picture=writes(PICTURE),
)
def place_tiles(
    actions: Array, arms: Array, count: int, spinners: int, width: int, shown: int, picture: Array
) -> int:
    """Place the tiles of the plays of one hand, `width` cells wide if possible (0: as it comes).

    A cell is half the width of a tile. An arm is that of a mark, or -1 where nobody chose. Marks
    are those after the first `shown` plays.
    """
    if not (1 <= count <= TILE_COUNT and 0 <= shown <= count):
        return BAD_PLAYS
    if not (0 <= spinners < SPINNERS and 0 <= width <= WIDEST):
        return BAD_PLAYS
    sizes, made = Sizes((4, 2), (2, 4), (2, 2), 3.0), np.zeros(1, PICTURE)
    given, chosen = carray(actions, count), carray(arms, count)
    if draw(given, chosen, spinners, sizes, width, TRIES, shown, made) < count:
        return BAD_PLAYS
    out = carray(picture, 1)
    out[0] = made[0]
    return OK
