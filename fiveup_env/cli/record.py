"""`fiveup record`: random games, written as records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.cli.shared import add_rules, rules_of, say_written
from fiveup_env.engine.chance import checked_seed
from fiveup_env.errors import InputError
from fiveup_env.files import atomic_file
from fiveup_env.game.game import Game
from fiveup_env.game.records import dumps
from fiveup_env.progress import progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from fiveup_env.rules.fields import Rules


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    record = commands.add_parser("record", help="play random games and write them as records")
    record.set_defaults(run=run)
    add_rules(record)
    record.add_argument("--games", type=int, default=1, help="number of games (default: 1)")
    record.add_argument("--seed", type=int, default=0, help="game k has seed SEED + k (default: 0)")
    record.add_argument("--legal", action="store_true", help="with each play, list the legal ones")
    record.add_argument(
        "--max-hands", type=int, default=500, help="cut games off after n hands (default: 500)"
    )
    record.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="file to write, one record per line"
    )


def run(options: argparse.Namespace) -> int:
    """Play the games, write them, and return the exit status."""
    for name in ("games", "max_hands"):
        if getattr(options, name) < 1:
            raise InputError(
                f"--{name.replace('_', '-')} must be at least 1, not {getattr(options, name)}"
            )
    rules = rules_of(options)
    checked_seed(options.seed)
    checked_seed(options.seed + options.games - 1)
    complete = 0
    with atomic_file(options.output) as file:
        for game in progress(_random_games(options, rules), options.games, "games"):
            file.write(dumps(game, legal=options.legal) + "\n")
            complete += game.outcome() is not None
    cut_off = options.games - complete
    say_written(options, f"{options.games} games written to {options.output}; {cut_off} cut off")
    return 0


def _random_games(options: argparse.Namespace, rules: Rules) -> Iterator[Game]:
    for seed in range(options.seed, options.seed + options.games):
        game, choice = Game(rules, seed=seed), np.random.default_rng(seed)
        while game.outcome() is None and game.hand_number < options.max_hands:
            moves = list(game.legal_moves)
            game.push(moves[choice.integers(len(moves))])
        yield game
