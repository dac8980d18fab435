"""`fiveup mcp`: a table for language models, on standard input and output."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fiveup_env.cli.shared import RulesOptions, add_command, option


@dataclass(frozen=True, kw_only=True)
class McpOptions(RulesOptions):
    """The game, and how a person may watch."""

    players: int = option(type=int, default=2, help="2 to 5 (default: 2)")
    opponents: str = option(
        default="partner", metavar="SPECS", help="one agent, or one for each seat"
    )
    show: bool = option(
        action="store_true", help="print the table to standard error, to be watched"
    )
    keep: Path | None = option(
        type=Path, metavar="FILE", help="keep the game there, for fiveup play --watch"
    )


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    add_command(commands, "mcp", "let a language model play, as an MCP server", run, McpOptions)


def run(options: McpOptions) -> int:
    """Serve until the client leaves, and return the exit status."""
    from fiveup_env.doors.mcp import server_for
    from fiveup_env.play.table import Setup

    setup = Setup(rules=options.chosen_rules(), opponents=options.opponents)
    show = partial(print, file=sys.stderr, flush=True) if options.show else None
    server_for(setup, show, options.keep).run()
    return 0
