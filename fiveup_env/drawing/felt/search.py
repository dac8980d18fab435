"""The search for a compact layout: tiles touch, and arms bend to avoid what is in their way.

Tiles are set one by one, by a beam search with a bounded number of tries. The first try takes them
in the order of play and knows nothing of later plays, so one more play usually leaves the picture
as it was. In every later try, the arm that got stuck in the one before goes first.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fiveup_env.drawing.felt.boxes import (
    HALF,
    RIGHT,
    Box,
    Exit,
    Sizes,
    beside,
    box_in,
    claim_size,
    exit_of,
    grown,
    joined,
    link_size,
    moved,
    no_box,
    overlap,
    put_box,
    room,
    tile_size,
)
from fiveup_env.drawing.felt.tree import MOST_PLACES, PLAIN, are_alike, is_end
from fiveup_env.native import Array, Struct, inlined, inner, signed
from fiveup_env.rules.tiles import TILE_COUNT

TRIES: Final = 8  # for each bound on the width
TRIES_WITHOUT_LINKS: Final = 3
BEAM: Final = 4  # drafts kept in every try but the first
GAP: Final = 3  # the length of a connector
NO_BOUND: Final = 0

# What a draft costs: for each tile around a corner (one of three kinds) or behind a connector, and
# for each cell of a claim that is spoilt, beyond the bound, or along the picture's longer side.
AT_END, AT_HALF, AT_DOUBLE, LINKED = 3.0, 4.0, 8.0, 12.0
SPOILT, OVER, SIZE = 0.25, 1.0, 0.5

MOST_EXITS: Final = 48  # more than all doubles as spinners have

BOX = (np.int16, (4,))

# A tile on the felt, and the place of its parent at which it lies there. The rules do not tell the
# two sides of a double apart: unless an arm was chosen, it may be another than that in the tree.
SET = np.dtype(
    [("box", *BOX), ("link", *BOX), ("direction", np.int8), ("place", np.int8)], align=True
)

# An exit without a tile, and its mark and its claim.
FREE = np.dtype(
    [("node", np.int8), ("place", np.int8), ("mark", *BOX), ("claim", *BOX)], align=True
)

# Some tiles set, and what is needed to set the next one.
DRAFT = np.dtype(
    [
        ("tiles", SET, (TILE_COUNT,)),
        ("free", FREE, (MOST_EXITS,)),
        ("free_count", np.int8),
        ("extent", *BOX),  # around all tiles and marks
        ("claimed", *BOX),  # around the claims as well
        ("fees", np.float64),
        ("cost", np.float64),
    ],
    align=True,
)


class Attempt(NamedTuple):
    """One beam search, and what it knows of every place: whether it will be open or taken."""

    nodes: Array
    order: Array
    sizes: Sizes
    bound: int
    per_size: float
    gap: int
    is_open: Array
    is_taken: Array


class Way(NamedTuple):
    """A way to set a tile, and what it costs."""

    box: Box
    link: Box
    direction: int
    fee: float


@inner
def search(nodes: Array, sizes: Sizes, width: int, tries: int, tiles: Array) -> bool:
    """Write the places of all tiles, and return whether any try found them."""
    count = len(nodes)
    order, stuck_first = np.empty(count, np.int64), np.empty(count, np.int64)
    drafts, candidates = np.zeros(BEAM, DRAFT), np.zeros(BEAM + 1, DRAFT)
    for bound in (width, NO_BOUND):
        for k in range(count):
            order[k] = k
        for number in range(tries):
            attempt = _prepared(nodes, order, sizes, bound, number)
            stuck = _run(attempt, BEAM if number else 1, drafts, candidates)
            if stuck < 0:
                _take(drafts, tiles, count)
                return True
            _put_first(nodes, stuck, order, stuck_first)
        if width == NO_BOUND:
            break
    return False


@inner
def _take(drafts: Array, tiles: Array, count: int) -> None:
    """Write the tiles of the best draft."""
    for k in range(count):
        tiles[k] = drafts[0].tiles[k]


@inner
def _prepared(nodes: Array, order: Array, sizes: Sizes, bound: int, number: int) -> Attempt:
    """Return a try; all but the first know which places will be open or taken in the end."""
    count = len(nodes)
    is_open = np.ones((count, MOST_PLACES), np.int8)
    is_taken = np.ones((count, MOST_PLACES), np.int8)
    if number:
        is_open[:] = 0
        is_taken[:] = 0
        for n in range(count):
            node = nodes[n]
            for place in range(node.count):
                for other in range(node.count):
                    if other == place or (not node.exact and are_alike(node, place, other)):
                        is_open[n, place] |= is_end(node, other, count)
                        is_taken[n, place] |= node.children[other] >= 0
    per_size = SIZE / (1 + number)  # each try cares less about size
    gap = GAP if number >= TRIES_WITHOUT_LINKS else 0
    return Attempt(nodes, order, sizes, bound, per_size, gap, is_open, is_taken)


@inlined
def _put_first(nodes: Array, stuck: int, order: Array, scratch: Array) -> None:
    """Move the tiles from the lead to the one that got stuck to the front of the order."""
    at, node = signed(nodes[stuck].depth), stuck
    first = at + 1
    while node >= 0:
        scratch[at] = node
        node, at = signed(nodes[node].parent), at - 1
    at = first
    for k in range(len(order)):
        is_moved = False
        for j in range(first):
            is_moved = is_moved or scratch[j] == order[k]
        if not is_moved:
            scratch[at] = order[k]
            at += 1
    for k in range(len(order)):
        order[k] = scratch[k]


@inner
def _run(attempt: Attempt, beam: int, drafts: Array, candidates: Array) -> int:
    """Set all tiles in order; return -1, or the tile that got stuck. The best draft comes first."""
    nodes, sizes = attempt.nodes, attempt.sizes
    width, height = tile_size(sizes, nodes[0], RIGHT)
    lead = Box(0, 0, width, height)
    put_box(drafts[0].extent, lead)
    put_box(drafts[0].claimed, lead)
    drafts[0].fees, drafts[0].free_count = 0.0, 0
    if not _settle(attempt, 0, drafts[0], -1, Way(lead, no_box(), RIGHT, 0.0), candidates[0]):
        return 0
    drafts[0] = candidates[0]
    count = 1
    for k in range(1, len(attempt.order)):
        kept = 0
        for d in range(count):
            kept = _set(attempt, k, drafts[d], candidates, kept, beam)
        if not kept:
            return signed(attempt.order[k])
        for d in range(kept):
            drafts[d] = candidates[d]
        count = kept
    return -1


@inner
def _set(attempt: Attempt, k: int, draft: Struct, candidates: Array, kept: int, beam: int) -> int:
    """Add every way to set the k-th tile to the best candidates; return how many there are."""
    number = attempt.order[k]
    node = attempt.nodes[number]
    parent = attempt.nodes[node.parent]
    for f in range(draft.free_count):
        free = draft.free[f]
        if free.node != node.parent:
            continue
        alike = not parent.exact and are_alike(parent, free.place, node.place)
        if free.place != node.place and not alike:
            continue
        lies = draft.tiles[node.parent]
        way_out = exit_of(
            parent,
            signed(node.parent),
            signed(free.place),
            signed(lies.direction),
            box_in(lies.box),
        )
        for n in range(6):
            way = _way(attempt, way_out, node, n)
            if way.box.width == 0 or _is_blocked(attempt, k, draft, f, way):
                continue
            trial = candidates[beam]
            if _settle(attempt, k, draft, f, way, trial):
                trial.tiles[number].place = free.place
                trial.cost = _cost(attempt, trial)
                kept = _keep(candidates, kept, beam)
    return kept


@inlined
def _keep(candidates: Array, kept: int, beam: int) -> int:
    """Sort the last candidate in by its cost; return how many are kept.

    Mirror images cost the same; one of each pair is enough, and the last is taken.
    """
    cost, at = candidates[beam].cost, 0
    while at < kept and candidates[at].cost < cost:
        at += 1
    if at < kept and candidates[at].cost == cost:
        candidates[at] = candidates[beam]
        return kept
    if at == beam:
        return kept
    kept = min(kept + 1, beam)
    for k in range(kept - 1, at, -1):
        candidates[k] = candidates[k - 1]
    candidates[at] = candidates[beam]
    return kept


@inlined
def _cost(attempt: Attempt, draft: Struct) -> float:
    """Return the cost of a draft so far."""
    over = max(0, signed(draft.claimed[2]) - attempt.bound) if attempt.bound else 0
    size = max(float(draft.extent[2]), attempt.sizes.aspect * draft.extent[3])
    return draft.fees + OVER * over + attempt.per_size * size


@inlined
def _way(attempt: Attempt, way_out: Exit, node: Struct, n: int) -> Way:
    """Return the n-th of six ways to set a tile at an exit; its box is none where there is none."""
    ahead, sizes = way_out.direction, attempt.sizes
    straight = room(way_out, tile_size(sizes, node, ahead))
    is_half = attempt.nodes[way_out.node].kinds[way_out.place] == PLAIN
    if n == 0:
        return Way(straight, no_box(), ahead, 0.0)
    if n == 1:
        if not attempt.gap:
            return Way(no_box(), no_box(), ahead, 0.0)
        link = room(way_out, link_size(sizes, ahead, attempt.gap))
        return Way(moved(straight, ahead, attempt.gap), link, ahead, LINKED)
    turn = (ahead + 1) % 4 if n < 4 else (ahead + 3) % 4
    size = tile_size(sizes, node, turn)
    if n % 2 == 0 and node.high != node.low:  # its near half lies where a straight tile would
        fee = AT_END if is_half else AT_DOUBLE
        return Way(moved(room(way_out, size), turn, HALF), no_box(), turn, fee)
    if n % 2 == 1 and is_half:  # beside that half
        return Way(beside(way_out.box, turn, size, way_out.x, way_out.y), no_box(), turn, AT_HALF)
    return Way(no_box(), no_box(), turn, 0.0)


@inlined
def _is_blocked(attempt: Attempt, k: int, draft: Struct, used: int, way: Way) -> bool:
    """Return whether a tile would touch what it is not attached to, or lie on a mark."""
    for j in range(k):
        number = attempt.order[j]
        tile = draft.tiles[number]
        if number != draft.free[used].node and _touches(way, box_in(tile.box)):
            return True
        if _touches(way, box_in(tile.link)):
            return True
    for f in range(draft.free_count):
        if f != used and _touches(way, box_in(draft.free[f].mark)):
            return True
    return False


@inlined
def _touches(way: Way, other: Box) -> bool:
    """Return whether a box lies on the rim of a tile or of its connector."""
    if not other.width:
        return False
    rim = grown(way.box)
    return overlap(rim, other) or (way.link.width > 0 and overlap(grown(way.link), other))


@inner
def _settle(attempt: Attempt, k: int, draft: Struct, used: int, way: Way, made: Struct) -> bool:
    """Write the draft with the k-th tile set; return whether the marks of its own ends fit too."""
    number, sizes = attempt.order[k], attempt.sizes
    node = attempt.nodes[number]
    count = 0
    for f in range(draft.free_count):
        if f != used:
            made.free[count] = draft.free[f]
            count += 1
    others = count
    extent, claimed = joined(box_in(draft.extent), way.box), box_in(draft.claimed)
    spoilt = _cells_claimed(made, others, way.box) + _cells_claimed(made, others, way.link)
    for place in range(node.count):
        way_out = exit_of(node, number, place, way.direction, way.box)
        mark, claim = no_box(), no_box()
        if attempt.is_open[number, place]:
            mark = room(way_out, sizes.mark)
            if _is_mark_blocked(attempt, k, draft, made, others, grown(mark)):
                return False
            extent = joined(extent, mark)
        if attempt.is_taken[number, place]:
            claim = room(way_out, claim_size(sizes, way_out.direction))
            claimed = joined(claimed, claim)
            spoilt += _cells_spoilt(attempt, k, draft, made, others, claim)
        made.free[count].node, made.free[count].place = number, place
        put_box(made.free[count].mark, mark)
        put_box(made.free[count].claim, claim)
        count += 1
    if attempt.bound and extent.width > attempt.bound:
        return False
    for j in range(k):
        made.tiles[attempt.order[j]] = draft.tiles[attempt.order[j]]
    put_box(made.tiles[number].box, way.box)
    put_box(made.tiles[number].link, way.link)
    made.tiles[number].direction, made.tiles[number].place = way.direction, -1
    made.free_count = count
    put_box(made.extent, extent)
    put_box(made.claimed, joined(claimed, extent))
    made.fees = draft.fees + way.fee + SPOILT * spoilt
    return True


@inlined
def _is_mark_blocked(
    attempt: Attempt, k: int, draft: Struct, made: Struct, others: int, rim: Box
) -> bool:
    """Return whether a mark would touch a tile that lay there before, or another mark."""
    for j in range(k):
        tile = draft.tiles[attempt.order[j]]
        if overlap(rim, box_in(tile.box)):
            return True
        if tile.link[2] and overlap(rim, box_in(tile.link)):
            return True
    for f in range(others):
        if made.free[f].mark[2] and overlap(rim, box_in(made.free[f].mark)):
            return True
    return False


@inlined
def _cells_claimed(made: Struct, others: int, box: Box) -> int:
    """Return the number of cells of a box that other exits claim."""
    cells = 0
    for y in range(box.top, box.top + box.height):
        for x in range(box.left, box.left + box.width):
            cells += _is_claimed(made, others, Box(x, y, 1, 1))
    return cells


@inlined
def _cells_spoilt(
    attempt: Attempt, k: int, draft: Struct, made: Struct, others: int, claim: Box
) -> int:
    """Return the number of cells of a claim that tiles cover, or that other exits claim too."""
    cells = 0
    for y in range(claim.top, claim.top + claim.height):
        for x in range(claim.left, claim.left + claim.width):
            cell = Box(x, y, 1, 1)
            spoilt = _is_claimed(made, others, cell)
            for j in range(k):
                if spoilt:
                    break
                tile = draft.tiles[attempt.order[j]]
                spoilt = overlap(cell, box_in(tile.box)) or (
                    tile.link[2] > 0 and overlap(cell, box_in(tile.link))
                )
            cells += spoilt
    return cells


@inlined
def _is_claimed(made: Struct, others: int, cell: Box) -> bool:
    for f in range(others):
        if made.free[f].claim[2] and overlap(cell, box_in(made.free[f].claim)):
            return True
    return False
