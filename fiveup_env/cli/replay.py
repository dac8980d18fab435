"""`fiveup replay`: a page that replays a recorded game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fiveup_env.cli.shared import chosen_game, say_written
from fiveup_env.files import atomic_file

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    replay = commands.add_parser("replay", help="write an HTML page that replays a recorded game")
    replay.set_defaults(run=run)
    replay.add_argument("file", metavar="FILE", help="a file of records, one per line")
    replay.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="page to write, such as game.html"
    )
    replay.add_argument(
        "--game", type=int, default=0, help="which game, counted from 0 (default: 0)"
    )


def run(options: argparse.Namespace) -> int:
    """Write the page, and return the exit status."""
    from fiveup_env.drawing.replay import replay_html

    page = replay_html(chosen_game(options))
    with atomic_file(options.output) as file:
        file.write(page)
    say_written(options, f"game {options.game} of {options.file} written to {options.output}")
    return 0
