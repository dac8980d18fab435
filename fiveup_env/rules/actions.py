"""The action table: what each of the 121 numbers means, in every game of the family.

    0 .. 27     lead a tile: the tile's own number
    28 .. 34    set the double of a pip on a plain end of that pip: 28 + pip
    35 .. 118   set a tile that is not a double: 35 + 4 * rank + way, where rank counts those tiles
                by number (1-0, 2-0, 2-1, 3-0, ... 6-5) and way is
                    0  its lower half on a plain end      1  its lower half on the double
                    2  its higher half on a plain end     3  its higher half on the double
    119         draw a tile (only with draw="optional")
    120         pass (only with draw="optional")

Smaller sets use the same numbers: actions whose tile is not in the set are never legal. Setting a
tile on either of two plain ends with the same pip is one action; setting it on a plain end or on
the double of that pip is two.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.errors import InvalidMoveError, TileError, shown
from fiveup_env.rules.tiles import MAX_PIP, PIP_COUNT, TILE_COUNT, TILES, Tile

FIRST_DOUBLE = TILE_COUNT
FIRST_PLAIN = FIRST_DOUBLE + PIP_COUNT
DRAW = FIRST_PLAIN + 4 * (TILE_COUNT - PIP_COUNT)
PASS = DRAW + 1
ACTION_COUNT = PASS + 1

PLAIN_END, DOUBLE_END = range(2)
END_NAMES = ("plain", "double")


class _Way(NamedTuple):
    """What an action does: its tile, and the pip and the kind of the end that the tile goes on."""

    tile: Tile | None = None
    pip: int | None = None
    end: str | None = None


def _ways() -> tuple[_Way, ...]:
    leads = [_Way(tile) for tile in TILES]
    doubles = [_Way(tile, tile.high, "plain") for tile in TILES if tile.is_double]
    others = [
        _Way(tile, pip, end)
        for tile in TILES
        if not tile.is_double
        for pip in (tile.low, tile.high)
        for end in END_NAMES
    ]
    return (*leads, *doubles, *others)


_WAYS = _ways()
_NUMBERS = {way: number for number, way in enumerate(_WAYS)}
_WORDS = {DRAW: "draw", PASS: "pass"}
_TEXT = re.compile(r"\s*(?P<tile>[0-6]-[0-6])(@(?P<pip>[0-6])(?P<double>x?))?\s*")


@dataclass(frozen=True, slots=True, order=True, repr=False)
class Move:
    """A move, identified by its action: its number in the action table.

    Written `5-3` (a lead), `5-3@5` (on a plain end), `5-3@5x` (on the double), `draw`, `pass`.

    Raises:
        InvalidMoveError: If there is no such action.

    >>> Move(37)
    Move.parse('1-0@1')
    >>> Move.parse("3-5@5x").tile
    Tile(5, 3)
    """

    action: int

    def __post_init__(self) -> None:
        """Refuse a number that is not in the table."""
        action = whole(self.action, 0, ACTION_COUNT - 1)
        if action is None:
            raise InvalidMoveError(
                f"{shown(self.action)} is not a valid action; "
                f"actions are numbered 0 to {ACTION_COUNT - 1}"
            )
        object.__setattr__(self, "action", action)

    @property
    def tile(self) -> Tile | None:
        """The tile that is set; None for a draw or a pass."""
        return self._way.tile

    @property
    def pip(self) -> int | None:
        """The pip of the end that the tile goes on; None for a lead."""
        return self._way.pip

    @property
    def end(self) -> str | None:
        """The kind of that end, `plain` or `double`; None for a lead."""
        return self._way.end

    @property
    def _way(self) -> _Way:
        return _WAYS[self.action] if self.action < DRAW else _Way()

    def __repr__(self) -> str:
        """Return an expression that makes the move."""
        return f"Move.parse({str(self)!r})"

    def __str__(self) -> str:
        """Return the text that `Move.parse` reads."""
        if self.action >= DRAW:
            return _WORDS[self.action]
        if self.pip is None:
            return str(self.tile)
        return f"{self.tile}@{self.pip}{'x' if self.end == 'double' else ''}"

    @classmethod
    def of(cls, tile: Tile, pip: int | None = None, end: str | None = None) -> Move:
        """Return the move that sets a tile on an end, or leads it if no end is given.

        Args:
            tile: The tile.
            pip: The pip of the end, which the tile must have.
            end: `plain`, or `double` for the open double of that pip.

        Raises:
            InvalidMoveError: If the tile cannot be set there.
        """
        tile = Tile.parse(tile)
        place = None if pip is None else whole(pip, 0, MAX_PIP)
        if (place is None) == (pip is None) and (end is None or isinstance(end, str)):
            number = _NUMBERS.get(_Way(tile, place, end))
            if number is not None:
                return cls(number)
        raise InvalidMoveError(f"{tile} cannot be set on pip {shown(pip)} of a {shown(end)} end")

    @classmethod
    def parse(cls, text: object) -> Move:
        """Return the move that a text describes; the halves of its tile may be in either order.

        Raises:
            InvalidMoveError: If there is no such move.
        """
        for action, word in _WORDS.items():
            if isinstance(text, str) and text == word:
                return cls(action)
        match = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if match:
            with suppress(TileError, InvalidMoveError):
                tile = Tile.parse(match["tile"])
                if match["pip"] is None:
                    return cls.of(tile)
                return cls.of(tile, int(match["pip"]), "double" if match["double"] else "plain")
        raise InvalidMoveError(
            f"{shown(text)} is not a valid move; moves are written 5-3 (a lead), "
            "5-3@5 (on a plain end), 5-3@5x (on the double), draw, pass"
        )


MOVES: tuple[Move, ...] = tuple(map(Move, range(ACTION_COUNT)))

# The tile, pip and end of every action for compiled code, with -1 for None.
ACTION_TILE = np.array([-1 if m.tile is None else m.tile.id for m in MOVES], np.int8)
ACTION_PIP = np.array([-1 if m.pip is None else m.pip for m in MOVES], np.int8)
ACTION_END = np.array([-1 if m.end is None else END_NAMES.index(m.end) for m in MOVES], np.int8)
# The pip on the outward half of the tile once it is set on an end.
ACTION_OUTWARD = np.array(
    [-1 if m.tile is None or m.pip is None else m.tile.pips - m.pip for m in MOVES], np.int8
)
# What the tile counts once it is set on an end: its outward pip, or the whole of a double.
_sets_double = np.array([m.tile is not None and m.tile.is_double for m in MOVES])
ACTION_SHOWS = np.where(_sets_double, 2 * ACTION_OUTWARD, ACTION_OUTWARD).astype(np.int8)
# By tile: the first of the actions that set it on an end; a double has one, any other tile four.
FIRST_WAY = np.array(
    [min(m.action for m in MOVES if m.tile == tile and m.pip is not None) for tile in TILES],
    np.int16,
)
# PLAY[end][tile]: the action that sets a tile on an end, or -1 if it does not fit. A plain end is
# numbered by its pip, the end of a double by PIP_COUNT + pip.
PLAY = np.full((2 * PIP_COUNT, TILE_COUNT), -1, np.int8)
for _move in MOVES:
    if _move.pip is not None:
        _end = _move.pip + PIP_COUNT * END_NAMES.index(_move.end or "")
        PLAY[_end, ACTION_TILE[_move.action]] = _move.action
