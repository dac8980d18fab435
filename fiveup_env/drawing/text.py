"""The layout as text: small tiles that touch, what each open end counts, and the total."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from fiveup_env.drawing.felt.boxes import LEFT, RIGHT, Box, Sizes
from fiveup_env.drawing.placement import place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.drawing.placement import Mark, Placement
    from fiveup_env.rules.actions import Move


class _Style(NamedTuple):
    """The characters for tiles, the tile set last, arrows and connectors."""

    flat: str
    upright: str
    last_flat: str
    last_upright: str
    arrows: str  # right, down, left, up
    lines: str  # across, down


_UNICODE = _Style("[{}│{}]", "┌{}┐\n├─┤\n└{}┘", "┃{}┃{}┃", "┏{}┓\n┣━┫\n┗{}┛", "→↓←↑", "─│")
_ASCII = _Style("[{}:{}]", "[{}]\n[-]\n[{}]", "{{{}:{}}}", "{{{}}}\n{{-}}\n{{{}}}", ">v<^", "-|")


def layout_text(
    plays: Sequence[Move], spinners: str, *, width: int = 100, unicode: bool = True
) -> str:
    """Return a drawing of the layout after some plays of one hand, the lead first.

    The tile set last has a bold frame (braces in ASCII). An arrow marks an open end, with what it
    counts; an end without a number is open too, but adds nothing. The drawing is at most `width`
    columns wide, unless the layout cannot be drawn in that many.
    """
    placement = place(plays, spinners, Sizes(), width)
    if placement is None:
        return "No tile has been set yet."
    style = _UNICODE if unicode else _ASCII
    tiles, extent = placement.tiles, placement.extent
    rows = [[" "] * extent.width for _ in range(extent.height)]

    def write(box: Box, text: str) -> None:
        left = box.left - extent.left
        for y, line in enumerate(text.split("\n"), box.top - extent.top):
            rows[y][left : left + len(line)] = line

    for tile in tiles:
        looks = style[2:] if tile is tiles[-1] else style
        write(tile.box, looks[tile.upright].format(*tile.halves))
        if tile.link and tile.direction in (LEFT, RIGHT):
            write(tile.link, style.lines[0] * tile.link.width)
        elif tile.link:
            write(tile.link, "\n".join(style.lines[1] * tile.link.height))
    for mark in placement.marks:
        write(mark.box, _arrow(mark, style.arrows[mark.direction]))
    picture = "\n".join("".join(row).rstrip() for row in rows)
    return f"{picture}\n\n{fill(f'last {tiles[-1].tile}; {_summary(placement)}', width)}"


def _arrow(mark: Mark, arrow: str) -> str:
    """Return three characters for an open end, with the arrow next to its tile."""
    counts = str(mark.counts) if mark.counts or mark.kind == "plain" else ""
    if mark.direction == RIGHT:
        return f"{arrow}{counts}".ljust(3)
    if mark.direction == LEFT:
        return f"{counts}{arrow}".rjust(3)
    return f"{arrow}{counts}".center(3)


def _summary(placement: Placement) -> str:
    """Return all open ends, a double's with what it counts, and the total."""
    names: dict[object, str] = {}
    for mark in placement.marks:  # a double is one end, however many of its places are free
        double = f"{placement.tiles[mark.number].tile} ({mark.counts})"
        name = str(mark.pip) if mark.kind == "plain" else double
        names.setdefault((mark.number, mark.kind, mark.pip), name)
    return f"open ends {', '.join(names.values())}; total {placement.total}"
