"""`fiveup serve`: an agent of ours as a program that speaks fiveup-agent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from fiveup_env.cli.shared import add_command, option
from fiveup_env.errors import AgentError, shown


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """The agent."""

    agent: str = option("agent", metavar="SPEC", help="the agent, such as partner or pimc:ms=50")
    register: list[str] = option(
        action="append",
        default=[],
        metavar="NAME=MODULE:CLASS",
        help="make an agent of a module known by a name",
    )


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "let an agent answer questions in lines of JSON (docs/use/programs.md)"
    add_command(commands, "serve", about, run, ServeOptions)


def run(options: ServeOptions) -> int:
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
    serve_here(partial(make_agent, options.agent), options.agent)
    return 0
