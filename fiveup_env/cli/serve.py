"""`fiveup serve`: an agent of ours as a program that speaks fiveup-agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fiveup_env.errors import AgentError, shown

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    serve = commands.add_parser(
        "serve", help="let an agent answer questions in lines of JSON (docs/use/programs.md)"
    )
    serve.set_defaults(run=run)
    serve.add_argument("agent", metavar="SPEC", help="the agent, such as partner or pimc:ms=50")
    serve.add_argument(
        "--register",
        action="append",
        default=[],
        metavar="NAME=MODULE:CLASS",
        help="make an agent of a module known by a name",
    )


def run(options: argparse.Namespace) -> int:
    """Answer until there are no more questions, and return the exit status."""
    from fiveup_env.opponents.registry import make_agent, register_missing
    from fiveup_env.programs.serve import serve_here

    places = {}
    for text in options.register:
        name, equals, place = text.partition("=")
        if not equals:
            raise AgentError(f"--register takes NAME=MODULE:CLASS, not {shown(text)}")
        places[name] = place
    register_missing(places)
    serve_here(lambda: make_agent(options.agent), options.agent)
    return 0
