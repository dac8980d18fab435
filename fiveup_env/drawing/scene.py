"""What a picture of the table shows, as plain shapes that SVG and pixels both draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fiveup_env.drawing.felt.boxes import Box
    from fiveup_env.drawing.placement import Placement
    from fiveup_env.drawing.snapshot import Snapshot
    from fiveup_env.rules.fields import Rules

WOOD, FELT, SHADE, RACK = "#2e2019", "#1f6149", "#174a38", "#46332a"
BOARD, GROOVE, HOLE = "#d9b27c", "#b98f59", "#6d4c2b"
IVORY, EDGE, LINE, PIP, BACK = "#fbf5e4", "#c3b28a", "#a4926a", "#23201c", "#8d5a3b"
BRASS, GLOW, TEXT, DIM = "#bb8b34", "#ffc83d", "#f4ecdb", "#c3b8a2"
SIDES = ("#cf3630", "#2f74d0", "#ee9722", "#3c9a55", "#9355c4")  # the pegs of each side

WIDTH, MARGIN, GAP = 960.0, 20.0, 10.0
HEADER, STRIP, RACK_HEIGHT = 40.0, 42.0, 58.0
TRACK_FRAME, ROW = 36.0, 17.0
LAYOUT_HEIGHT = (240.0, 470.0)  # minimum, maximum
LARGEST_CELL = 20.0  # half the width of a tile
MOST_HOLES = 130

# Where the pips of an upright half lie, in steps from its middle.
_ONE, _TWO, _FOUR = ((0, 0),), ((1, -1), (-1, 1)), ((-1, -1), (1, -1), (-1, 1), (1, 1))
SPOTS: Final = ((), _ONE, _TWO, _ONE + _TWO, _FOUR, _ONE + _FOUR, (*_FOUR, (-1, 0), (1, 0)))


class Rect(NamedTuple):
    """A rectangle, with corners of some radius."""

    fill: str
    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0


class Dots(NamedTuple):
    """Discs of the same size."""

    fill: str
    radius: float
    points: tuple[tuple[float, float], ...]


class Text(NamedTuple):
    """A line of text; y is its middle, and x is its `anchor`: its `start`, `middle` or `end`."""

    fill: str
    x: float
    y: float
    size: float
    text: str
    anchor: str = "start"


class Part(NamedTuple):
    """Shapes that appear and disappear together, and what they stand for."""

    kind: str
    shapes: tuple[Rect | Dots | Text, ...]
    data: tuple[tuple[str, str], ...] = ()


class Area(NamedTuple):
    """A rectangle of the picture to draw in."""

    left: float
    top: float
    width: float
    height: float


class Picture(NamedTuple):
    """A picture; its parts are ordered from back to front."""

    height: float
    parts: list[Part]
    width: float = WIDTH


def frame_height(rules: Rules) -> float:
    """Return the height of a picture without the space for its layout."""
    racks = -(-rules.players // _columns(rules)) * (RACK_HEIGHT + GAP)
    return _felt_top(rules) + STRIP + GAP + racks + MARGIN - GAP


def layout_height(placement: Placement | None) -> float:
    """Return the height that suits a layout."""
    least, most = LAYOUT_HEIGHT
    if placement is None:
        return least
    cell = min(LARGEST_CELL, (WIDTH - 4 * MARGIN) / placement.extent.width)
    return min(most, max(least, placement.extent.height * cell + MARGIN))


def picture_of(snapshot: Snapshot, room: float, *, hands: Collection[int] | None = None) -> Picture:
    """Return the picture of a snapshot, with a layout `room` high.

    The hands of other seats than `hands` lie face down (None: none does).
    """
    felt, height = _felt_top(snapshot.rules), frame_height(snapshot.rules) + room
    parts = [
        Part("wood", (Rect(WOOD, 0, 0, WIDTH, height, 16),)),
        Part("felt", (Rect(FELT, MARGIN, felt, WIDTH - 2 * MARGIN, STRIP + room, 12),)),
        *_header(snapshot),
        *_track(snapshot, Area(MARGIN, HEADER, WIDTH - 2 * MARGIN, _track_height(snapshot.rules))),
        *_strip(snapshot, felt),
        *_layout(snapshot, Area(MARGIN, felt + STRIP, WIDTH - 2 * MARGIN, room)),
    ]
    columns = _columns(snapshot.rules)
    width = (WIDTH - 2 * MARGIN + GAP) / columns - GAP
    for seat in range(snapshot.rules.players):
        row, column = divmod(seat, columns)
        left = MARGIN + column * (width + GAP)
        top = felt + STRIP + room + GAP + row * (RACK_HEIGHT + GAP)
        face_up = hands is None or seat in hands
        parts += _rack(
            snapshot, seat, Rect(RACK, left, top, width, RACK_HEIGHT, 8), face_up=face_up
        )
    return Picture(height, parts)


def _columns(rules: Rules) -> int:
    """Return the number of hands that lie side by side."""
    return {4: 2, 5: 3}.get(rules.players, 1)


def _felt_top(rules: Rules) -> float:
    return HEADER + _track_height(rules) + GAP


def _track_height(rules: Rules) -> float:
    return TRACK_FRAME + rules.sides * ROW


def layout_picture(snapshot: Snapshot, least: tuple[int, int]) -> Picture:
    """Return a picture of the layout alone, as large as it needs, with at least this many cells."""
    extent, (columns, rows) = snapshot.placement and snapshot.placement.extent, least
    if extent:
        columns, rows = max(columns, extent.width + 2), max(rows, extent.height + 2)
    area = Area(0, 0, columns * LARGEST_CELL, rows * LARGEST_CELL)
    return Picture(area.height, list(_layout(snapshot, area)), area.width)


# --- Tiles


def tile_shapes(
    halves: tuple[int, int], x: float, y: float, cell: float, *, upright: bool, pin: bool = False
) -> tuple[Rect | Dots, ...]:
    """Return a tile whose corner is at x, y; a spinner has a brass pin."""
    width, height = (2 * cell, 4 * cell) if upright else (4 * cell, 2 * cell)
    inset, depth = 0.05 * cell, 0.12 * cell
    face = (x + inset, y + inset, width - 2 * inset, height - 2 * inset - depth)
    middle = (x + width / 2, y + (height - depth) / 2)
    long, thin = 1.5 * cell, 0.1 * cell
    size = (long, thin) if upright else (thin, long)
    points = [
        (
            middle[0] + 0.52 * cell * (column if upright else row + end * 1.92),
            middle[1] + 0.5 * cell * (row + end * 1.92 if upright else -column),
        )
        for end, pip in zip((-1, 1), halves, strict=True)
        for column, row in SPOTS[pip]
    ]
    shapes: list[Rect | Dots] = [
        Rect(EDGE, face[0], face[1] + depth, *face[2:], 0.35 * cell),
        Rect(IVORY, *face, 0.35 * cell),
        Rect(LINE, middle[0] - size[0] / 2, middle[1] - size[1] / 2, *size),
    ]
    if points:
        shapes.append(Dots(PIP, 0.2 * cell, tuple(points)))
    if pin:
        shapes.append(Dots(BRASS, 0.17 * cell, (middle,)))
    return tuple(shapes)


def _back(x: float, y: float, cell: float) -> tuple[Rect, ...]:
    """Return an upright tile that lies face down."""
    return (
        Rect(EDGE, x + 0.1 * cell, y + 0.1 * cell, 1.8 * cell, 3.8 * cell, 0.35 * cell),
        Rect(BACK, x + 0.1 * cell, y + 0.1 * cell, 1.8 * cell, 3.6 * cell, 0.35 * cell),
    )


def _layout(snapshot: Snapshot, area: Area) -> Iterator[Part]:
    """Yield the tiles on the table, and what each open end counts."""
    center, middle = area.left + area.width / 2, area.top + (area.height - MARGIN / 2) / 2
    if snapshot.placement is None or not snapshot.plays:
        yield Part("empty", (Text(DIM, center, middle - 15, 20, "No tile yet", "middle"),))
        return
    placement = snapshot.placement.after(len(snapshot.plays))
    extent = placement.extent
    cell = min(
        LARGEST_CELL,
        (area.width - 2 * MARGIN) / extent.width,
        (area.height - MARGIN / 2) / extent.height,
    )
    left = center - (extent.left + extent.width / 2) * cell
    top = middle - (extent.top + extent.height / 2) * cell

    def scaled(box: Box, by: float = 0) -> tuple[float, float, float, float]:
        x, y, width, height = (value * cell for value in box)
        by *= cell
        return left + x - by, top + y - by, width + 2 * by, height + 2 * by

    shown = placement.tiles[: len(snapshot.plays)]
    for tile in shown:
        if tile.link:
            x, y, width, height = scaled(tile.link)
            dx, dy = (0.8 * cell, 0.0) if tile.direction % 2 else (0.0, 0.8 * cell)
            bar = Rect(BRASS, x + dx, y + dy, width - 2 * dx, height - 2 * dy)
            yield Part("link", (bar,))
    yield Part("last", (Rect(GLOW, *scaled(shown[-1].box, 0.16), 0.5 * cell),))
    for tile in shown:
        x, y, _, _ = scaled(tile.box)
        shapes = tile_shapes(tile.halves, x, y, cell, upright=tile.upright, pin=tile.spins)
        yield Part("tile", shapes, (("tile", str(tile.tile)),))
    for mark in placement.marks:
        x, y, width, height = scaled(mark.box)
        spot = (x + width / 2, y + height / 2)
        label = "" if mark.adds_nothing else str(mark.counts)
        yield Part(
            "end",
            (Dots(SHADE, 0.66 * cell, (spot,)), Text(TEXT, *spot, 0.8 * cell, label, "middle"))
            if label
            else (Dots(SHADE, 0.42 * cell, (spot,)), Dots(DIM, 0.13 * cell, (spot,))),
            (("end", f"{mark.pip}{'' if mark.kind == 'plain' else 'x'}"), ("counts", label)),
        )


# --- Around the layout


def _header(snapshot: Snapshot) -> Iterator[Part]:
    rules = snapshot.rules
    name = (rules.name or "custom rules").replace("_", " ").title()
    title = f"{name}, hand {snapshot.number}"
    yield Part("title", (Text(TEXT, MARGIN + 4, HEADER / 2, 17, title),))
    yield Part("status", (Text(DIM, WIDTH - MARGIN - 4, HEADER / 2, 15, snapshot.status, "end"),))


def _strip(snapshot: Snapshot, top: float) -> Iterator[Part]:
    """Yield the total, the note and the boneyard."""
    y = top + STRIP / 2 + 4
    placement = snapshot.placement
    total = placement.after(len(snapshot.plays)).total if placement and snapshot.plays else 0
    yield Part(
        "total", (Text(TEXT, 2 * MARGIN, y, 20, f"total {total}"),), (("total", str(total)),)
    )
    yield Part("note", (Text(TEXT, 2 * MARGIN + 110, y, 15, snapshot.note),))
    right = WIDTH - 2 * MARGIN
    cell = 5.0
    backs = tuple(
        shape
        for k in range(snapshot.boneyard)
        for shape in _back(right - (k + 1) * 2 * cell, y - 2 * cell, cell)
    )
    x = right - snapshot.boneyard * 2 * cell - 8
    label = Text(TEXT, x, y, 15, f"boneyard {snapshot.boneyard}", "end")
    yield Part("boneyard", (*backs, label))


def _rack(snapshot: Snapshot, seat: int, rack: Rect, *, face_up: bool) -> Iterator[Part]:
    """Yield a seat's hand, with its name and its number of tiles."""
    _, left, top, width, height, _ = rack
    middle = top + height / 2
    tiles = snapshot.hands[seat]
    frame = Rect(GLOW, left - 3, top - 3, width + 6, height + 6, 11)
    yield Part("seat", (frame, rack) if seat == snapshot.turn else (rack,))
    count = f"{len(tiles)} tile{'' if len(tiles) == 1 else 's'}"
    yield Part(
        "name",
        (
            Dots(SIDES[snapshot.rules.side_of(seat)], 6, ((left + 18, middle - 11),)),
            Text(TEXT, left + 32, middle - 10, 16, f"seat {seat}"),
            Text(DIM, left + 32, middle + 11, 13, count),
        ),
    )
    start = left + 106
    cell = min(11.0, (left + width - 8 - start) / (2.4 * max(1, len(tiles))))
    for k, tile in enumerate(tiles):
        x, y = start + 2.4 * cell * k, middle - 2 * cell
        if face_up:
            data = (("seat", str(seat)), ("tile", str(tile)))
            yield Part("held", tile_shapes(tile, x, y, cell, upright=True), data)
        else:
            yield Part("held", _back(x, y, cell), (("seat", str(seat)),))


