"""The domino set: the numbers, names and pips of tiles, and sets of tiles as bit masks.

Tiles are numbered by their higher half, then by their lower half:

    0-0 is 0, 1-0 is 1, 1-1 is 2, 2-0 is 3, ... 6-6 is 27

so the double-N set consists of the first (N + 1)(N + 2) / 2 tiles, and an id means the same tile in
every set. A mask of tiles is a 32-bit integer in which bit `id` is set for each of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.errors import TileError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_PIP = 6
PIP_COUNT = MAX_PIP + 1


class _Halves(NamedTuple):
    high: int
    low: int


class Tile(_Halves):
    """A domino, written `5-3`; its halves may be given in either order.

    Args:
        high: The pips of one half, from 0 to 6.
        low: The pips of the other.

    Raises:
        TileError: If there is no such tile.

    >>> Tile(3, 5)
    Tile(5, 3)
    >>> Tile.parse("3-5").high
    5
    """

    __slots__ = ()

    def __new__(cls, high: int, low: int) -> Tile:  # noqa: PYI034  (typing.Self is of Python 3.11)
        """Return the tile with its higher half first."""
        first, second = whole(high, 0, MAX_PIP), whole(low, 0, MAX_PIP)
        if first is None or second is None:
            raise TileError(
                f"Tile({shown(high)}, {shown(low)}) is not a valid tile; "
                f"each half has 0 to {MAX_PIP} pips"
            )
        return super().__new__(cls, max(first, second), min(first, second))

    def __repr__(self) -> str:
        """Return an expression that makes the tile."""
        return f"Tile({self.high}, {self.low})"

    @property
    def is_double(self) -> bool:
        """Whether both halves show the same pip."""
        return self.high == self.low

    @property
    def pips(self) -> int:
        """The sum of the pips on both halves."""
        return self.high + self.low

    @property
    def id(self) -> int:
        """The tile's number, the same in every set."""
        return self.high * (self.high + 1) // 2 + self.low

    def __str__(self) -> str:
        """Return the name of the tile, such as `5-3`."""
        return f"{self.high}-{self.low}"

    @classmethod
    def parse(cls, text: object) -> Tile:
        """Return the tile with a name such as `5-3` or `3-5`, or with a pair of pips.

        Raises:
            TileError: If there is no such tile.
        """
        if isinstance(text, str):
            match = re.fullmatch(r"\s*([0-6])-([0-6])\s*", text)
            halves: tuple[object, ...] = tuple(map(int, match.groups())) if match else ()
        else:
            halves = tuple(text) if isinstance(text, (tuple, list)) else ()
        if len(halves) == 2:
            first, second = (whole(half, 0, MAX_PIP) for half in halves)
            if first is not None and second is not None:
                return cls(first, second)
        raise TileError(
            f"{shown(text)} is not a valid tile; tiles are written 5-3, from 0-0 to 6-6"
        )


TILES: tuple[Tile, ...] = tuple(
    Tile(high, low) for high in range(PIP_COUNT) for low in range(high + 1)
)
TILE_COUNT = len(TILES)

# For compiled code: the pips of every tile, and the suit of every pip (the tiles with that pip).
TILE_PIPS = np.array([tile.pips for tile in TILES], np.int32)
SUITS = np.array(
    [sum(1 << tile.id for tile in TILES if pip in tile) for pip in range(PIP_COUNT)], np.uint32
)
# The order in which lead_tile="highest_double" looks for the tile to lead: doubles from the highest
# down, then the other tiles by their pips and, of equals, by their higher half. For every tile: the
# mask of those before it.
LEAD_ORDER = np.array(
    [tile.id for tile in sorted(TILES, key=lambda t: (not t.is_double, -t.pips, -t.high))], np.int8
)
BEFORE_IN_LEAD_ORDER = np.zeros(TILE_COUNT, np.uint32)
for _place, _tile in enumerate(LEAD_ORDER.tolist()):
    BEFORE_IN_LEAD_ORDER[_tile] = sum(1 << one for one in LEAD_ORDER[:_place].tolist())
# For every set of pips, as a mask of seven bits: the union of their suits.
SUITS_OF = np.zeros(1 << PIP_COUNT, np.uint32)
for _pip in range(PIP_COUNT):
    SUITS_OF.reshape(-1, 2, 1 << _pip)[:, 1] |= SUITS[_pip]


def set_size(max_pip: int) -> int:
    """Return the number of tiles in the double-`max_pip` set."""
    return (max_pip + 1) * (max_pip + 2) // 2


def mask_of(tiles: Iterable[Tile]) -> int:
    """Return the mask of some tiles."""
    mask = 0
    for tile in tiles:
        mask |= 1 << tile.id
    return mask


def tiles_in(mask: int) -> Iterator[Tile]:
    """Return an iterator over the tiles of a mask, by number."""
    return (tile for number, tile in enumerate(TILES) if mask >> number & 1)
