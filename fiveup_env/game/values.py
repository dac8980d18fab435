"""The values that `Game` takes and returns: deals, layouts, steps, and ends of hands and games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from fiveup_env.checks import whole
from fiveup_env.engine.state import CLOSED, NOT_PLAYED, ONE_SIDE, TWO_SIDES
from fiveup_env.errors import DealError, TileError, shown
from fiveup_env.rules.actions import MOVES
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.tiles import TILES, Tile, tiles_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

    from fiveup_env.rules.actions import Move


# How a hand ended: a player went out, nobody could play, or a play reached the target.
Ending: TypeAlias = Literal["domino", "blocked", "target"]

# The names of the numbers in `fiveup_env.engine.state`, in their order.
ENDINGS: Final[tuple[Ending | None, ...]] = (None, "domino", "blocked", "target")
DOUBLE_STATES: Final = ("not played", "two sides", "one side", "two crosses", "one cross", "closed")


@dataclass(frozen=True)
class Deal:
    """The chance of one hand.

    Args:
        hands: The tiles of each seat, as `Tile`s or as text such as `5-3`.
        boneyard: The other tiles of the set, in the order in which they will be drawn.
        lead: The seat drawn by lot. It leads unless the rules give the lead to another seat.
    """

    hands: Sequence[Iterable[Tile | str]]
    boneyard: Iterable[Tile | str]
    lead: int = 0

    def checked(self, rules: Rules) -> Deal:
        """Return this deal with every tile parsed; raise DealError if the rules do not allow it."""
        try:
            hands = tuple(map(_tiles_of, _listed(self.hands)))
            boneyard = _tiles_of(self.boneyard)
        except TileError as error:
            raise DealError(str(error)) from None
        if [len(hand) for hand in hands] != [rules.hand_size] * rules.players:
            raise DealError(
                f"the deal has hands of {[len(hand) for hand in hands]} tiles; "
                f"the rules need {rules.players} hands of {rules.hand_size}"
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
        lead = whole(self.lead, 0, rules.players - 1)
        if lead is None:
            raise DealError(
                f"the lead must be a seat from 0 to {rules.players - 1}, not {shown(self.lead)}"
            )
        return Deal(hands, boneyard, lead)


def checked_deals(deals: object, rules: Rules) -> tuple[Deal, ...]:
    """Return some deals, checked; raise DealError for anything else."""
    checked = []
    for deal in _listed(deals):
        if not isinstance(deal, Deal):
            raise DealError(f"a deal must be a Deal, not {shown(deal)}")
        checked.append(deal.checked(rules))
    return tuple(checked)


def _listed(value: object) -> Iterator[Any]:
    try:
        return iter(cast("Iterable[Any]", value))
    except TypeError:
        message = f"deals, their hands and their boneyards are lists, not {shown(value)}"
        raise DealError(message) from None


def _tiles_of(tiles: object) -> tuple[Tile, ...]:
    return tuple(map(Tile.parse, _listed(tiles)))


@dataclass(frozen=True)
class End:
    """An open end: its pip, its kind (`plain` or `double`), and what it counts."""

    pip: int
    kind: str
    counts: int

    def __str__(self) -> str:
        """Return the end as moves write it: `5`, or `5x` for the double."""
        return f"{self.pip}{'x' if self.kind == 'double' else ''}"


@dataclass(frozen=True)
class Layout:
    """The open ends of a layout, their total, and the state of each double.

    `doubles` has one of DOUBLE_STATES for every pip.
    """

    ends: tuple[End, ...]
    total: int
    doubles: tuple[str, ...]

    @classmethod
    def of(cls, layout: np.void) -> Layout:
        """Return the contents of a LAYOUT struct."""
        return cls(
            ends=cls.ends_of(layout["plain"].tolist(), layout["double"].tolist()),
            total=int(layout["total"]),
            doubles=tuple(DOUBLE_STATES[state] for state in layout["double"]),
        )

    @staticmethod
    def ends_of(plain: Sequence[int], double: Sequence[int]) -> tuple[End, ...]:
        """Return the open ends, from the number of plain ends and the double's state by pip."""
        return (
            *(End(pip, "plain", pip) for pip, count in enumerate(plain) for _ in range(count)),
            *(
                End(pip, "double", 2 * pip if state in {TWO_SIDES, ONE_SIDE} else 0)
                for pip, state in enumerate(double)
                if state not in {NOT_PLAYED, CLOSED}
            ),
        )


def plays_of(public: np.void) -> tuple[Move, ...]:
    """Return the plays of the hand in a PUBLIC struct, in order."""
    return tuple(MOVES[action] for action in public["play_action"][: public["plies"]])


def ending_of(public: np.void) -> Ending:
    """Return how the hand in a PUBLIC struct has ended."""
    ended = ENDINGS[public["ended"]]
    assert ended is not None, "the hand is still in play"
    return ended


@dataclass(frozen=True)
class HandEnd:
    """How a hand ended: `domino`, `blocked` or `target`, and what it left.

    `end_points` is what each side gained or lost by the end itself, or None where the target cut
    the hand short. `scores` has the score of every side, `left` the tiles left in every hand.
    """

    ended: Ending
    end_points: tuple[int, ...] | None
    scores: tuple[int, ...]
    left: tuple[tuple[Tile, ...], ...]

    @classmethod
    def of(cls, rules: Rules, state: np.ndarray) -> HandEnd:
        """Return how the hand in an array of one GAME struct ended."""
        public = state[0]["public"]
        ended = ending_of(public)
        sides = slice(rules.sides)
        return cls(
            ended,
            None if ended == "target" else tuple(public["end_points"][sides].tolist()),
            tuple(public["scores"][sides].tolist()),
            tuple(tuple(tiles_in(int(hand))) for hand in state["hands"][0, : rules.players]),
        )


@dataclass(frozen=True, eq=False)
class Step:
    """A move, with the GAME struct before and after it (each in an array of one)."""

    before: np.ndarray
    move: Move
    after: np.ndarray

    @property
    def seat(self) -> int:
        """The seat that made the move."""
        return int(self.before[0]["public"]["turn"])

    @property
    def total(self) -> int:
        """The total of the open ends after the move."""
        return int(self.after[0]["public"]["layout"]["total"])

    @property
    def points(self) -> int:
        """The points that the move itself scored, without those of the end of the hand."""
        before, after = self.before[0]["public"], self.after[0]["public"]
        side = Rules.from_struct(before["rules"]).side_of(self.seat)
        return int(after["scores"][side] - before["scores"][side] - after["end_points"][side])


@dataclass(frozen=True)
class Outcome:
    """The result of a game: the winner, its seats, the end of the last hand, and all scores."""

    winner: int
    seats: tuple[int, ...]
    ended: Ending
    scores: tuple[int, ...]
