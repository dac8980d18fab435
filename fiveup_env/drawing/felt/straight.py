"""The layout that always works: all arms run straight, and connectors keep them apart."""

from __future__ import annotations

import numpy as np

from fiveup_env.drawing.felt.boxes import (
    RIGHT,
    RIM,
    STEP_X,
    STEP_Y,
    Box,
    Sizes,
    box_in,
    exit_of,
    joined,
    link_size,
    moved,
    no_box,
    put_box,
    reach,
    room,
    tile_size,
)
from fiveup_env.native import Array, inner, signed


@inner
def spread(nodes: Array, sizes: Sizes, tiles: Array) -> None:
    """Write the places of all tiles in straight arms.

    Every arm is moved away until the box around it is clear of the box around what is already
    there. Nothing blocks its connector: only the arm itself reaches in front of that exit.
    """
    count = len(nodes)
    gaps, extents = np.zeros(count, np.int64), np.zeros((count, 4), np.int64)
    width, height = tile_size(sizes, nodes[0], RIGHT)
    put_box(tiles[0].box, Box(0, 0, width, height))
    tiles[0].direction, tiles[0].place = RIGHT, -1
    for n in range(1, count):  # without gaps, each touching its parent
        parent = signed(nodes[n].parent)
        way_out = exit_of(
            nodes[parent],
            parent,
            signed(nodes[n].place),
            signed(tiles[parent].direction),
            box_in(tiles[parent].box),
        )
        put_box(tiles[n].box, room(way_out, tile_size(sizes, nodes[n], way_out.direction)))
        tiles[n].direction, tiles[n].place = way_out.direction, nodes[n].place
    for n in range(count - 1, -1, -1):  # the gap of each arm, from the leaves to the lead
        extent, lies = box_in(tiles[n].box), box_in(tiles[n].box)
        for place in range(nodes[n].count):
            if nodes[n].children[place] < 0:
                way_out = exit_of(nodes[n], n, place, signed(tiles[n].direction), lies)
                extent = joined(extent, room(way_out, sizes.mark))
        for child in range(n + 1, count):
            if nodes[child].parent == n:
                way, around = signed(tiles[child].direction), box_in(extents[child])
                gaps[child] = reach(extent, way) + reach(around, (way + 2) % 4) + RIM
                extent = joined(extent, moved(around, way, gaps[child]))
        put_box(extents[n], extent)
    _move_apart(nodes, sizes, gaps, tiles)


@inner
def _move_apart(nodes: Array, sizes: Sizes, gaps: Array, tiles: Array) -> None:
    """Move every tile by the gaps of its arm, and set the connectors."""
    offsets = np.zeros((len(nodes), 2), np.int64)
    put_box(tiles[0].link, no_box())
    for n in range(1, len(nodes)):
        parent, way, gap = signed(nodes[n].parent), signed(tiles[n].direction), gaps[n]
        way_out = exit_of(
            nodes[parent],
            parent,
            signed(nodes[n].place),
            signed(tiles[parent].direction),
            box_in(tiles[parent].box),
        )
        put_box(tiles[n].link, room(way_out, link_size(sizes, way, gap)))
        offsets[n, 0] = offsets[parent, 0] + STEP_X[way] * gap
        offsets[n, 1] = offsets[parent, 1] + STEP_Y[way] * gap
        left, top, width, height = box_in(tiles[n].box)
        put_box(tiles[n].box, Box(left + offsets[n, 0], top + offsets[n, 1], width, height))
