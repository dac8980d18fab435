"""A table: one game, one person in one of its seats, and agents in the others."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fiveup_env.checks import whole
from fiveup_env.errors import InputError, OptionError, SeatError, WrongMomentError, shown
from fiveup_env.files import write_atomic
from fiveup_env.game.game import Game
from fiveup_env.game.records import STUDY_FORMAT, record_of
from fiveup_env.game.values import Step
from fiveup_env.game.view_words import step_text
from fiveup_env.opponents.levels import USUAL_LEVEL
from fiveup_env.opponents.mixtures import drawn
from fiveup_env.opponents.registry import make_agent, split_specs
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

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


class Table:
    """A game in play: somebody has one seat, and agents play the others."""

    def __init__(self, setup: Setup, game: Game | None = None) -> None:
        """Sit down to a new game, or go on with one from where it stands."""
        self.setup = setup
        self.game = Game(setup.rules, seed=setup.seed) if game is None else game
        seats = [seat for seat in range(setup.rules.players) if seat != setup.seat]
        self._agents = {
            seat: drawn(make_agent(spec), "table", self.game.seed, spec)
            for seat, spec in zip(seats, setup.specs, strict=True)
        }

    @property
    def is_mine(self) -> bool:
        """Whether it is one's own turn."""
        return self.game.turn == self.setup.seat

    def go_on(self) -> list[str]:
        """Let the others move up to one's own turn; return what one sees of it."""
        return list(self._others())

    def play(self, move: Move | str) -> list[str]:
        """Make one's own move, and let the others move; return what one sees of it.

        Raises WrongMomentError out of turn, and what `Game.push` raises.
        """
        if not self.is_mine and not self.game.is_game_over():
            raise WrongMomentError(f"seat {self.game.turn} is to move, not you")
        return [self._push(move), *self._others()]

    def again(self) -> list[str]:
        """Begin the same deal once more; return what one sees up to one's own turn."""
        while self.game.moves:
            self.game.pop()
        return self.go_on()

    def undo(self) -> None:
        """Take back one's last move, with all that followed; raise WrongMomentError without one."""
        own = [k for k, step in enumerate(self.game.steps()) if step.seat == self.setup.seat]
        if not own:
            raise WrongMomentError("there is no move of yours to take back")
        while len(self.game.moves) > own[-1]:
            self.game.pop()

    def choices(self) -> list[Step]:
        """Return the step that each of one's legal moves would be."""
        moves = self.game.legal_moves if self.is_mine else ()
        return [pushed(self.game.copy(), move) for move in moves]

    def save(self, path: Path, names: Sequence[str] | None = None) -> None:
        """Write the game to a file, with the players' names; raise InputError if that fails."""
        content = {
            "format": STUDY_FORMAT,
            "version": 1,
            "names": names,
            "record": record_of(self.game),
            "seat": self.setup.seat,
            "opponents": self.setup.opponents,
        }
        try:
            write_atomic(path, f"{json.dumps(content)}\n".encode())
        except OSError as error:
            raise InputError(f"the game cannot be kept in {path}: {error}") from None

    def _others(self) -> Iterator[str]:
        game = self.game
        while game.turn is not None and not self.is_mine:
            # The same position gets the same reply, also after an undo.
            rng = keyed_rng("table", game.seed, len(game.moves))
            yield self._push(game.ask(self._agents[game.turn], rng))

    def _push(self, move: Move | str) -> str:
        return step_text(pushed(self.game, move), self.setup.seat)


def pushed(game: Game, move: Move | str) -> Step:
    """Make a move in a game, and return what it led to."""
    before, hand = game.state(), game.hand_number
    made = game.push(move)
    return Step(before, made, game.hand_states()[hand])
