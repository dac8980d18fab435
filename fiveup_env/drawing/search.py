"""A compact table without connectors: tiles touch, and arms bend where they have to.

Tiles are set one by one, by a beam search with a bounded number of tries. The first try takes them
in the order of play and knows nothing of later plays, so one more play mostly leaves the picture
as it was. In every further try, the arm that got stuck in the last one goes first.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from fiveup_env.drawing.geometry import HALF, RIGHT, Box, Exit, Placed, Sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fiveup_env.drawing.tree import Node

TRIES = 8  # for each bound on the width
BEAM = 4  # how many tables are carried along in every try but the first

# What a table costs: for a corner of each kind, and for a cell ...
AT_END, AT_HALF, AT_DOUBLE = 3.0, 4.0, 8.0
CLAIM, OVER, SIZE = 0.25, 1.0, 0.25  # ... of a spoilt claim, beyond the bound, of the size


class _Free(NamedTuple):
    """An exit without a tile, and the cells of its mark and of its claim."""

    exit: Exit
    mark: int
    claim: int


class _Table(NamedTuple):
    """Some tiles set, and what has to be known to set the next one."""

    tiles: tuple[Placed, ...]
    free: tuple[_Free, ...]
    covered: int  # the cells of all tiles
    extent: Box  # around all tiles and marks
    claimed: Box  # around these and all claims
    fees: float


def search(root: Node, sizes: Sizes, width: int | None) -> tuple[list[Placed], list[Exit]] | None:
    """All tiles set, and the exits left over; None if no try came through."""
    nodes = sorted(root.walk(), key=lambda node: node.number)
    for bound in (width, None) if width else (None,):
        order = nodes
        for number in range(TRIES):
            table = _Try(nodes, sizes, bound, first=number == 0).run(order)
            if isinstance(table, _Table):
                return list(table.tiles), [free.exit for free in table.free]
            path = table.path()
            order = path + [node for node in order if node not in path]
    return None


class _Try:
    """One beam search. A set of cells is a number, its bits the cells, row after row."""

    def __init__(
        self, nodes: Sequence[Node], sizes: Sizes, bound: int | None, *, first: bool
    ) -> None:
        """Only the first try knows nothing of what will be open or taken in the end."""
        self.sizes = sizes
        self.bound = bound
        self.beam = 1 if first else BEAM
        self.open = {end.key for node in nodes for end in node.open_ends()}
        self.taken = {(n.number, n.places[place]) for n in nodes for place in n.children}
        if first:
            self.open = self.taken = {(n.number, place) for n in nodes for place in n.places}
        reach = (len(nodes) + 4) * max(sizes.flat + sizes.upright)
        self.stride = 2 * reach
        self.origin = reach * self.stride + reach
        self.shapes: dict[tuple[int, int], int] = {}

    def run(self, order: Iterable[Node]) -> _Table | Node:
        """The best table with all tiles set in this order, or the tile that got stuck."""
        tables: list[_Table] = []
        for node in order:
            grown = (grown for table in tables for grown in self.set(table, node))
            best: dict[float, _Table] = {}
            for t in grown if tables else self.lead(node): best.setdefault(self.cost(t), t)
            tables = [best[c] for c in sorted(best)[: self.beam]]
            if not tables:
                return node
        return tables[0]

    def cost(self, table: _Table) -> float:
        """How bad a table looks, as far as it goes."""
        over = max(0, table.claimed.width - self.bound) if self.bound else 0
        size = table.extent.width + self.sizes.aspect * table.extent.height
        return table.fees + OVER * over + SIZE * size

    def lead(self, node: Node) -> Iterator[_Table]:
        """The table with the first tile."""
        width, height = self.sizes.tile(node, RIGHT)
        box = Box(-(width // 2), -(height // 2), width, height)
        return self.settle(_Table((), (), 0, box, box, 0), Placed(node, box, RIGHT), ())

    def set(self, table: _Table, node: Node) -> Iterator[_Table]:
        """The tables with this tile set in every way that has room."""
        for free in table.free:
            exit_ = free.exit
            if exit_.key != node.attached_to:
                continue
            others = tuple(other for other in table.free if other is not free)
            blocked = table.covered & ~self.cells(exit_.box) | _all(other.mark for other in others)
            for way, direction, fee in _ways(exit_, node):
                turned = Box(*exit_.anchor, 0, 0).moved(direction, HALF if way != direction else 0)
                box = exit_.box.beside(way, self.sizes.tile(node, direction), turned[:2])
                if not self.cells(box.grown()) & blocked:
                    yield from self.settle(table, Placed(node, box, direction), others, fee)

    def settle(
        self, table: _Table, tile: Placed, others: tuple[_Free, ...], fee: float = 0
    ) -> Iterator[_Table]:
        """The table with this tile, if its own marks have room too."""
        marks = _all(other.mark for other in others)
        claims = _all(other.claim for other in others)
        cells = self.cells(tile.box)
        extent = table.extent.joined(tile.box)
        claimed = table.claimed.joined(tile.box)
        spoilt = (cells & claims).bit_count()
        new = []
        for exit_ in tile.exits():
            mark = claim = 0
            if exit_.key in self.open:
                box = exit_.room(self.sizes.mark)
                if self.cells(box.grown()) & (table.covered | marks):
                    return
                mark = self.cells(box)
                extent = extent.joined(box)
            if exit_.key in self.taken:
                box = exit_.room(self.sizes.claim(exit_.direction))
                claim = self.cells(box)
                claimed = claimed.joined(box)
                spoilt += (claim & (table.covered | claims)).bit_count()
            new.append(_Free(exit_, mark, claim))
        if not self.bound or extent.width <= self.bound:
            yield _Table(
                (*table.tiles, tile),
                (*others, *new),
                table.covered | cells,
                extent,
                claimed.joined(extent),
                table.fees + fee + CLAIM * spoilt,
            )

    def cells(self, box: Box) -> int:
        """The set of a box's cells."""
        size = box[2:]
        if size not in self.shapes:
            row = (1 << box.width) - 1
            self.shapes[size] = _all(row << y * self.stride for y in range(box.height))
        return self.shapes[size] << self.origin + box.top * self.stride + box.left


def _all(sets: Iterable[int]) -> int:
    """The union of sets of cells."""
    return reduce(or_, sets, 0)


def _ways(exit_: Exit, node: Node) -> Iterator[tuple[int, int, float]]:
    """Every way to set a tile: which side of the exit it touches, where its arm goes, the fee."""
    ahead = exit_.direction
    plain = exit_.place.kind == "plain"
    yield ahead, ahead, 0
    for turn in ((ahead + 1) % 4, (ahead - 1) % 4):
        if not node.tile.is_double:
            yield ahead, turn, AT_END if plain else AT_DOUBLE
        if plain:
            yield turn, turn, AT_HALF
