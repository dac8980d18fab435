"""`Game`: a game to play move by move, in the manner of python-chess.

    game = Game("five_up", players=4, seed=7)
    while not game.is_game_over():
        game.push(random.choice(list(game.legal_moves)))

Forced draws and passes are not moves, and the next hand is dealt as soon as one ends: until the
game has an outcome, a seat is always to move.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.engine.chance import checked_seed
from fiveup_env.engine.legality import is_legal_at, legal_count_at, mark_legal_at
from fiveup_env.engine.play import REFUSED, play_at, start_given_hand, start_hand
from fiveup_env.engine.state import GAME, GAME_OVER, HAND_OVER, PLAYING, VIEW
from fiveup_env.engine.view import observe_at
from fiveup_env.errors import (
    AgentError,
    GameOverError,
    IllegalMoveError,
    InvalidMoveError,
    SeatError,
    shown,
)
from fiveup_env.game.values import (
    Deal,
    HandEnd,
    Layout,
    Outcome,
    Step,
    checked_deals,
    ending_of,
    plays_of,
)
from fiveup_env.game.view_words import view_text
from fiveup_env.rules.actions import ACTION_COUNT, MOVES, Move
from fiveup_env.rules.fields import RuleFields, Rules
from fiveup_env.rules.tiles import Tile, mask_of, tiles_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from typing_extensions import Unpack

    Asked = Callable[[np.ndarray, np.random.Generator], np.ndarray]


class LegalMoves(Collection[Move]):
    """The legal moves of a game, in order of their action numbers, as they are at each use."""

    def __init__(self, game: Game) -> None:
        """Show the legal moves of `game`."""
        self._game = game

    def __contains__(self, move: object) -> bool:
        """Return whether a move is legal."""
        return isinstance(move, Move) and self._game.is_legal(move)

    def __iter__(self) -> Iterator[Move]:
        """Yield the legal moves."""
        return (MOVES[action] for action in self._game.action_mask().nonzero()[0].tolist())

    def __len__(self) -> int:
        """Return the number of legal moves."""
        return int(legal_count_at(self._game._state, 0))

    def __repr__(self) -> str:
        """Return the moves as text, marked as a LegalMoves."""
        return f"<LegalMoves: {self}>"

    def __str__(self) -> str:
        """Return the moves as text, or `none`."""
        return ", ".join(map(str, self)) or "none"


class Game:
    """One game: its state, its moves, and the hands played so far.

    Two games are equal if they have the same rules, moves, hands dealt so far, and hands to come.

    Args:
        rules: The name of a preset, or a `Rules`.
        players: 2 to 5; None means as many as `rules` has, and 4 for a preset.
        seed: Names the deals, from 0 to 2**64 - 1; None chooses one at random.
        deals: The deals of the first hands; `seed` deals those that follow.
        **fields: Fields of the rules that override those of `rules`.

    Raises:
        RulesError: If there is no such preset, or the rules cannot be played.
        SeatError: If the number of players is not from 2 to 5.
        SeedError: If the seed is not one of these numbers.
        DealError: If a deal does not fit the rules.

    >>> game = Game("five_up", players=2, seed=7)
    >>> game.turn, game.scores, len(game.legal_moves)
    (0, (0, 0), 5)
    >>> game.push("0-0")
    Move.parse('0-0')
    >>> game.legal_moves
    <LegalMoves: 4-0@0x, 5-0@0x>
    """

    def __init__(
        self,
        rules: str | Rules = "five_up",
        players: int | None = None,
        *,
        seed: int | None = None,
        deals: Iterable[Deal] = (),
        **fields: Unpack[RuleFields],
    ) -> None:
        """Start a game and deal its first hand."""
        self.rules = Rules.of(rules, players, **fields)
        self.seed = secrets.randbits(64) if seed is None else checked_seed(seed)
        self.deals = checked_deals(deals, self.rules)
        self._moves: list[Move] = []
        self._before: list[bytes] = []
        self._finished: list[bytes] = []
        self._state = np.zeros(1, GAME)
        self._state["public"]["rules"] = self.rules.to_struct()
        self._state["seed"] = self.seed
        self._start_hand()

    # State

    @property
    def turn(self) -> int | None:
        """The seat to move, or None once the game is over."""
        return None if self._phase == GAME_OVER else int(self._public["turn"])

    @property
    def lead(self) -> int:
        """The seat that leads this hand."""
        return int(self._public["lead"])

    @property
    def scores(self) -> tuple[int, ...]:
        """The score of every side."""
        return tuple(self._public["scores"][: self.rules.sides].tolist())

    @property
    def hand_number(self) -> int:
        """The number of this hand, from 0."""
        return int(self._public["hand_number"])

    @property
    def boneyard_count(self) -> int:
        """The number of tiles in the boneyard, the reserve included."""
        return int(self._public["boneyard"] - self._public["drawn"])

    @property
    def plays(self) -> tuple[Move, ...]:
        """The plays of this hand, in order."""
        return plays_of(self._public)

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves of the game, in order."""
        return tuple(self._moves)

    def steps(self) -> Iterator[Step]:
        """Yield every move of the game, with the full state before and after it."""
        befores = [*map(_state_of, self._before), self.state()]
        for move, before, following in zip(self._moves, befores, befores[1:], strict=False):
            hand, next_hand = (int(s[0]["public"]["hand_number"]) for s in (before, following))
            yield Step(
                before, move, following if hand == next_hand else _state_of(self._finished[hand])
            )

    def layout(self) -> Layout:
        """Return the open ends, their total, and the state of each double."""
        return Layout.of(self._public["layout"])

    def hand_of(self, seat: int) -> tuple[Tile, ...]:
        """Return the tiles in a seat's hand; raise SeatError if there is no such seat."""
        return tuple(tiles_in(int(self._state["hands"][0, self._checked_seat(seat)])))

    def view(self, seat: int | None = None) -> np.ndarray:
        """Return a seat's view, as an array of one VIEW struct.

        None means the seat to move. Raises SeatError if there is no such seat.
        """
        seat = self._public["turn"] if seat is None else self._checked_seat(seat)
        views = np.zeros(1, VIEW)
        observe_at(self._state, 0, seat, views, 0)
        return views

    def text(self, seat: int | None = None) -> str:
        """Return a seat's view in plain words, including its legal moves.

        None means the seat to move. Raises SeatError if there is no such seat.
        """
        return view_text(self.view(seat))

    def state(self) -> np.ndarray:
        """Return a copy of the full state, hidden tiles included: an array of one GAME struct."""
        return _state_of(self._state.tobytes())

    # Ends of hands and of the game

    @property
    def hand_over(self) -> bool:
        """Whether the last move ended a hand; `last_hand` says how."""
        public = self._public
        untouched = public["plies"] == 0 and public["drawn"] == 0 and public["hand_number"] > 0
        return bool(untouched or public["phase"] == GAME_OVER)

    def last_hand(self) -> HandEnd | None:
        """Return how the most recent finished hand ended, or None if none has been finished."""
        return HandEnd.of(self.rules, _state_of(self._finished[-1])) if self._finished else None

    def hand_states(self) -> tuple[np.ndarray, ...]:
        """Return the full state of each hand: as it ended, or as it stands now.

        Each is an array of one GAME struct, which holds the whole public history of the hand.
        """
        now = () if self.is_game_over() else (self.state(),)
        return (*map(_state_of, self._finished), *now)

    def is_game_over(self) -> bool:
        """Return whether the game has ended; `outcome` says how."""
        return self._phase == GAME_OVER

    def outcome(self) -> Outcome | None:
        """Return who won and how the last hand ended, or None while the game is in progress."""
        if self._phase != GAME_OVER:
            return None
        winner = int(self._public["winner"])
        ended = ending_of(self._public)
        return Outcome(winner, self.rules.seats_of(winner), ended, self.scores)

    # Moves

    @property
    def legal_moves(self) -> LegalMoves:
        """The legal moves, to test with `in`, iterate over, or count with `len`."""
        return LegalMoves(self)

    def action_mask(self) -> np.ndarray:
        """Return the legal moves as an array of 121 int8: 1 for every legal action, else 0."""
        mask = np.zeros((1, ACTION_COUNT), np.int8)
        mark_legal_at(self._state, 0, mask)
        return mask[0]

    def is_legal(self, move: Move) -> bool:
        """Return whether a move is legal."""
        return bool(is_legal_at(self._state, 0, move.action))

    def parse(self, text: str) -> Move:
        """Return the legal move that a text such as `5-3@5x` stands for.

        Raises InvalidMoveError if the text is not a move, IllegalMoveError if it is not legal.
        """
        try:
            move = Move.parse(text)
        except InvalidMoveError as error:
            raise InvalidMoveError(f"{error}; allowed here: {self.legal_moves}") from None
        if not self.is_legal(move):
            raise self._refusal(move)
        return move

    def ask(self, agent: str | Asked, rng: np.random.Generator | None = None) -> Move:
        """Return the move that an agent chooses for the seat to move; the game stays unchanged.

        Args:
            agent: Its spec, such as `greedy`, by which it is made for this call; or from
                `make_agent`; or any function of views and a generator that returns an action for
                each view.
            rng: The agent's source of chance; None makes a new one.

        Raises:
            AgentError: If there is no such agent, or it does not return one action.
            IllegalMoveError: If the action is not legal, or the game is over.
        """
        if isinstance(agent, str):
            agent = _FROM_ABOVE["agent"](agent)
        if not callable(agent):
            raise AgentError(f"an agent such as 'greedy' is needed, not {shown(agent)}")
        if self.is_game_over():
            raise GameOverError("there is nothing to ask: the game is over")
        chosen = agent(self.view(), np.random.default_rng() if rng is None else rng)
        actions = np.asarray(chosen)
        if actions.size != 1:
            raise AgentError(f"an agent returns one action for one view, not {shown(chosen)}")
        move = Move(actions.item())
        if not self.is_legal(move):
            raise self._refusal(move)
        return move

    def push(self, move: Move | str) -> Move:
        """Make a move and return it; deal the next hand if it ends this one.

        Raises as `parse` does; the game is then unchanged.
        """
        if not isinstance(move, Move):
            move = self.parse(move)
        before = self._state.tobytes()
        phase = play_at(self._state, 0, move.action)
        if phase == REFUSED:
            raise self._refusal(move)
        self._before.append(before)
        self._moves.append(move)
        if phase != PLAYING:
            self._finished.append(self._state.tobytes())
        if phase == HAND_OVER:
            self._state["public"]["hand_number"] += 1
            self._start_hand()
        return move

    def peek(self) -> Move:
        """Return the last move; raise IllegalMoveError if no move has been made."""
        if not self._moves:
            raise IllegalMoveError("there is no last move: the game has just begun")
        return self._moves[-1]

    def pop(self) -> Move:
        """Take back the last move, with everything that followed from it, and return it.

        Raises IllegalMoveError if no move has been made.
        """
        if not self._moves:
            raise IllegalMoveError("there is no move to take back: the game has just begun")
        self._state = _state_of(self._before.pop())
        del self._finished[self.hand_number :]
        return self._moves.pop()

    def copy(self) -> Game:
        """Return an independent copy of this game, its history included."""
        twin = copy.copy(self)
        twin._state = self.state()
        twin._moves, twin._before = self._moves.copy(), self._before.copy()
        twin._finished = self._finished.copy()
        return twin

    def __eq__(self, other: object) -> bool:
        """Return whether the rules, the moves and all hands, dealt and to come, are the same."""
        if not isinstance(other, Game):
            return NotImplemented
        if (self.rules, self._moves) != (other.rules, other._moves):
            return False
        ahead = [(game.seed, game.deals[game.hand_number + 1 :]) for game in (self, other)]
        if ahead[0] != ahead[1]:
            return False
        own, others = np.concatenate(self.hand_states()), np.concatenate(other.hand_states())
        dealt = ("public", "hands", "order")
        return len(own) == len(others) and all(np.array_equal(own[n], others[n]) for n in dealt)

    __hash__ = None  # type: ignore[assignment]  # games change

    def __repr__(self) -> str:
        """Return a summary of the game in one line."""
        name = self.rules.name or "custom rules"
        scores = " : ".join(map(str, self.scores))
        state = "over" if self.turn is None else f"seat {self.turn} to move"
        players = self.rules.players
        return f"<Game {name}, {players} players, hand {self.hand_number}, {scores}, {state}>"

    def __str__(self) -> str:
        """Return the game drawn as text."""
        return str(_FROM_ABOVE["text"](self))

    def _repr_svg_(self) -> str:
        """Return the game drawn as SVG, which notebooks show."""
        return str(_FROM_ABOVE["svg"](self))

    # Internals

    @property
    def _public(self) -> np.void:
        return self._state[0]["public"]

    @property
    def _phase(self) -> int:
        return int(self._public["phase"])

    def _start_hand(self) -> None:
        if self.hand_number >= len(self.deals):
            start_hand(self._state, 0)
            return
        deal = self.deals[self.hand_number]
        boneyard = [Tile.parse(tile).id for tile in deal.boneyard]
        self._state["order"] = -1
        self._state["order"][0, : len(boneyard)] = boneyard
        self._state["public"]["boneyard"] = len(boneyard)
        for seat, hand in enumerate(deal.hands):
            self._state["hands"][0, seat] = mask_of(map(Tile.parse, hand))
        start_given_hand(self._state, 0, deal.lead)

    def _checked_seat(self, seat: int) -> int:
        checked = whole(seat, 0, self.rules.players - 1)
        if checked is None:
            raise SeatError(f"seat must be from 0 to {self.rules.players - 1}, not {shown(seat)}")
        return checked

    def _refusal(self, move: Move) -> IllegalMoveError:
        outcome = self.outcome()
        if outcome:
            return GameOverError(
                f"{move} is not allowed: the game is over and side {outcome.winner} has won"
            )
        return IllegalMoveError(
            f"{move} is not allowed for seat {self.turn}; allowed here: {self.legal_moves}"
        )


# The functions that draw a game, and that makes an agent from its spec. The rooms that have them
# import this module and register them here, so that this module need not import those rooms.
_FROM_ABOVE: dict[str, Callable[..., Any]] = {}


def draw_games_with(*, text: Callable[[Game], str], svg: Callable[[Game], str]) -> None:
    """Set the functions that return `str(game)` and the picture that notebooks show."""
    _FROM_ABOVE.update(text=text, svg=svg)


def make_agents_with(make_agent: Callable[[str], Asked]) -> None:
    """Set the function that makes the agent which `Game.ask` asks by its spec."""
    _FROM_ABOVE["agent"] = make_agent


def _state_of(content: bytes) -> np.ndarray:
    """Return an array of one GAME struct from its bytes.

    NumPy's own copy goes field by field, which is far slower.
    """
    return np.frombuffer(bytearray(content), GAME)
