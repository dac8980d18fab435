"""`Game`: one game for people to play with, in the manner of python-chess.

    game = Game("five_up", players=4, seed=7)
    while game.outcome() is None:
        game.push(random.choice(list(game.legal_moves)))

Forced draws and passes are no moves, and the next hand is dealt as soon as one ends: there is
always somebody to move until there is an outcome.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env import engine
from fiveup_env.actions import ACTION_COUNT, MOVES, Move
from fiveup_env.engine import GAME
from fiveup_env.errors import (
    DealError,
    GameOverError,
    IllegalMoveError,
    InvalidMoveError,
    SeatError,
    SeedError,
    TileError,
)
from fiveup_env.rules import Rules
from fiveup_env.tiles import PIP_COUNT, TILES, Tile, mask_of, tiles_in
from fiveup_env.view import VIEW, observe_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
            End(pip, "double", 2 * pip if state in {engine.TWO_SIDES, engine.ONE_SIDE} else 0)
            for pip, state in enumerate(layout["double"].tolist())
            if state not in {engine.NOT_PLAYED, engine.CLOSED}
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
        table = state[0]["table"]
        ended = ENDINGS[table["ended"]]
        sides = slice(rules.sides)
        return cls(
            ended,
            None if ended == "target" else tuple(table["end_points"][sides].tolist()),
            tuple(table["scores"][sides].tolist()),
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


class LegalMoves(Collection[Move]):
    """The moves that are allowed now, by action number; looked up whenever one asks."""

    def __init__(self, game: Game) -> None:
        """Look at this game."""
        self._game = game

    def __contains__(self, move: object) -> bool:
        """Whether a move is allowed."""
        return isinstance(move, Move) and self._game.is_legal(move)

    def __iter__(self) -> Iterator[Move]:
        """The allowed moves."""
        return (MOVES[action] for action in self._game.action_mask().nonzero()[0].tolist())

    def __len__(self) -> int:
        """How many moves are allowed."""
        return int(engine.legal_count_at(self._game._state, 0))

    def __repr__(self) -> str:
        """The moves' texts."""
        return f"<LegalMoves: {self}>"

    def __str__(self) -> str:
        """The moves' texts."""
        return ", ".join(map(str, self)) or "none"


