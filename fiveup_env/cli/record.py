"""`fiveup record`: random games, written as records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.cli.shared import RulesOptions, add_command, option, say_written
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import InputError
from fiveup_env.files import atomic_file
from fiveup_env.game.game import Game
from fiveup_env.game.records import dumps
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class RecordingOptions(RulesOptions):
    """The games to play, and the file to write."""

    games: int = option(type=int, default=1, help="number of games (default: 1)")
    seed: int = option(type=int, default=0, help="game k has seed SEED + k (default: 0)")
    legal: bool = option(action="store_true", help="with each play, list the legal ones")
    max_hands: int = option(
        type=int, default=500, help="cut games off after n hands (default: 500)"
    )
    output: str = option(
        "-o", "--output", required=True, metavar="FILE", help="file to write, one record per line"
    )

    def check(self) -> None:
        """Raise InputError if there is nothing to play, or no such seed."""
        for flag, number in (("--games", self.games), ("--max-hands", self.max_hands)):
            if number < 1:
                raise InputError(f"{flag} must be at least 1, not {number}")
        checked_seed(self.seed)
        checked_seed(self.seed + self.games - 1)


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "play random games and write them as records"
    add_command(commands, "record", about, run, RecordingOptions)


def run(options: RecordingOptions) -> int:
    """Play the games, write them, and return the exit status."""
    options.check()
    played, complete = _random_games(options), 0
    with atomic_file(options.output) as file:
        for game in progress(played, options.games, "games"):
            file.write(dumps(game, legal=options.legal) + "\n")
            complete += game.outcome() is not None
    cut_off = options.games - complete
    written = f"{options.games} games written to {options.output}; {cut_off} cut off"
    say_written(options.output, written)
    return 0


def _random_games(options: RecordingOptions) -> Iterator[Game]:
    rules = options.chosen_rules()
    for seed in range(options.seed, options.seed + options.games):
        game, choice = Game(rules, seed=seed), np.random.default_rng(seed)
        while game.outcome() is None and game.hand_number < options.max_hands:
            moves = list(game.legal_moves)
            game.push(moves[choice.integers(len(moves))])
        yield game
