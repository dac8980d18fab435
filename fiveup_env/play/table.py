"""A table: one game, one person in one of its seats, and agents in the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.engine.play import play_at
from fiveup_env.engine.view import VIEW, observe_at
from fiveup_env.errors import (
    OptionError,
    SeatError,
    WrongMomentError,
    shown,
)
from fiveup_env.game.game import Game
from fiveup_env.opponents.levels import USUAL_LEVEL
from fiveup_env.opponents.registry import make_agent, split_specs
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.play.sights import Sight, dealt, over, sights_between
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.actions import Move


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is played, and by whom: the choices of a person who sits down."""

    rules: Rules = field(default_factory=Rules.preset)
    seat: int = 0
    opponents: str = USUAL_LEVEL  # a spec, or one for every other seat
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse a seat that the game does not have, and agents that do not exist."""
        if whole(self.seat, 0, self.rules.players - 1) is None:
            raise SeatError(
                f"the seat must be from 0 to {self.rules.players - 1}, not {shown(self.seat)}"
            )
        for spec in self.specs:
            make_agent(spec)

    @property
    def specs(self) -> list[str]:
        """The spec of the agent in every seat but one's own, in the order of the seats."""
        if not isinstance(self.opponents, str):
            raise OptionError(f"opponents are specs such as 'partner', not {shown(self.opponents)}")
        specs, needed = split_specs(self.opponents), self.rules.players - 1
        if len(specs) not in {1, needed}:
            raise OptionError(
                f"name one opponent for all {needed} other seats, or {needed}, not {len(specs)}"
            )
        return list(specs) * (needed if len(specs) == 1 else 1)


@dataclass(frozen=True)
class Choice:
    """A legal move, and what it would bring at once."""

    move: Move
    total: int
    points: int


class Table:
    """A game in play, with its undo."""

    def __init__(self, setup: Setup, game: Game | None = None) -> None:
        """Sit down to a new game, or go on with one from where it stands."""
        self.setup = setup
        self._start = Game(setup.rules, seed=setup.seed) if game is None else game.copy()
        self._agents = self._seated()
        self._begin()

    def _seated(self) -> dict[int, Agent]:
        specs = iter(self.setup.specs)
        seats = range(self.setup.rules.players)
        return {seat: make_agent(next(specs)) for seat in seats if seat != self.setup.seat}

    def _begin(self) -> None:
        self.game = self._start.copy()
        self._decisions: list[tuple[int, Sight]] = []  # moves made before each of one's own
        view = self.game.view(self.setup.seat)
        self._now = Sight.of(view)
        if self.game.hand_over or not self.game.moves:
            self._now = dealt(view, self._now.scores)

    @property
    def now(self) -> Sight:
        """What one's seat sees now."""
        return self._now

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.game.is_game_over()

    @property
    def is_mine(self) -> bool:
        """Whether it is one's own turn."""
        return not self.is_over and self.game.turn == self.setup.seat

    def view(self) -> np.ndarray:
        """Return what one's seat may know, as an array of one VIEW struct."""
        return self.game.view(self.setup.seat)

    def choices(self) -> list[Choice]:
        """Return the legal moves with what they bring, or none if it is not one's turn."""
        if not self.is_mine:
            return []
        side = self.setup.rules.side_of(self.setup.seat)
        found, score = [], self.game.scores[side]
        for move in self.game.legal_moves:
            after = self.game.state()
            play_at(after, 0, move.action)
            public = after[0]["public"]
            points = int(public["scores"][side] - score - public["end_points"][side])
            found.append(Choice(move, int(public["layout"]["total"]), points))
        return found

    def start(self) -> list[Sight]:
        """Let the others play up to one's first turn; return all that is seen."""
        return self._seen([self._now, *self._others()])

    def play(self, move: str | Move) -> list[Sight]:
        """Make one's own move, and let the others play; return all that is seen.

        Raises WrongMomentError out of turn, and what `Game.push` raises.
        """
        if not self.is_over and not self.is_mine:
            raise WrongMomentError(f"seat {self.game.turn} is to move, not you")
        made, before = len(self.game.moves), self._now
        seen = list(self._push(move))
        self._decisions.append((made, before))
        return self._seen([*seen, *self._others()])

    def undo(self) -> list[Sight]:
        """Take back one's last move, with all that followed; return what is seen then."""
        if not self._decisions:
            raise WrongMomentError("there is no move of yours to take back")
        made, before = self._decisions.pop()
        while len(self.game.moves) > made:
            self.game.pop()
        self._now = replace(before, said="Taken back.", kind="now")
        return [self._now]

    def again(self) -> list[Sight]:
        """Begin the same deal once more; return all that is seen."""
        self._begin()
        return self._seen([self._now, *self._others()])

    def _seen(self, sights: list[Sight]) -> list[Sight]:
        """Return what was seen up to now: at the end of it, everybody sees whose turn it is."""
        self._now = replace(sights[-1], turn=self.game.turn)
        return [*sights[:-1], self._now]

    def _others(self) -> Iterator[Sight]:
        """Let the agents move until it is one's own turn or the game is over."""
        while not self.is_over and not self.is_mine:
            turn = self.game.turn
            assert turn is not None
            # The same position gets the same reply, also after an undo.
            rng = keyed_rng("table", self.game.seed, len(self.game.moves))
            yield from self._push(self.game.ask(self._agents[turn], rng))

    def _push(self, move: str | Move) -> Iterator[Sight]:
        """Make a move, and yield all that is seen up to the next decision."""
        before, hand = self.view(), self.game.hand_number
        self.game.push(move)
        over_now = self.game.outcome()
        if hand == self.game.hand_number and not over_now:
            after = self.view()
        else:
            after = np.zeros(1, VIEW)
            observe_at(self.game.hand_states()[hand], 0, self.setup.seat, after, 0)
        yield from self._shown(sights_between(self._now, before, after))
        if over_now:
            yield from self._shown([over(self._now, over_now)])
        elif hand != self.game.hand_number:
            yield from self._shown([dealt(self.view(), self._now.behind)])

    def _shown(self, sights: Iterable[Sight]) -> Iterator[Sight]:
        for self._now in sights:
            yield self._now