def _track(snapshot: Snapshot, area: Area) -> Iterator[Part]:
    """Yield a board with a row of holes for each side, and pegs at its score and the one before."""
    start, top, width, height = area
    rules, target = snapshot.rules, snapshot.rules.target
    low = min(0, *snapshot.scores, *snapshot.before, *snapshot.reach)
    high = max(target, *snapshot.scores, *snapshot.before, *snapshot.reach)
    step = rules.unit  # points from one hole to the next
    while (high - low) / step > MOST_HOLES:
        step *= 2 if str(step)[0] == "5" else 5
    low -= low % (5 * step)
    left, right = start + 190, start + width - 22
    rows = [top + 14 + ROW * side for side in range(rules.sides)]

    def at(score: float) -> float:
        return left + (right - left) * (score - low) / (high - low)

    holes = tuple((at(score), y) for y in rows for score in range(low, high + 1, step))
    fives = [at(score + step / 2) for score in range(low, high, 5 * step)]
    clear = 20 + 4 * len(str(target))
    tens = range(low + -low % (10 * step), high + 1, 10 * step)
    foot, goal = top + height - 11, str(target)
    yield Part(
        "board",
        (
            Rect(BOARD, *area, 10),
            *(Rect(GROOVE, x - 0.6, top + 7, 1.2, height - 27) for x in fives),
            Rect(BRASS, at(target) - 7, top + 5, 14, height - 23, 7),
            Dots(HOLE, 2, holes),
            *(
                Text(HOLE, at(score), foot, 11, str(score), "middle")
                for score in tens
                if abs(at(target) - at(score)) > clear
            ),
            Text(PIP, min(at(target), right + 14 - 3.5 * len(goal)), foot, 12, goal, "middle"),
        ),
    )
    for side, y in enumerate(rows):
        seats = rules.seats_of(side)
        name = f"seat{'s' if len(seats) > 1 else ''} {' and '.join(map(str, seats))}"
        color, data = SIDES[side], (("side", str(side)),)
        yield Part("side", (Dots(color, 5, ((start + 18, y),)), Text(PIP, start + 30, y, 13, name)))
        yield Part("score", (Text(PIP, left - 18, y, 15, str(snapshot.scores[side]), "end"),), data)
        behind, front = ((at(snapshot.before[side]), y),), ((at(snapshot.scores[side]), y),)
        yield Part(
            "peg", (Dots(WOOD, 4.4, behind), Dots(color, 3.2, behind), Dots(BOARD, 1.4, behind))
        )
        yield Part("peg", (Dots(WOOD, 6.4, front), Dots(color, 5.2, front)))
