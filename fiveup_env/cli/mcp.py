"""`fiveup mcp`: a table for language models, on standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fiveup_env.cli.shared import add_rules, rules_of

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    mcp = commands.add_parser("mcp", help="let a language model play, as an MCP server")
    mcp.set_defaults(run=run)
    add_rules(mcp, players=2)
    mcp.add_argument(
        "--opponents", default="partner", metavar="SPECS", help="one agent, or one for each seat"
    )
    mcp.add_argument(
        "--show", action="store_true", help="print the table to standard error, to be watched"
    )
    mcp.add_argument(
        "--keep", type=Path, metavar="FILE", help="keep the game there, for fiveup play --watch"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves, and return the exit status."""
    from fiveup_env.doors.mcp import server_for
    from fiveup_env.play.table import Setup

    setup = Setup(rules=rules_of(options), opponents=options.opponents)
    server_for(setup, _say if options.show else None, options.keep).run()
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
