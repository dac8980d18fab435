"""`fiveup play`: sit down, in the browser or in the terminal."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.cli.shared import RulesOptions, ServerOptions, add_command, option
from fiveup_env.engine.chance import checked_seed
from fiveup_env.opponents.heuristics.ladder import LADDER
from fiveup_env.opponents.levels import LEVEL_SPECS, USUAL_LEVEL

if TYPE_CHECKING:
    from fiveup_env.files import Json
    from fiveup_env.play.table import Setup


# Agents that the page plays without asking a server; see static/levels.js.
PLAYED_BY_THE_PAGE: Final = (*LADDER, *LEVEL_SPECS)


@dataclass(frozen=True, kw_only=True)
class PlayOptions(ServerOptions, RulesOptions):
    """The game, and where it is played."""

    seat: int = option(type=int, default=0, help="your seat (default: 0)")
    opponents: str = option(
        default=USUAL_LEVEL,
        metavar="SPECS",
        help="one agent, or one for each other seat, such as level:3,pimc:ms=50,student",
    )
    seed: int | None = option(type=int, help="the deals (default: chosen at random)")
    terminal: bool = option(action="store_true", help="play here instead of in a browser")
    games: str | None = option(metavar="FOLDER", help="keep the games there, a file for each")
    watch: Path | None = option(
        type=Path, metavar="FILE", help="show a game that fiveup mcp keeps there"
    )
    public: str | None = option(
        metavar="NAME", help="the name by which a proxy leads here, such as play.example.org"
    )
    static: str | None = option(
        metavar="FOLDER", help="write the page there, for any file server, and end"
    )


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "play against agents, in the browser or the terminal"
    add_command(commands, "play", about, run, PlayOptions)


def run(options: PlayOptions) -> int:
    """Play, and return the exit status."""
    from fiveup_env.play.folder import Folder
    from fiveup_env.play.table import Setup, Table

    if options.static is not None:
        from fiveup_env.play.page import write_page

        print(f"{options.static}: {write_page(options.static):,} bytes")
        return 0
    if options.seed is not None:
        checked_seed(options.seed)
    rules = options.chosen_rules()
    setup = Setup(rules=rules, seat=options.seat, opponents=options.opponents, seed=options.seed)
    folder = None if options.games is None else Folder(options.games)
    if options.terminal:
        from fiveup_env.play.terminal import kept_table, play_in_terminal

        if folder is None:
            play_in_terminal(Table(setup))
        else:
            play_in_terminal(kept_table(setup, folder.path), folder.path)
        return 0
    from fiveup_env.play.launch import Offer, serve

    is_usual = (setup, options.rules) == (Setup(), "five_up")
    offer = Offer(
        setup=None if is_usual else setup_for_page(setup, options),
        seed=None if options.seed is None else str(options.seed),
        folder=folder,
        watched=options.watch,
    )
    offer.answers.allow(spec for spec in setup.specs if spec not in PLAYED_BY_THE_PAGE)
    threading.Thread(target=offer.answers.warm_up, args=(rules,), daemon=True).start()
    serve(
        offer,
        host=options.host,
        port=options.port,
        browser=not options.no_browser,
        public=options.public,
    )
    return 0


def setup_for_page(setup: Setup, options: PlayOptions) -> Json:
    """Return a setup as the page keeps it: its rules as a preset with changed fields."""
    specs = iter(setup.specs)
    levels = [USUAL_LEVEL if k == setup.seat else next(specs) for k in range(setup.rules.players)]
    changes = {
        name: int(value) if isinstance(value, bool) and name != "teams" else value
        for name, value in options.changes.items()
    }
    return {
        "rules": options.rules,
        "players": setup.rules.players,
        "seat": setup.seat,
        "levels": levels,
        **changes,
    }
