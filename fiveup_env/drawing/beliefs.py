"""A seat's belief about the hidden tiles, as a picture of the chances of their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fiveup_env.belief.marginals import marginals
from fiveup_env.belief.structs import BONEYARD
from fiveup_env.drawing.scene import (
    BRASS,
    FELT,
    MARGIN,
    SHADE,
    SIDES,
    TEXT,
    WIDTH,
    Dots,
    Part,
    Picture,
    Rect,
    Text,
    tile_shapes,
)
from fiveup_env.drawing.svg import Svg, picture_svg
from fiveup_env.rules.tiles import TILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.game.game import Game

LABEL, ROW, HEADER = 100.0, 30.0, 60.0


def belief_svg(game: Game, seat: int | None = None) -> Svg:
    """Return what a seat can know about every tile that it does not hold and that is not set.

    A row is a hand or the boneyard, a column a tile; each cell has the chance (%) that the tile is
    there, exactly. None means the seat to move. Raises SeatError if there is no such seat.
    """
    view = game.view(seat)
    chances = marginals(view)[0]
    viewer = int(view["seat"][0])
    places = [place for place in (*range(game.rules.players), BONEYARD) if place != viewer]
    hidden = [tile for tile in TILES if chances[places, tile.id].sum() > 0]
    step = (WIDTH - 2 * MARGIN - LABEL) / max(1, len(hidden))
    parts = [Part("felt", (Rect(FELT, 0, 0, WIDTH, HEADER + ROW * len(places) + MARGIN, 12),))]
    for k, tile in enumerate(hidden):
        left = MARGIN + LABEL + k * step + step / 2 - 9
        shapes = tile_shapes((tile.high, tile.low), left, 14, 9, upright=True)
        parts.append(Part("tile", shapes, (("tile", str(tile)),)))
    for row, place in enumerate(places):
        top = HEADER + ROW * row
        parts += _row(game, place, top, [chances[place, tile.id] for tile in hidden], step)
    title = f"What seat {viewer} can know about the hidden tiles"
    return picture_svg(Picture(HEADER + ROW * len(places) + MARGIN, parts), title)


def _row(game: Game, place: int, top: float, chances: list[float], step: float) -> Iterator[Part]:
    """Yield the name of a place, and the chance of every tile to be there."""
    middle = top + ROW / 2
    name = Text(TEXT, MARGIN + 16, middle, 14, "boneyard" if place == BONEYARD else f"seat {place}")
    yield (
        Part("place", (name,))
        if place == BONEYARD
        else Part(
            "place", (Dots(SIDES[game.rules.side_of(place)], 5, ((MARGIN + 4, middle),)), name)
        )
    )
    for k, chance in enumerate(chances):
        left = MARGIN + LABEL + k * step
        yield Part(
            "chance",
            (
                Rect(_shade(chance), left + 2, top + 2, step - 4, ROW - 4, 3),
                Text(TEXT, left + step / 2, middle, 12, f"{100 * chance:.0f}", "middle"),
            ),
            (("chance", f"{chance:.4f}"),),
        )


def _shade(chance: float) -> str:
    """Return a colour that is the brighter the higher a chance is."""
    mixed = (
        round((1 - chance) * int(SHADE[k : k + 2], 16) + chance * int(BRASS[k : k + 2], 16))
        for k in (1, 3, 5)
    )
    return "#" + "".join(f"{part:02x}" for part in mixed)
