"""`fiveup play`: sit down, in the browser or in the terminal."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.cli.shared import add_rules, fields_of, rules_of
from fiveup_env.engine.chance import checked_seed
from fiveup_env.opponents.heuristics.ladder import LADDER
from fiveup_env.opponents.levels import LEVEL_SPECS, USUAL_LEVEL

if TYPE_CHECKING:
    import argparse

    from fiveup_env.files import Json
    from fiveup_env.play.table import Setup


# Agents that the page plays without asking a server; see static/levels.js.
PLAYED_BY_THE_PAGE: Final = (*LADDER, *LEVEL_SPECS)


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    play = commands.add_parser("play", help="play against agents, in the browser or the terminal")
    play.set_defaults(run=run)
    add_rules(play)
    play.add_argument("--seat", type=int, default=0, help="your seat (default: 0)")
    play.add_argument(
        "--opponents",
        default=USUAL_LEVEL,
        metavar="SPECS",
        help="one agent, or one for each other seat, such as level:3,pimc:ms=50,student",
    )
    play.add_argument("--seed", type=int, help="the deals (default: chosen at random)")
    play.add_argument("--terminal", action="store_true", help="play here instead of in a browser")
    play.add_argument("--games", metavar="FOLDER", help="keep the games there, a file for each")
    play.add_argument(
        "--watch", type=Path, metavar="FILE", help="show a game that fiveup mcp keeps there"
    )
    play.add_argument(
        "--static", metavar="FOLDER", help="write the page there, for any file server, and end"
    )
    add_server_options(play)


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of what is served to a browser."""
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument("--port", type=int, help="default: the first free one from 8561 on")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def run(options: argparse.Namespace) -> int:
    """Play, and return the exit status."""
    from fiveup_env.play.table import Setup, Table

    if options.static is not None:
        from fiveup_env.play.page import write_page

        print(f"{options.static}: {write_page(options.static):,} bytes")
        return 0
    if options.seed is not None:
        checked_seed(options.seed)
    setup = Setup(
        rules=rules_of(options),
        seat=options.seat,
        opponents=options.opponents,
        seed=options.seed,
    )
    if options.terminal:
        from fiveup_env.play.terminal import kept_table, play_in_terminal

        folder = folder_of(options.games)
        path = None if folder is None else folder.path
        play_in_terminal(Table(setup) if path is None else kept_table(setup, path), path)
        return 0
    from fiveup_env.play.launch import Offer, serve

    usual = Setup(), "five_up"
    offer = Offer(
        setup=None
        if (setup, options.rules) == usual
        else setup_for_page(setup, options.rules, fields_of(options)),
        seed=None if options.seed is None else str(options.seed),
        folder=folder_of(options.games),
        watched=options.watch,
    )
    asked = {spec for spec in setup.specs if spec not in PLAYED_BY_THE_PAGE}
    offer.answers.allow(asked)
    threading.Thread(target=offer.answers.warm_up, args=(setup.rules,), daemon=True).start()
    serve(offer, host=options.host, port=options.port, browser=not options.no_browser)
    return 0


def setup_for_page(setup: Setup, preset: str, fields: dict[str, Any]) -> Json:
    """Return a setup as the page keeps it: its rules as a preset with changed fields."""
    specs = iter(setup.specs)
    levels = [USUAL_LEVEL if k == setup.seat else next(specs) for k in range(setup.rules.players)]
    known = {
        name: int(value) if isinstance(value, bool) else value for name, value in fields.items()
    }
    if "teams" in fields:
        known["teams"] = fields["teams"]
    return {
        "rules": preset,
        "players": setup.rules.players,
        "seat": setup.seat,
        "levels": levels,
        **known,
    }


def folder_of(path: str | None) -> Any:
    """Return the folder of games at a path, or None without one."""
    from fiveup_env.play.folder import Folder

    return None if path is None else Folder(path)
