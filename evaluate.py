"""Compare agents on duplicate deals: `python evaluate.py --agents greedy,defensive`.

This is `fiveup evaluate` with the laboratory: its agents, Ray, and the bank of positions.
docs/understand/arena.md explains how to read the tables, and what else the arena can do.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from agents.bank.regret import measure, rows_of
from agents.bank.storage import shipped_bank
from fiveup_env.arena.faults import ArenaError
from fiveup_env.cli import evaluate
from fiveup_env.cli.benchmark import More
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fiveup_env import Rules
    from fiveup_env.arena.tournament import Engine
    from fiveup_env.cli.shared import Parser
    from fiveup_env.files import Json


def main() -> int:
    """Run the command line, and return the exit status."""
    return evaluate.main(more=More({"ray": _cluster}, _bank))


def parser() -> Parser:
    """Return the parser of the command line."""
    return evaluate.parser(More({"ray": _cluster}, _bank))


def _cluster() -> tuple[Engine, int]:
    from agents.cluster.arena import play_on_cluster
    from agents.cluster.connection import processors

    return play_on_cluster, processors()


def _bank(rules: Rules) -> Callable[[Sequence[str]], list[Json]]:
    bank = shipped_bank().under([rules])
    if not len(bank):
        raise ArenaError("--bank: the bank has no positions under these rules, only under presets")
    return lambda specs: rows_of(bank, [measure(bank, make_agent(one), one) for one in specs])


if __name__ == "__main__":
    sys.exit(main())
