"""Make decision data: the decisions of whole games, with what a search says about every action.

    python -m agents.data --agents partner,policy:partners --positions 100000 -o DIR

docs/understand/data.md describes the columns.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from agents.data.plan import DataError, Plan
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.opponents.registry import split_specs

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit status."""
    return answer("data", lambda: _make(**vars(_parser().parse_args(arguments))))


def _parser() -> Parser:
    parser = Parser(
        prog="python -m agents.data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--agents", required=True, metavar="SPECS", help="who plays; drawn for each side of a game")
    add("--positions", required=True, type=int, metavar="N", help="rows to train with, at least")
    add("-o", "--out", required=True, metavar="DIR", help="the folder for the files, a new one")
    add("--values", default=Plan.values, metavar="SPEC", help="search (default: %(default)s)")
    add("--seed", type=int, default=0, help="fixes every byte of the files (default: 0)")
    add("--rules", nargs="+", default=Plan.rules, metavar="PRESET", help="default: five_up")
    add("--players", nargs="+", type=int, default=Plan.players, metavar="N", help="default: 4")
    add("--encoder", default=Plan.encoder, help="or module:Class (default: %(default)s)")
    add("--text", action="store_true", help="also say in words what the seat knows")
    add("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    return parser


def _make(out: str, cores: int, agents: str, **options: Any) -> int:
    from agents.data.files import CARD, make_data

    if cores < 1:
        raise DataError(f"--cores must be at least 1, not {cores}")
    plan = Plan(agents=split_specs(agents), **options)
    print(make_data(out, plan, cores=cores) / CARD)
    return 0


if __name__ == "__main__":
    sys.exit(main())
