"""`fiveup study`: recorded games, judged in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fiveup_env.cli.shared import ServerOptions, add_command, option
from fiveup_env.errors import InputError
from fiveup_env.game.records import STUDY_FORMAT, read_file, record_of


@dataclass(frozen=True, kw_only=True)
class StudyOptions(ServerOptions):
    """The games to judge, and where the page is served."""

    file: str | None = option(
        "file", nargs="?", metavar="FILE", help="a file of records, one per line"
    )


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    add_command(commands, "study", "judge recorded games in the browser", run, StudyOptions)


def run(options: StudyOptions) -> int:
    """Read the games, serve them, and return the exit status."""
    games = []
    for line in read_file(options.file) if options.file else ():
        if line.game is None:
            raise InputError(line.error)
        games.append({"format": STUDY_FORMAT, "version": 1, "record": record_of(line.game)})
    if options.file and not games:
        raise InputError(f"{options.file} has no records")
    from fiveup_env.play.launch import Offer, serve

    offer = Offer(games=games)
    serve(offer, host=options.host, port=options.port, browser=not options.no_browser)
    return 0
