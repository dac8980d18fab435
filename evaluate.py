"""Compare agents on duplicate deals: `python evaluate.py --agents greedy,defensive`.

This is `fiveup evaluate` with the laboratory: its agents, and Ray.
docs/understand/arena.md explains how to read the tables, and what else the arena can do.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import agents  # noqa: F401  (its agents are registered)
from fiveup_env.cli import evaluate

if TYPE_CHECKING:
    from fiveup_env.arena.play.tournament import Engine
    from fiveup_env.cli.shared import Parser


def main() -> int:
    """Run the command line, and return the exit status."""
    return evaluate.main(engines={"ray": _cluster})


def parser() -> Parser:
    """Return the parser of the command line."""
    return evaluate.parser({"ray": _cluster})


def _cluster() -> tuple[Engine, int]:
    from agents.cluster.arena import play_on_cluster
    from agents.cluster.connection import processors

    return play_on_cluster, processors()


if __name__ == "__main__":
    sys.exit(main())
