"""Make, check and export decision data.

    python -m agents.data make --agents partner,policy:partners --positions 100000 -o DIR
    python -m agents.data check DIR
    python -m agents.data minari DIR --name fiveup/partner-v0

docs/understand/data.md describes the columns.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from typing import TYPE_CHECKING

from agents.data.plan import POSITIONS_IN_SHARD, SPLITS, DataError, Plan
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.envs.episodes import REWARDS
from fiveup_env.opponents.registry import split_specs

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return the exit status."""

    def run() -> int:
        options = _parser().parse_args(arguments)
        return {"make": _make, "check": _check, "minari": _export}[options.action](options)

    return answer("data", run)


def _parser() -> Parser:
    parser = Parser(
        prog="python -m agents.data",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", required=True)
    add = actions.add_parser("make", help="make data, or continue").add_argument
    add("--agents", required=True, metavar="SPECS", help="who plays; drawn for each side of a game")
    add("--positions", required=True, type=int, metavar="N", help="rows, at least")
    add("-o", "--out", required=True, metavar="DIR", help="the folder for the shards and the card")
    add("--values", default=Plan.values, metavar="SPEC", help="search (default: %(default)s)")
    add("--seed", type=int, default=0, help="fixes every byte of the shards (default: 0)")
    add(
        "--shards",
        type=int,
        metavar="K",
        help=f"files (default: one for every {POSITIONS_IN_SHARD:,} positions)",
    )
    add("--rules", nargs="+", default=Plan.rules, metavar="PRESET", help="default: five_up")
    add("--players", nargs="+", type=int, default=Plan.players, metavar="N", help="default: 4")
    add("--encoder", default=Plan.encoder, help="default: %(default)s")
    add("--text", action="store_true", help="also say in words what the seat knows")
    add("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    add = actions.add_parser("check", help="derive a sample of the rows again").add_argument
    add("folder", metavar="DIR")
    add("--games", type=int, default=20, help="games dealt and replayed (default: %(default)s)")
    add("--shards", type=int, default=1, help="shards made again (default: %(default)s)")
    add("--seed", type=int, default=0, help="of the sample (default: 0)")
    add = actions.add_parser("minari", help="export one learner's episodes").add_argument
    add("folder", metavar="DIR")
    add("--name", required=True, help="as Minari wants it, such as fiveup/partner-v0")
    add("--seat", type=int, default=0, help="the learner's (default: 0)")
    add("--split", default="train", help=f"{', '.join(SPLITS)} (default: train)")
    add("--reward", default="win", help=f"{', '.join(REWARDS)} (default: win)")
    return parser


def _make(options: argparse.Namespace) -> int:
    from agents.data.making import make_data

    if options.cores < 1:
        raise DataError(f"--cores must be at least 1, not {options.cores}")
    plan = Plan(
        agents=split_specs(options.agents),
        positions=options.positions,
        values=options.values,
        seed=options.seed,
        shards=options.shards,
        rules=tuple(options.rules),
        players=tuple(options.players),
        encoder=options.encoder,
        text=options.text,
    )
    command = shlex.join(["python", "-m", "agents.data", *sys.argv[1:]])
    card = make_data(options.out, plan, cores=options.cores, command=command)
    counts = card.about["counts"]
    print(
        f"{counts['positions']:,} positions from {counts['games']:,} games are in {options.out}; "
        f"read {options.out}/card.md"
    )
    return 0


def _check(options: argparse.Namespace) -> int:
    from agents.data.checks import check_data

    card = check_data(options.folder, options.games, options.shards, options.seed)
    print(
        f"{card.folder}: the digests of {len(card.shards):,} shards are right; {options.games:,} "
        f"games and {min(options.shards, len(card.shards)):,} shards, made again, are the same"
    )
    return 0


def _export(options: argparse.Namespace) -> int:
    from agents.data.export import export_to_minari

    made = export_to_minari(
        options.folder,
        options.name,
        seat=options.seat,
        split=options.split,
        reward=options.reward,
    )
    print(f"{made.total_episodes:,} episodes, {made.total_steps:,} steps: {options.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
