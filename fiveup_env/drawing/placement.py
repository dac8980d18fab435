"""Where every tile of a layout lies on the table, in whole cells; text and SVG share it.

Tiles are set in the order of play as people do: end to end, doubles crosswise, and round a corner
where an arm would run into something or off the table. Several part-built tables are carried along
(a beam search), so the count of tries is bounded. Should none of them come through, the arms are
drawn straight and connectors keep them apart: that always works, but takes much more room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fiveup_env.drawing.tree import Node, OpenEnd, Place

RIGHT, DOWN, LEFT, UP = range(4)
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
# From a tile's middle to the middle of each half, in cells.
HALF = 1


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

    def joined(self, other: Box) -> Box:
        """The smallest box around both."""
        left, top = min(self.left, other.left), min(self.top, other.top)
        right = max(self.left + self.width, other.left + other.width)
        bottom = max(self.top + self.height, other.top + other.height)
        return Box(left, top, right - left, bottom - top)

    def beside(self, direction: int, size: tuple[int, int], anchor: tuple[int, int]) -> Box:
        """A box of that size that touches this one, in line with a point of it."""
        width, height = size
        x, y = anchor[0] - width // 2, anchor[1] - height // 2
        if direction == RIGHT:
            x = self.left + self.width
        elif direction == LEFT:
            x = self.left - width
        elif direction == DOWN:
            y = self.top + self.height
        else:
            y = self.top - height
        return Box(x, y, width, height)


@dataclass(frozen=True)
class Sizes:
    """The sizes of things in cells: all widths odd, or all even, and so the heights."""

    flat: tuple[int, int] = (5, 1)
    upright: tuple[int, int] = (3, 3)
    mark: tuple[int, int] = (3, 1)
    # How many cells side by side look as long as one cell is high.
    aspect: float = 3.0


class Exit(NamedTuple):
    """A free place of a tile on the table: where it is and which way it looks."""

    number: int
    place: Place
    direction: int
    anchor: tuple[int, int]
    mark: int
    claim: int


class Placed(NamedTuple):
    node: Node
    box: Box
    direction: int
    mask: int


class Table(NamedTuple):
    cost: float
    tiles: tuple[Placed, ...]
    exits: tuple[Exit, ...]
    mask: int
    extent: Box
    order: tuple


class Grid:
    def __init__(self, reach):
        self.stride = 2 * reach
        self.origin = reach * self.stride + reach
        self.shapes = {}

    def mask(self, box: Box) -> int:
        size = box[2:]
        shape = self.shapes.get(size)
        if shape is None:
            row = (1 << box.width) - 1
            shape = self.shapes[size] = sum(row << y * self.stride for y in range(box.height))
        return shape << box.top * self.stride + box.left + self.origin


FEES = dict(turn=3, side=4, dside=6, dturn=8)
CROWD = 0.25
CLAIM=(8,3),(5,4)
SPREAD=0.25

def ways(exit, is_double):
    d = exit.direction
    yield d, d, 0.
    plain = exit.place.kind == "plain"
    for turn in ((d + 1) % 4, (d - 1) % 4):
        if not is_double:
            yield d, turn, FEES['turn'] if plain else FEES['dturn']
        if plain:
            yield turn, turn, FEES['side'] if not is_double else FEES['dside']


class Placer:
    def __init__(self, sizes, width, beam):
        self.sizes, self.width, self.beam = sizes, width, beam
        self.grid = Grid(28 * 5 + 20)
        self.tries = 0

    def size(self, node, direction):
        flat = (direction in (RIGHT, LEFT)) != node.tile.is_double
        return self.sizes.flat if flat else self.sizes.upright

    def exits(self, node, box, direction):
        """exits"""
        for number, place in enumerate(node.places):
            if place.kind == "cross":
                d = (direction + (1 if number == len(node.places) - 1 else -1)) % 4
            else:
                d = direction
                if node.parent is None and number == 0:
                    d = (d + 2) % 4
            x, y = box.middle
            if place.kind == "plain":
                dx, dy = STEPS[d]
                x, y = x + dx * HALF, y + dy * HALF
            m = self.grid.mask(box.beside(d, self.sizes.mark, (x, y)))
            c = self.grid.mask(box.beside(d, CLAIM[d % 2], (x, y)))
            yield Exit(node.number, place, d, (x, y), m, c), box.beside(d, self.sizes.mark, (x, y))

    def set_tile(self, table, node):
        """all ways"""
        parent = table.tiles[node.parent.number]
        place = node.parent.places[node.place]
        mask = self.grid.mask
        occupied = table.mask & ~parent.mask
        for exit in table.exits:
            if exit.number != node.parent.number or exit.place != place:
                continue
            others = tuple(e for e in table.exits if e is not exit)
            marks = claims = 0
            for e in others:
                marks |= e.mark
                claims |= e.claim
            for e, g, fee in ways(exit, node.tile.is_double):
                self.tries += 1
                ax, ay = exit.anchor
                if e != g:
                    ax, ay = ax + STEPS[g][0] * HALF, ay + STEPS[g][1] * HALF
                box = parent.box.beside(e, self.size(node, g), (ax, ay))
                rim = mask(box.grown(1))
                if rim & occupied or rim & marks:
                    continue
                m = mask(box)
                extent = table.extent.joined(box)
                new = []
                block = table.mask | marks
                newmask = table.mask | m
                crowd = (m & claims).bit_count()
                for x, mbox in self.exits(node, box, g):
                    if mask(mbox.grown(1)) & block:
                        break
                    extent = extent.joined(mbox)
                    crowd += (x.claim & table.mask).bit_count() + (x.claim & claims).bit_count()/2
                    new.append(x)
                else:
                    if self.width and extent.width > self.width:
                        continue
                    cost = table.cost + fee + CROWD * crowd
                    yield Table(cost, (*table.tiles, Placed(node, box, g, m)), others + tuple(new), newmask, extent, ())

    def final(self, t):
        return t.cost + SPREAD * (t.extent.width + self.sizes.aspect * t.extent.height)

    def run(self, root):
        nodes = sorted(root.walk(), key=lambda n: n.number)
        w, h = self.size(root, RIGHT)
        box = Box(-(w // 2), -(h // 2), w, h)
        ex = list(self.exits(root, box, RIGHT))
        extent = box
        for _, b in ex:
            extent = extent.joined(b)
        m = self.grid.mask(box)
        tables = [Table(0, (Placed(root, box, RIGHT, m),), tuple(x for x, _ in ex), m, extent, ())]
        for node in nodes[1:]:
            nxt = [t for table in tables for t in self.set_tile(table, node)]
            nxt.sort(key=self.final)
            tables = nxt[: self.beam]
            if not tables:
                return None, node.number
        return tables[0], len(nodes)