class Game:
    """One game: its state, its moves, and the hands that were played."""

    def __init__(
        self,
        rules: str | Rules = "five_up",
        players: int | None = None,
        *,
        seed: int | None = None,
        deals: Iterable[Deal] = (),
        **fields: Any,
    ) -> None:
        """Begin a game and deal its first hand.

        `rules` is a preset's name or `Rules`, changed by `players`, `teams` and any rule field.
        Hands are dealt as `deals` says; those after them, by the seed (a random one if not given).
        """
        self.rules = Rules.of(rules, players, **fields)
        self.seed = secrets.randbits(64) if seed is None else checked_seed(seed)
        self.deals = tuple(deal.checked(self.rules) for deal in deals)
        self._moves: list[Move] = []
        self._before: list[bytes] = []
        self._finished: list[bytes] = []
        self._state = np.zeros(1, GAME)
        self._state["table"]["rules"] = self.rules.record()
        self._state["seed"] = self.seed
        self._start_hand()

    # What is there to see

    @property
    def turn(self) -> int | None:
        """The seat to move; None once the game is over."""
        return None if self._phase == engine.GAME_OVER else int(self._table["turn"])

    @property
    def lead(self) -> int:
        """The seat that leads this hand."""
        return int(self._table["lead"])

    @property
    def scores(self) -> tuple[int, ...]:
        """The score of every side."""
        return tuple(self._table["scores"][: self.rules.sides].tolist())

    @property
    def hand_number(self) -> int:
        """Which hand this is, from 0."""
        return int(self._table["hand_number"])

    @property
    def boneyard_count(self) -> int:
        """How many tiles lie in the boneyard, those of the reserve among them."""
        return int(self._table["boneyard"] - self._table["drawn"])

    @property
    def plays(self) -> tuple[Move, ...]:
        """The tiles set in this hand, in order."""
        table = self._table
        return tuple(MOVES[action] for action in table["play_action"][: table["plies"]])

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves of the game, in order."""
        return tuple(self._moves)

    def steps(self) -> Iterator[Step]:
        """Every move of the game, with the truth before and after it."""
        befores = [*map(_state_of, self._before), self.state]
        for move, before, following in zip(self._moves, befores, befores[1:], strict=False):
            hand, next_hand = (int(s[0]["table"]["hand_number"]) for s in (before, following))
            yield Step(
                before, move, following if hand == next_hand else _state_of(self._finished[hand])
            )

    @property
    def layout(self) -> Layout:
        """The open ends, their total, and the doubles."""
        return Layout.of(self._table["layout"])

    def hand_of(self, seat: int) -> tuple[Tile, ...]:
        """The tiles in a seat's hand."""
        return tuple(tiles_in(int(self._state["hands"][0, self._checked_seat(seat)])))

    def view(self, seat: int | None = None) -> np.ndarray:
        """What a seat may know (the one to move, if none is named): an array of one VIEW record."""
        seat = self._table["turn"] if seat is None else self._checked_seat(seat)
        views = np.zeros(1, VIEW)
        observe_at(self._state, 0, seat, views, 0)
        return views

    @property
    def state(self) -> np.ndarray:
        """A copy of the whole truth: an array of one GAME record."""
        return _state_of(self._state.tobytes())

    # How hands and the game end

    @property
    def hand_over(self) -> bool:
        """Whether the last move ended a hand; `last_hand` tells how."""
        table = self._table
        untouched = table["plies"] == 0 and table["drawn"] == 0 and table["hand_number"] > 0
        return bool(untouched or table["phase"] == engine.GAME_OVER)

    @property
    def last_hand(self) -> HandEnd | None:
        """The end of the hand that was finished last."""
        return HandEnd.of(self.rules, _state_of(self._finished[-1])) if self._finished else None

    @property
    def hand_states(self) -> tuple[np.ndarray, ...]:
        """The GAME record of each hand, with its whole history: as it ended, or as it stands."""
        now = () if self.outcome() else (self.state,)
        return (*map(_state_of, self._finished), *now)

    def outcome(self) -> Outcome | None:
        """Who has won and why, or None while nobody has."""
        if self._phase != engine.GAME_OVER:
            return None
        winner = int(self._table["winner"])
        ended = ENDINGS[self._table["ended"]]
        return Outcome(winner, self.rules.seats_of(winner), ended, self.scores)

    # Moves

    @property
    def legal_moves(self) -> LegalMoves:
        """The moves that are allowed: ask with `in`, iterate, or take the `len`."""
        return LegalMoves(self)

    def action_mask(self) -> np.ndarray:
        """The same as an array: 1 for every action that is allowed."""
        mask = np.zeros((1, ACTION_COUNT), np.int8)
        engine.mark_legal_at(self._state, 0, mask)
        return mask[0]

    def is_legal(self, move: Move) -> bool:
        """Whether a move is allowed."""
        return bool(engine.is_legal_at(self._state, 0, move.action))

    def parse(self, text: str) -> Move:
        """The allowed move that a text says."""
        try:
            move = Move.parse(text)
        except InvalidMoveError as error:
            raise InvalidMoveError(f"{error}; allowed here: {self.legal_moves}") from None
        if not self.is_legal(move):
            raise self._refusal(move)
        return move

    def push(self, move: Move | str) -> None:
        """Make a move, given as such or by its text; deal the next hand where it ended one."""
        if not isinstance(move, Move):
            move = self.parse(move)
        before = self._state.tobytes()
        phase = engine.play_at(self._state, 0, move.action)
        if phase == engine.REFUSED:
            raise self._refusal(move)
        self._before.append(before)
        self._moves.append(move)
        if phase != engine.PLAYING:
            self._finished.append(self._state.tobytes())
        if phase == engine.HAND_OVER:
            self._state["table"]["hand_number"] += 1
            self._start_hand()

    def pop(self) -> Move:
        """Take the last move back, with all that followed from it; answer which it was."""
        if not self._moves:
            raise IllegalMoveError("there is no move to take back: the game has just begun")
        self._state = _state_of(self._before.pop())
        del self._finished[self.hand_number :]
        return self._moves.pop()

    def copy(self) -> Game:
        """A game of its own that goes on from here."""
        twin = copy.copy(self)
        twin._state = self.state
        twin._moves, twin._before = self._moves.copy(), self._before.copy()
        twin._finished = self._finished.copy()
        return twin

    def __repr__(self) -> str:
        """Where the game stands, in a line."""
        name = self.rules.name or "own rules"
        scores = " : ".join(map(str, self.scores))
        state = "over" if self.turn is None else f"seat {self.turn} to move"
        players = self.rules.players
        return f"<Game {name}, {players} players, hand {self.hand_number}, {scores}, {state}>"

    def __str__(self) -> str:
        """The table as text."""
        from fiveup_env.drawing.transcript import table_text

        return table_text(self)

    def _repr_svg_(self) -> str:
        """The table as a picture, which notebooks show."""
        from fiveup_env.drawing.svg import game_svg

        return game_svg(self)

    # Inside

    @property
    def _table(self) -> np.void:
        return self._state[0]["table"]

    @property
    def _phase(self) -> int:
        return int(self._table["phase"])

    def _start_hand(self) -> None:
        if self.hand_number >= len(self.deals):
            engine.start_hand(self._state, 0)
            return
        deal = self.deals[self.hand_number]
        boneyard = [Tile.parse(tile).id for tile in deal.boneyard]
        self._state["order"] = -1
        self._state["order"][0, : len(boneyard)] = boneyard
        self._state["table"]["boneyard"] = len(boneyard)
        for seat, hand in enumerate(deal.hands):
            self._state["hands"][0, seat] = mask_of(map(Tile.parse, hand))
        engine.start_given_hand(self._state, 0, deal.lead)

    def _checked_seat(self, seat: int) -> int:
        if seat not in range(self.rules.players):
            raise SeatError(f"there are seats 0 to {self.rules.players - 1}, not {seat!r}")
        return seat

    def _refusal(self, move: Move) -> IllegalMoveError:
        outcome = self.outcome()
        if outcome:
            return GameOverError(
                f"{move} is not allowed: the game is over, side {outcome.winner} has won"
            )
        return IllegalMoveError(
            f"{move} is not allowed for seat {self.turn}; allowed here: {self.legal_moves}"
        )


def _state_of(content: bytes) -> np.ndarray:
    """A GAME record from its bytes (NumPy's own copy goes field by field, far slower)."""
    return np.frombuffer(bytearray(content), GAME)


def checked_seed(seed: object) -> int:
    """A seed, or a SeedError where it is no whole number of 64 bits."""
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or not 0 <= seed < 1 << 64:
        raise SeedError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)
