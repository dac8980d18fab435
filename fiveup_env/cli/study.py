"""`fiveup study`: recorded games, judged in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fiveup_env.cli.play import add_server_options
from fiveup_env.errors import InputError
from fiveup_env.game.records import STUDY_FORMAT, read_file, record_of

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    study = commands.add_parser("study", help="judge recorded games in the browser")
    study.set_defaults(run=run)
    study.add_argument("file", nargs="?", metavar="FILE", help="a file of records, one per line")
    add_server_options(study)


def run(options: argparse.Namespace) -> int:
    """Read the games, serve them, and return the exit status."""
    games = []
    for line in read_file(options.file) if options.file else ():
        if line.game is None:
            raise InputError(line.error)
        games.append({"format": STUDY_FORMAT, "version": 1, "record": record_of(line.game)})
    from fiveup_env.play.launch import Offer, serve

    offer = Offer(games=games)
    serve(offer, host=options.host, port=options.port, browser=not options.no_browser)
    return 0
