"""What a picture of the felt needs: tiles, the marks of the open ends, and the box around all."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from fiveup_env.drawing.felt.boxes import (
    DOWN,
    RIGHT,
    Box,
    Sizes,
    beside,
    box_in,
    exit_of,
    is_across,
    joined,
    put_box,
    room,
)
from fiveup_env.drawing.felt.search import MOST_EXITS, SET, search
from fiveup_env.drawing.felt.straight import spread
from fiveup_env.drawing.felt.tree import (
    CROSS,
    MOST_PLACES,
    NODE,
    PLAIN,
    are_alike,
    counts_at,
    grow,
    is_end,
)
from fiveup_env.native import Array, Entries, Int64s, Struct, compiled, inlined, inner, signed
from fiveup_env.rules.tiles import TILE_COUNT

# A tile on the felt.
TILE = np.dtype(
    [
        ("box", np.int16, (4,)),  # left, top, width, height, in cells
        ("link", np.int16, (4,)),  # the connector to its parent, 0 wide if there is none
        ("direction", np.int8),  # of its arm: right, down, left, up
        ("upright", np.int8),  # whether one half lies above the other
        ("halves", np.int8, (2,)),  # the pips from left to right, or from top to bottom
        ("spins", np.int8),  # whether it is a spinner
        ("parent", np.int8),  # the tile that it is attached to, -1 for the lead
        ("arm", np.int8),  # the arm on which it lies: 4 * parent + place; -1 for the lead
    ],
    align=True,
)

# The space at an open end in which a picture shows what the end counts.
MARK = np.dtype(
    [
        ("box", np.int16, (4,)),
        ("direction", np.int8),
        ("tile", np.int8),
        ("kind", np.int8),  # an exposed half, a side of a double, a short end of a spinner
        ("pip", np.int8),
        ("counts", np.int8),
        ("arm", np.int8),  # 4 * tile + place, for the play that takes this end
    ],
    align=True,
)

PICTURE = np.dtype(
    [
        ("extent", np.int16, (4,)),
        ("tile_count", np.int8),
        ("mark_count", np.int8),
        ("tiles", TILE, (TILE_COUNT,)),
        ("marks", MARK, (MOST_EXITS,)),
    ],
    align=True,
)
Pictures: TypeAlias = Annotated[np.ndarray, Entries(PICTURE)]


@compiled
def draw(
    actions: Int64s,
    arms: Int64s,
    spinners: int,
    sizes: Sizes,
    width: int,
    tries: int,
    shown: int,
    pictures: Pictures,
) -> int:
    """Place the tiles of some plays in the first picture, `width` cells wide if possible (0: any).

    Tiles lie as after all plays, marks are those after the first `shown`. Return how many plays
    fit; nothing is written unless all do.
    """
    nodes, tiles = np.zeros(TILE_COUNT, NODE)[: len(actions)], np.zeros(TILE_COUNT, SET)
    fit = grow(actions, arms, spinners, nodes)
    if fit == len(actions):
        if not search(nodes, sizes, width, tries, tiles):
            spread(nodes, sizes, tiles)
        _write(nodes, tiles, sizes, shown, pictures[0])
    return fit


@inner
def _write(nodes: Array, tiles: Array, sizes: Sizes, shown: int, picture: Struct) -> None:
    """Write all tiles, and the marks that are open after the first `shown` plays."""
    extent = box_in(tiles[0].box)
    for n in range(len(nodes)):
        extent = joined(extent, box_in(tiles[n].box))
        _put_tile(nodes, tiles, n, picture.tiles[n])
    extent = _put_marks(nodes, tiles, len(nodes), sizes, picture, extent)
    put_box(picture.extent, extent)
    if shown < len(nodes):
        _put_marks(nodes, tiles, shown, sizes, picture, extent)
    picture.tile_count = len(nodes)


@inlined
def _put_tile(nodes: Array, tiles: Array, n: int, tile: Struct) -> None:
    node, lies = nodes[n], tiles[n]
    put_box(tile.box, box_in(lies.box))
    put_box(tile.link, box_in(lies.link))
    tile.direction, tile.parent = lies.direction, node.parent
    tile.upright = (not is_across(lies.direction)) != (node.high == node.low)
    tile.spins = node.kinds[node.count - 1] == CROSS
    tile.arm = -1 if n == 0 else MOST_PLACES * node.parent + lies.place
    tile.halves[0], tile.halves[1] = node.high, node.low
    if n > 0:
        near = signed(nodes[node.parent].pips[node.place])
        far = signed(node.high) + node.low - near
        forward = lies.direction in (RIGHT, DOWN)
        tile.halves[0], tile.halves[1] = (near, far) if forward else (far, near)


@inlined
def _put_marks(
    nodes: Array, tiles: Array, shown: int, sizes: Sizes, picture: Struct, extent: Box
) -> Box:
    """Write the marks of all open ends after some plays; return the box around them, too."""
    count = 0
    for n in range(shown):
        free = _free_places(nodes, tiles, n, shown)
        for place in range(nodes[n].count):
            if not is_end(nodes[n], place, shown):
                continue
            lies = 0
            while not (free >> lies & 1 and are_alike(nodes[n], lies, place)):
                lies += 1
            free &= ~(1 << lies)
            way_out = exit_of(nodes[n], n, lies, signed(tiles[n].direction), box_in(tiles[n].box))
            box, direction = room(way_out, sizes.mark), way_out.direction
            for child in range(shown, len(nodes)):  # a tile set later may lie around the corner
                if nodes[child].parent == n and tiles[child].place == lies:
                    around = box_in(tiles[child].box)
                    if tiles[child].link[2]:
                        around = joined(around, box_in(tiles[child].link))
                    if joined(around, box) != around and nodes[n].kinds[lies] == PLAIN:
                        direction = signed(tiles[child].direction)
                        box = beside(way_out.box, direction, sizes.mark, way_out.x, way_out.y)
            mark = picture.marks[count]
            put_box(mark.box, box)
            mark.direction, mark.tile, mark.arm = direction, n, MOST_PLACES * n + lies
            mark.kind, mark.pip = nodes[n].kinds[place], nodes[n].pips[place]
            mark.counts = counts_at(nodes[n], place, shown)
            extent = joined(extent, box)
            count += 1
    picture.mark_count = count
    return extent


@inlined
def _free_places(nodes: Array, tiles: Array, n: int, shown: int) -> int:
    """Return the places of a tile at which nothing lies after some plays, as bits."""
    free = (1 << signed(nodes[n].count)) - 1
    for child in range(n + 1, shown):
        if nodes[child].parent == n:
            free &= ~(1 << signed(tiles[child].place))
    return free
