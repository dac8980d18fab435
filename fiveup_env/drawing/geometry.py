"""Boxes of whole cells, the sizes of tiles, and the exits at which an arm continues from a tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fiveup_env.drawing.tree import Node, Place

RIGHT, DOWN, LEFT, UP = range(4)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))

HALF = 1  # from the middle of a tile to the middle of either half
RIM = 1  # cells kept free between tiles that are not attached to each other


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

    def grown(self, by: int = RIM) -> Box:
        """Return the box with a rim around it."""
        return Box(self.left - by, self.top - by, self.width + 2 * by, self.height + 2 * by)

    def moved(self, direction: int, by: int) -> Box:
        """Return the box moved by a number of cells."""
        x, y = STEPS[direction]
        return Box(self.left + x * by, self.top + y * by, self.width, self.height)

    def joined(self, other: Box) -> Box:
        """Return the smallest box around both."""
        left, top = min(self.left, other.left), min(self.top, other.top)
        right = max(self.left + self.width, other.left + other.width)
        bottom = max(self.top + self.height, other.top + other.height)
        return Box(left, top, right - left, bottom - top)

    def reach(self, direction: int) -> int:
        """Return how far from the origin the box reaches in a direction."""
        left, top, width, height = self
        return (left + width, top + height, -left, -top)[direction]

    def beside(self, direction: int, size: tuple[int, int], anchor: tuple[int, int]) -> Box:
        """Return a box of some size that touches this one, in line with a point of it."""
        width, height = size
        x, y = anchor[0] - width // 2, anchor[1] - height // 2
        if direction in (LEFT, RIGHT):
            x = self.left - width if direction == LEFT else self.left + self.width
        else:
            y = self.top - height if direction == UP else self.top + self.height
        return Box(x, y, width, height)


@dataclass(frozen=True)
class Sizes:
    """The sizes of things in cells, all odd or all even.

    The middle of a half is one cell away from the middle of its tile. A cell is a character, or a
    quarter of the length of a real tile: `Sizes((4, 2), (2, 4), (2, 2), aspect=1.5)`.
    """

    flat: tuple[int, int] = (5, 1)
    upright: tuple[int, int] = (3, 3)
    mark: tuple[int, int] = (3, 1)  # kept free at an open end, for what it counts
    aspect: float = 3.0  # columns to rows of a good picture

    def tile(self, node: Node, direction: int) -> tuple[int, int]:
        """Return the size of a tile in an arm of this direction: a double lies across it."""
        along = direction in (LEFT, RIGHT)
        return self.flat if along != node.tile.is_double else self.upright

    def claim(self, direction: int) -> tuple[int, int]:
        """Return the space that an exit should have: for two tiles, one of them a double."""
        (long, low), (narrow, high) = self.flat, self.upright
        return (long + narrow, high) if direction in (LEFT, RIGHT) else (long, low + high)

    def link(self, direction: int, length: int) -> tuple[int, int]:
        """Return the size of a connector."""
        thickness = 2 - self.flat[1] % 2
        return (length, thickness) if direction in (LEFT, RIGHT) else (thickness, length)


class Placed(NamedTuple):
    """A tile on the table, the direction of its arm, and the connector to its parent, if any."""

    node: Node
    box: Box
    direction: int
    link: Box | None = None

    @property
    def upright(self) -> bool:
        """Whether one half lies above the other."""
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

    def moved(self, direction: int, by: int) -> Placed:
        """Return the tile moved by a number of cells, with its connector."""
        link = self.link and self.link.moved(direction, by)
        return self._replace(box=self.box.moved(direction, by), link=link)

    def exits(self) -> list[Exit]:
        """Return the exits of this tile, one for each place of its node."""
        exits = []
        for index, place in enumerate(self.node.places):
            if place.kind == "cross":
                turn = 1 if index == len(self.node.places) - 1 else -1
            else:
                turn = 2 if self.node.parent is None and index == 0 else 0
            direction = (self.direction + turn) % 4
            middle = Box(*self.box.middle, 0, 0)
            anchor = middle.moved(direction, HALF if place.kind == "plain" else 0)[:2]
            exits.append(Exit(self.node.number, place, direction, self.box, anchor))
        return exits


class Exit(NamedTuple):
    """A place of a tile on the table, its direction, and the box and point that it starts from."""

    number: int
    place: Place
    direction: int
    box: Box
    anchor: tuple[int, int]

    @property
    def key(self) -> tuple[int, Place]:
        """What the rules know of this exit: they do not tell the two crosses of a double apart."""
        return self.number, self.place

    def room(self, size: tuple[int, int]) -> Box:
        """Return a box of some size directly in front of the exit."""
        return self.box.beside(self.direction, size, self.anchor)
