"""The search for a compact layout: tiles touch, and arms bend to avoid what is in their way.

Tiles are set one by one, by a beam search with a bounded number of tries. The first try takes them
in the order of play and knows nothing of later plays, so one more play usually leaves the picture
as it was. In every later try, the arm that got stuck in the one before goes first.
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
TRIES_WITHOUT_LINKS = 3
BEAM = 4  # drafts kept in every try but the first
GAP = 3  # the length of a connector

# What a draft costs: for each tile around a corner (one of three kinds) or behind a connector, and
# for each cell of a claim that is spoilt, beyond the bound, or along the picture's longer side.
AT_END, AT_HALF, AT_DOUBLE, LINKED = 3.0, 4.0, 8.0, 12.0
SPOILT, OVER, SIZE = 0.25, 1.0, 0.5


class _Free(NamedTuple):
    """An exit without a tile, and the cells of its mark and of its claim."""

    exit: Exit
    mark: int
    claim: int


class _Draft(NamedTuple):
    """Some tiles set, and what is needed to set the next one."""

    tiles: tuple[Placed, ...]
    free: tuple[_Free, ...]
    covered: int  # the cells of tiles and connectors
    extent: Box  # around all tiles and marks
    claimed: Box  # around the claims as well
    fees: float


def search(root: Node, sizes: Sizes, width: int | None) -> tuple[list[Placed], list[Exit]] | None:
    """Return all tiles set, and the exits left over, or None if every try failed."""
    nodes = sorted(root.walk(), key=lambda node: node.number)
    for bound in (width, None) if width else (None,):
        order = nodes
        for number in range(TRIES):
            draft = _Try(number, nodes, sizes, bound).run(order)
            if isinstance(draft, _Draft):
                return list(draft.tiles), [free.exit for free in draft.free]
            path = draft.path()
            order = path + [node for node in order if node not in path]
    return None


class _Try:
    """One beam search; a set of cells is an integer with a bit for each cell, row by row."""

    def __init__(self, number: int, nodes: Sequence[Node], sizes: Sizes, bound: int | None) -> None:
        """Prepare a try; all but the first know which places will be open or taken in the end."""
        self.sizes = sizes
        self.bound = bound
        self.beam = BEAM if number else 1
        self.per_size = SIZE / (1 + number)  # each try cares less about size
        self.gap = GAP if number >= TRIES_WITHOUT_LINKS else 0
        self.open = {end.key for node in nodes for end in node.open_ends()}
        self.taken = {
            (node.number, node.places[place]) for node in nodes for place in node.children
        }
        if not number:
            self.open = self.taken = {
                (node.number, place) for node in nodes for place in node.places
            }
        reach = (len(nodes) + 4) * (max(sizes.flat + sizes.upright) + self.gap)
        self.stride = 2 * reach
        self.origin = reach * self.stride + reach
        self.shapes: dict[tuple[int, int], int] = {}

    def run(self, order: Sequence[Node]) -> _Draft | Node:
        """Return the best draft with all tiles set in this order, or the tile that got stuck."""
        drafts = list(self.lead(order[0]))
        for node in order[1:]:
            # Mirror images cost the same; one of each pair is enough.
            costs = {self.cost(grown): grown for draft in drafts for grown in self.set(draft, node)}
            if not costs:
                return node
            drafts = [costs[cost] for cost in sorted(costs)[: self.beam]]
        return drafts[0]

    def cost(self, draft: _Draft) -> float:
        """Return how bad a draft looks so far."""
        over = max(0, draft.claimed.width - self.bound) if self.bound else 0
        size = max(draft.extent.width, self.sizes.aspect * draft.extent.height)
        return draft.fees + OVER * over + self.per_size * size

    def lead(self, node: Node) -> Iterator[_Draft]:
        """Yield the draft with the first tile."""
        box = Box(0, 0, *self.sizes.tile(node, RIGHT))
        return self.settle(_Draft((), (), 0, box, box, 0), Placed(node, box, RIGHT), (), 0)

    def set(self, draft: _Draft, node: Node) -> Iterator[_Draft]:
        """Yield a draft for every way to set a tile that fits."""
        for free in draft.free:
            exit_ = free.exit
            if exit_.key != node.attached_to:
                continue
            others = tuple(other for other in draft.free if other is not free)
            blocked = draft.covered & ~self.cells(exit_.box) | _union(
                other.mark for other in others
            )
            for tile, fee in self.ways(exit_, node):
                rim = self.cells(tile.box.grown())
                if tile.link:
                    rim |= self.cells(tile.link.grown())
                if not rim & blocked:
                    yield from self.settle(draft, tile, others, fee)

    def ways(self, exit_: Exit, node: Node) -> Iterator[tuple[Placed, float]]:
        """Yield every way to set a tile at an exit, and what it costs."""
        ahead = exit_.direction
        straight = exit_.room(self.sizes.tile(node, ahead))
        yield Placed(node, straight, ahead), 0
        if self.gap:
            link = exit_.room(self.sizes.link(ahead, self.gap))
            yield Placed(node, straight.moved(ahead, self.gap), ahead, link), LINKED
        is_half = exit_.place.kind == "plain"
        for turn in ((ahead + 1) % 4, (ahead - 1) % 4):
            size = self.sizes.tile(node, turn)
            if not node.tile.is_double:  # its near half lies where a straight tile would
                fee = AT_END if is_half else AT_DOUBLE
                yield Placed(node, exit_.room(size).moved(turn, HALF), turn), fee
            if is_half:  # beside that half
                yield Placed(node, exit_.box.beside(turn, size, exit_.anchor), turn), AT_HALF

    def settle(
        self, draft: _Draft, tile: Placed, others: tuple[_Free, ...], fee: float
    ) -> Iterator[_Draft]:
        """Yield the draft with this tile, if the marks of its own open ends fit as well."""
        marks = _union(other.mark for other in others)
        claims = _union(other.claim for other in others)
        cells = self.cells(tile.box) | (self.cells(tile.link) if tile.link else 0)
        extent = draft.extent.joined(tile.box)
        claimed = draft.claimed
        spoilt = (cells & claims).bit_count()
        free = list(others)
        for exit_ in tile.exits():
            mark = claim = 0
            if exit_.key in self.open:
                box = exit_.room(self.sizes.mark)
                if self.cells(box.grown()) & (draft.covered | marks):
                    return
                mark = self.cells(box)
                extent = extent.joined(box)
            if exit_.key in self.taken:
                box = exit_.room(self.sizes.claim(exit_.direction))
                claim = self.cells(box)
                claimed = claimed.joined(box)
                spoilt += (claim & (draft.covered | claims)).bit_count()
            free.append(_Free(exit_, mark, claim))
        if not self.bound or extent.width <= self.bound:
            tiles, covered = (*draft.tiles, tile), draft.covered | cells
            fees = draft.fees + fee + SPOILT * spoilt
            yield _Draft(tiles, tuple(free), covered, extent, claimed.joined(extent), fees)

    def cells(self, box: Box) -> int:
        """Return the set of a box's cells."""
        size = box[2:]
        if size not in self.shapes:
            row = (1 << box.width) - 1
            self.shapes[size] = _union(row << y * self.stride for y in range(box.height))
        return self.shapes[size] << self.origin + box.top * self.stride + box.left


def _union(sets: Iterable[int]) -> int:
    """Return the union of sets of cells."""
    return reduce(or_, sets, 0)
