"""Where every tile of a layout lies on the table, in whole cells; text and SVG share it.

Tiles are set as people set them: end to end, doubles crosswise, and round a corner where an arm
would run into something or off the table. The first try goes in the order of play and looks only
at what lies there, so one more play mostly leaves the picture as it was. An arm that finds itself
stuck goes first in the next try; a few such tries solve nearly every layout. If they do not, all
arms run straight and connectors keep them apart, which always works but takes more room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fiveup_env.drawing.tree import Node, OpenEnd, Place

RIGHT, DOWN, LEFT, UP = range(4)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))

HALF = 1  # from the middle of a tile to the middle of either half
RIM = 1  # what is kept free between tiles that do not touch
TRIES = 8  # with arms that go first, for each bound on the width
BEAM = 4  # tables carried along in every try but the first

# What makes a table worse: corners, narrow places (a cell), the table's edge (a cell), its size.
TURNED, FROM_THE_HALF, TURNED_AT_DOUBLE = 3.0, 4.0, 8.0
CROWDED, EDGE, SIZE = 0.25, 1.0, 0.25


class Box(NamedTuple):
    """A rectangle of cells."""

    left: int
    top: int
    width: int
    height: int

    @property
    def middle(self) -> tuple[int, int]:
        """The middle cell, or the corner in the middle where the sizes are even."""
        return self.left + self.width // 2, self.top + self.height // 2

    def grown(self, by: int) -> Box:
        """The box with a rim around it."""
        return Box(self.left - by, self.top - by, self.width + 2 * by, self.height + 2 * by)

    def moved(self, direction: int, by: int) -> Box:
        """The box that many cells away."""
        x, y = STEPS[direction]
        return Box(self.left + x * by, self.top + y * by, self.width, self.height)

    def joined(self, other: Box) -> Box:
        """The smallest box around both."""
        left, top = min(self.left, other.left), min(self.top, other.top)
        right = max(self.left + self.width, other.left + other.width)
        bottom = max(self.top + self.height, other.top + other.height)
        return Box(left, top, right - left, bottom - top)

    def edge(self, direction: int) -> int:
        """How far the box reaches in a direction."""
        left, top, width, height = self
        return (left + width, top + height, -left, -top)[direction]

    def beside(self, direction: int, size: tuple[int, int], anchor: tuple[int, int]) -> Box:
        """A box of that size that touches this one, in line with a point of it."""
        width, height = size
        x, y = anchor[0] - width // 2, anchor[1] - height // 2
        return (
            Box(self.left + self.width, y, width, height),
            Box(x, self.top + self.height, width, height),
            Box(self.left - width, y, width, height),
            Box(x, self.top - height, width, height),
        )[direction]


@dataclass(frozen=True)
class Sizes:
    """The sizes of things in cells; all widths odd or all even, and so the heights.

    The halves of a tile are a cell away from its middle: characters are like this, and so are
    quarters of a real tile's length, `Sizes((4, 2), (2, 4), (2, 2), aspect=1.5)`.
    """

    flat: tuple[int, int] = (5, 1)
    upright: tuple[int, int] = (3, 3)
    mark: tuple[int, int] = (3, 1)  # what is kept free at an open end to say what it counts
    aspect: float = 3.0  # how many columns are as dear as a row

    def claim(self, direction: int) -> tuple[int, int]:
        """The room that an end would like to have: that of two tiles."""
        if direction in (LEFT, RIGHT):
            return self.flat[0] + self.upright[0], self.upright[1]
        return self.flat[0], self.flat[1] + self.upright[1]


class Placed(NamedTuple):
    """A tile on the table, the way its arm goes, and the connector to its parent, if any."""

    node: Node
    box: Box
    direction: int
    link: Box | None = None

    @property
    def upright(self) -> bool:
        """Whether one half lies above the other; a double lies across its arm."""
        return (self.direction in (UP, DOWN)) != self.node.tile.is_double

    @property
    def halves(self) -> tuple[int, int]:
        """The pips from left to right, or from top to bottom."""
        parent, place = self.node.parent, self.node.place
        if parent is None or place is None:
            return self.node.tile
        near = parent.places[place].pip
        far = self.node.tile.pips - near
        return (near, far) if self.direction in (RIGHT, DOWN) else (far, near)


class Mark(NamedTuple):
    """The room at an open end, in which a picture says what the end counts."""

    end: OpenEnd
    box: Box
    direction: int


class Placement(NamedTuple):
    """A layout on the table: its tiles by number, its open ends, and the box around all."""

    tiles: tuple[Placed, ...]
    marks: tuple[Mark, ...]
    extent: Box


def place_tree(root: Node, sizes: Sizes, width: int | None = None) -> Placement:
    """Find a place for every tile; no wider than `width` unless the layout cannot be."""
    tiles, exits = _Search(root, sizes, width).result() or _spread(root, sizes)
    tiles.sort(key=lambda tile: tile.node.number)
    marks = []
    for node in (tile.node for tile in tiles):
        for end in node.open_ends():
            key = node.number, node.places[end.place]
            at = next(number for number, exit_ in enumerate(exits) if exit_[:2] == key)
            exit_ = exits.pop(at)
            marks.append(Mark(end, exit_.room(tiles, sizes.mark), exit_.direction))
    extent = tiles[0].box
    for box in (thing.box for things in (tiles, marks) for thing in things):
        extent = extent.joined(box)
    return Placement(tuple(tiles), tuple(marks), extent)
