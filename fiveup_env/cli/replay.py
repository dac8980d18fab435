"""`fiveup replay`: a page that replays a recorded game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fiveup_env.cli.shared import RecordOptions, add_command, option, say_written
from fiveup_env.files import atomic_file


@dataclass(frozen=True, kw_only=True)
class ReplayOptions(RecordOptions):
    """A game, and the page to write."""

    output: str = option(
        "-o", "--output", required=True, metavar="FILE", help="page to write, such as game.html"
    )


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "write an HTML page that replays a recorded game"
    add_command(commands, "replay", about, run, ReplayOptions)


def run(options: ReplayOptions) -> int:
    """Write the page, and return the exit status."""
    from fiveup_env.drawing.replay import replay_html

    page = replay_html(options.chosen_game())
    with atomic_file(options.output) as file:
        file.write(page)
    written = f"game {options.game} of {options.file} written to {options.output}"
    say_written(options.output, written)
    return 0
