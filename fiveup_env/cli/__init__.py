"""The command line: `fiveup --help`, or `python -m fiveup_env --help`.

Every command has a module of its own, which adds it to the parser and runs it. `shared` is what
they have in common, also with the scripts of a clone.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

from fiveup_env import __version__
from fiveup_env.cli.shared import Parser, answer

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS: Final = (
    *("play", "evaluate", "benchmark", "record", "check", "show", "replay", "study", "audit"),
    *("rules", "exact", "serve", "mcp", "openenv", "doctor"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""

    def run() -> int:
        words = sys.argv[1:] if arguments is None else list(arguments)
        made = parser(words[:1] if words[:1] and words[0] in COMMANDS else COMMANDS)
        options, rest = made.parse_known_args(words)
        if "specs" in options:  # agents may be named before and after options
            options.specs += rest
        elif rest:
            made.refuse(rest[0])
        command = options.run
        del options.run, options.command
        return int(command(options))

    return answer("fiveup", run)


def parser(names: Sequence[str] = COMMANDS) -> Parser:
    """Return the parser of the command line, with some of its commands: all take time to import."""
    made = Parser(prog="fiveup", description="Five Up and its family of domino games.")
    made.add_argument("--version", action="version", version=__version__)
    commands = made.add_subparsers(required=True, metavar="COMMAND", dest="command")
    for name in names:
        import_module(f"fiveup_env.cli.{name}").add(commands)
    return made
