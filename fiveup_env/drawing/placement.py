"""Where every tile of a hand lies on the table, in whole cells, for text and pictures.

Tiles are set as people set them: end to end, doubles crosswise, and around a corner where an
arm would run into something or off the table. If that fails, all arms run straight and connectors
keep them apart, which always works but takes more room. The work is done in `felt`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fiveup_env.drawing.felt.boxes import Box, Sizes
from fiveup_env.drawing.felt.picture import PICTURE, draw
from fiveup_env.drawing.felt.search import NO_BOUND, TRIES
from fiveup_env.drawing.felt.tree import ANY_ARM
from fiveup_env.errors import IllegalMoveError, RulesError, unknown
from fiveup_env.rules.actions import ACTION_TILE
from fiveup_env.rules.fields import CHOICES
from fiveup_env.rules.tiles import TILE_COUNT, TILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.rules.actions import Move
    from fiveup_env.rules.tiles import Tile

KINDS: Final = ("plain", "side", "cross")  # of ends: an exposed half, and the two of doubles


class Placed(NamedTuple):
    """A tile on the table.

    It is attached to the tile `parent` (None for the lead) by the arm `arm`, maybe by a connector.
    """

    tile: Tile
    box: Box
    direction: int
    link: Box | None
    upright: bool  # whether one half lies above the other
    halves: tuple[int, int]  # the pips from left to right, or from top to bottom
    spins: bool
    parent: int | None
    arm: int | None


class Mark(NamedTuple):
    """An open end, and the space there in which a picture shows what the end counts."""

    number: int  # of the tile
    kind: str  # one of KINDS
    pip: int
    counts: int
    arm: int
    box: Box
    direction: int

    @property
    def adds_nothing(self) -> bool:
        """Whether it is open without a number, such as the second free side of a double."""
        return self.kind == "cross" or self.counts < self.pip


class Plays(NamedTuple):
    """The plays of a hand, and how they are placed; see `place`."""

    moves: Sequence[Move]
    spinners: str
    sizes: Sizes
    width: int | None
    arms: Sequence[int | None]


class Placement(NamedTuple):
    """A layout on the table: its tiles in order of play, its open ends, and the box around all."""

    tiles: list[Placed]
    marks: list[Mark]
    extent: Box
    plays: Plays

    @property
    def total(self) -> int:
        """The total of all open ends."""
        return sum(mark.counts for mark in self.marks)

    def after(self, shown: int) -> Placement:
        """Return the same tiles with the marks that are open after some of the plays."""
        return self if shown == len(self.tiles) else _placed(self.plays, shown)


def place(
    plays: Sequence[Move],
    spinners: str,
    sizes: Sizes,
    width: int | None = None,
    arms: Sequence[int | None] = (),
) -> Placement | None:
    """Return the places of the tiles of one hand, or None before the lead.

    Args:
        plays: The plays of the hand, the lead first.
        spinners: Which doubles have short ends to play on: `all`, the `first` one, or `none`.
        sizes: Of tiles, in cells.
        width: How many cells wide the layout is, if possible.
        arms: Where plays fit several equal ends, the one that was chosen, as `Mark.arm` named it;
            None where nobody chose. Plays beyond its end were not chosen either.

    Raises:
        RulesError: If there is no such choice of spinners.
        IllegalMoveError: If a play fits nowhere, or not on its arm.
    """
    if spinners not in CHOICES["spinners"]:
        raise RulesError(unknown("choice of spinners", spinners, CHOICES["spinners"]))
    return _placed(Plays(plays, spinners, sizes, width, arms), len(plays)) if plays else None


def _placed(plays: Plays, shown: int) -> Placement:
    moves, picture = plays.moves, np.zeros(1, PICTURE)
    arms = np.full(len(moves), ANY_ARM)
    for number, arm in enumerate(plays.arms[: len(moves)]):
        arms[number] = ANY_ARM if arm is None else arm
    fit = draw(
        np.array([move.action for move in moves[:TILE_COUNT]]),
        arms,
        CHOICES["spinners"].index(plays.spinners),
        plays.sizes,
        NO_BOUND if plays.width is None else plays.width,
        TRIES,
        shown,
        picture,
    )
    if fit < len(moves):
        raise IllegalMoveError(f"play {fit + 1}, {moves[fit]}, fits nowhere on the layout")
    return _placement_in(picture[0], plays)


def _placement_in(picture: np.void, plays: Plays) -> Placement:
    tiles = [
        Placed(
            tile=TILES[ACTION_TILE[move.action]],
            box=_box(row["box"]),
            direction=int(row["direction"]),
            link=_box(row["link"]) if row["link"][2] else None,
            upright=bool(row["upright"]),
            halves=tuple(row["halves"].tolist()),
            spins=bool(row["spins"]),
            parent=int(row["parent"]) if number else None,
            arm=int(row["arm"]) if number else None,
        )
        for number, (row, move) in enumerate(zip(picture["tiles"], plays.moves, strict=False))
    ]
    marks = [
        Mark(
            number=int(row["tile"]),
            kind=KINDS[row["kind"]],
            pip=int(row["pip"]),
            counts=int(row["counts"]),
            arm=int(row["arm"]),
            box=_box(row["box"]),
            direction=int(row["direction"]),
        )
        for row in picture["marks"][: picture["mark_count"]]
    ]
    return Placement(tiles, marks, _box(picture["extent"]), plays)


def _box(row: np.ndarray) -> Box:
    return Box(*row.tolist())
