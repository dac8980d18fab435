"""Where every tile of a layout lies on the table, in whole cells, for text and pictures.

Tiles are set as people set them: end to end, doubles crosswise, and around a corner where an
arm would run into something or off the table (`search.py`). If that fails, all arms run straight
and connectors keep them apart, which always works but takes more room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fiveup_env.drawing.geometry import RIGHT, RIM, Box, Exit, Placed, Sizes
from fiveup_env.drawing.search import search
from fiveup_env.drawing.tree import open_ends

if TYPE_CHECKING:
    from fiveup_env.drawing.tree import Node, OpenEnd


class Mark(NamedTuple):
    """The space at an open end in which a picture shows what the end counts."""

    end: OpenEnd
    box: Box
    direction: int


class Placement(NamedTuple):
    """A layout on the table: its tiles by number, its open ends, and the box around everything."""

    tiles: list[Placed]
    marks: list[Mark]
    extent: Box


def place_tree(root: Node, sizes: Sizes, width: int | None = None) -> Placement:
    """Place every tile and the mark of every open end, within `width` cells if possible."""
    tiles, exits = search(root, sizes, width) or spread(root, sizes)
    tiles.sort(key=lambda tile: tile.node.number)
    marks = []
    for end in open_ends(root):
        exit_ = next(exit_ for exit_ in exits if exit_.key == end.key)
        exits.remove(exit_)
        marks.append(Mark(end, exit_.room(sizes.mark), exit_.direction))
    extent = tiles[0].box
    for box in (*(tile.box for tile in tiles), *(mark.box for mark in marks)):
        extent = extent.joined(box)
    return Placement(tiles, marks, extent)


def spread(root: Node, sizes: Sizes) -> tuple[list[Placed], list[Exit]]:
    """Return all tiles in straight arms that connectors keep apart, and the exits left over."""
    tiles, _ = _spread(Placed(root, Box(0, 0, *sizes.tile(root, RIGHT)), RIGHT), sizes)
    exits = [
        exit_
        for tile in tiles
        for place, exit_ in enumerate(tile.exits())
        if place not in tile.node.children
    ]
    return tiles, exits


def _spread(tile: Placed, sizes: Sizes) -> tuple[list[Placed], Box]:
    """Return a tile with all that are attached to it, and the box around them and their marks.

    Every arm is moved away until the box around it is clear of the box around what is already
    there. Nothing blocks its connector: only the arm itself reaches in front of that exit.
    """
    tiles, extent, exits = [tile], tile.box, tile.exits()
    for place, exit_ in enumerate(exits):
        if place not in tile.node.children:
            extent = extent.joined(exit_.room(sizes.mark))
    for place, child in tile.node.children.items():
        exit_ = exits[place]
        way = exit_.direction
        start = Placed(child, exit_.room(sizes.tile(child, way)), way)
        arm, around = _spread(start, sizes)
        gap = extent.reach(way) + around.reach((way + 2) % 4) + RIM
        link = exit_.room(sizes.link(way, gap))
        tiles += [start._replace(box=start.box.moved(way, gap), link=link)]
        tiles += [moved.moved(way, gap) for moved in arm[1:]]
        extent = extent.joined(around.moved(way, gap))
    return tiles, extent
