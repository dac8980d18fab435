"""`fiveup play`: sit down, in the browser or in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fiveup_env.engine.chance import checked_seed
from fiveup_env.rules.fields import Rules, parse_assignment

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    play = commands.add_parser("play", help="play against agents, in the browser or the terminal")
    play.set_defaults(run=run)
    play.add_argument("--rules", default="five_up", metavar="PRESET", help="default: five_up")
    play.add_argument("--players", type=int, default=4, help="2 to 5 (default: 4, as partners)")
    play.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="change a rule field"
    )
    play.add_argument("--seat", type=int, default=0, help="your seat (default: 0)")
    play.add_argument(
        "--opponents",
        default="partner",
        metavar="SPECS",
        help="one agent, or one for each other seat, such as partner,pimc:ms=50,student",
    )
    play.add_argument("--seed", type=int, help="the deals (default: chosen at random)")
    play.add_argument("--terminal", action="store_true", help="play here instead of in a browser")
    play.add_argument(
        "--advisers",
        metavar="SPECS",
        help="agents that may be asked what each move is worth, such as pimc:ms=200",
    )
    add_server_options(play)


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of what is served to a browser."""
    parser.add_argument(
        "--reference", metavar="SPEC", help="the pimc that judges games (default: 1,000 worlds)"
    )
    parser.add_argument("--host", default="127.0.0.1", help="default: this machine only")
    parser.add_argument("--port", type=int, help="default: the first free one from 8561 on")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def run(options: argparse.Namespace) -> int:
    """Play, and return the exit status."""
    from fiveup_env.opponents.registry import make_agent, split_specs
    from fiveup_env.play.table import Setup, Table

    fields = dict(map(parse_assignment, options.set))
    if options.seed is not None:
        checked_seed(options.seed)
    setup = Setup(
        rules=Rules.preset(options.rules, options.players, **fields),
        seat=options.seat,
        opponents=options.opponents,
        seed=options.seed,
    )
    if options.terminal:
        from fiveup_env.play.terminal import play_in_terminal

        play_in_terminal(Table(setup))
        return 0
    advisers = split_specs(options.advisers or "")
    for spec in advisers:
        make_agent(spec)
    serve_house(options, "/", default=setup, **({"advisers": advisers} if advisers else {}))
    return 0


def serve_house(options: argparse.Namespace, path: str, **house: Any) -> None:
    """Serve a house as the options say; `path` is the page that is opened."""
    from fiveup_env.analysis.trials import REFERENCE, checked_reference
    from fiveup_env.play.launch import House, serve

    reference = options.reference or REFERENCE
    checked_reference(reference)
    serve(
        House(reference=reference, **house),
        host=options.host,
        port=options.port,
        path=path,
        browser=not options.no_browser,
    )
