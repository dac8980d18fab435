"""`fiveup show`: a recorded game as text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from fiveup_env.cli.shared import chosen_game

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    show = commands.add_parser("show", help="print a recorded game as text")
    show.set_defaults(run=run)
    show.add_argument("file", metavar="FILE", help="a file of records, one per line")
    show.add_argument("--game", type=int, default=0, help="which game, counted from 0 (default: 0)")


def run(options: argparse.Namespace) -> int:
    """Print the game, and return the exit status."""
    from fiveup_env.drawing.transcript import transcript

    unicode = "utf" in (sys.stdout.encoding or "").lower()
    print(transcript(chosen_game(options), unicode=unicode))
    return 0
