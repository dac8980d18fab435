"""TODO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fiveup_env.engine.state import CLOSED, NOT_PLAYED, ONE_SIDE, TWO_SIDES
from fiveup_env.errors import DealError, TileError
from fiveup_env.rules.tiles import PIP_COUNT, TILES, Tile, tiles_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from fiveup_env.rules.actions import Move
    from fiveup_env.rules.fields import Rules


ENDINGS: Final = ("", "domino", "blocked", "target")
DOUBLE_STATES: Final = ("not played", "two sides", "one side", "two crosses", "one cross", "closed")


@dataclass(frozen=True)
class Deal:
    """The chance of one hand: every hand, the boneyard in the order drawn, and the lot.

    `lead` is the seat that the lot names; it leads where no one leads by right.
    """

    hands: Sequence[Iterable[Tile | str]]
    boneyard: Iterable[Tile | str]
    lead: int = 0

    def checked(self, rules: Rules) -> Deal:
        """The same deal in tiles, or a DealError where it is not the whole set, dealt fairly."""
        try:
            hands = tuple(tuple(Tile.parse(tile) for tile in hand) for hand in self.hands)
            boneyard = tuple(Tile.parse(tile) for tile in self.boneyard)
        except TileError as error:
            raise DealError(str(error)) from None
        if [len(hand) for hand in hands] != [rules.hand_size] * rules.players:
            raise DealError(
                f"the deal has hands of {[len(hand) for hand in hands]} tiles; "
                f"the rules want {rules.players} hands of {rules.hand_size}"
            )
        dealt = [*(tile for hand in hands for tile in hand), *boneyard]
        wanted = TILES[: rules.tile_count]
        wrong = [
            f"{tile} {dealt.count(tile)} times"
            for tile in TILES
            if dealt.count(tile) != wanted.count(tile)
        ]
        if wrong:
            raise DealError(
                f"the deal must hold every tile of the double-{rules.max_pip} set once, "
                f"not {', '.join(wrong)}"
            )
        if self.lead not in range(rules.players):
            raise DealError(
                f"the lead must be a seat from 0 to {rules.players - 1}, not {self.lead!r}"
            )
        return Deal(hands, boneyard, self.lead)


@dataclass(frozen=True)
class End:
    """An open end: its pip, `plain` or `double`, and what it counts."""

    pip: int
    kind: str
    counts: int

    def __str__(self) -> str:
        """Written as in a move: `5`, or `5x` for the double."""
        return f"{self.pip}{'x' if self.kind == 'double' else ''}"


@dataclass(frozen=True)
class Layout:
    """What the layout offers: its open ends, their total, and what became of each double."""

    ends: tuple[End, ...]
    total: int
    doubles: tuple[str, ...]

    @classmethod
    def of(cls, layout: np.void) -> Layout:
        """What a LAYOUT record says."""
        plain = [
            End(pip, "plain", pip) for pip in range(PIP_COUNT) for _ in range(layout["plain"][pip])
        ]
        double = [
            End(pip, "double", 2 * pip if state in {TWO_SIDES, ONE_SIDE} else 0)
            for pip, state in enumerate(layout["double"].tolist())
            if state not in {NOT_PLAYED, CLOSED}
        ]
        return cls(
            ends=(*plain, *double),
            total=int(layout["total"]),
            doubles=tuple(DOUBLE_STATES[state] for state in layout["double"]),
        )


@dataclass(frozen=True)
class HandEnd:
    """How a hand ended: `domino`, `blocked` or `target`, and the points that its end brought."""

    ended: str
    end_points: tuple[int, ...] | None
    scores: tuple[int, ...]
    left: tuple[tuple[Tile, ...], ...]

    @classmethod
    def of(cls, rules: Rules, state: np.ndarray) -> HandEnd:
        """The end of the hand in a GAME record that has one."""
        public = state[0]["public"]
        ended = ENDINGS[public["ended"]]
        sides = slice(rules.sides)
        return cls(
            ended,
            None if ended == "target" else tuple(public["end_points"][sides].tolist()),
            tuple(public["scores"][sides].tolist()),
            tuple(tuple(tiles_in(int(hand))) for hand in state["hands"][0, : rules.players]),
        )


@dataclass(frozen=True, eq=False)
class Step:
    """A move, with the GAME record before and after it (each in an array of one)."""

    before: np.ndarray
    move: Move
    after: np.ndarray


@dataclass(frozen=True)
class Outcome:
    """Who won a game: the side, its seats, how the last hand ended, and the scores of the sides."""

    winner: int
    seats: tuple[int, ...]
    ended: str
    scores: tuple[int, ...]
