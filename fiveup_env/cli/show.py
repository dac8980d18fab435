"""`fiveup show`: a recorded game as text."""

from __future__ import annotations

import sys
from typing import Any

from fiveup_env.cli.shared import RecordOptions, add_command


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    add_command(commands, "show", "print a recorded game as text", run, RecordOptions)


def run(options: RecordOptions) -> int:
    """Print the game, and return the exit status."""
    from fiveup_env.drawing.transcript import transcript

    unicode = "utf" in (sys.stdout.encoding or "").lower()
    print(transcript(options.chosen_game(), unicode=unicode))
    return 0
