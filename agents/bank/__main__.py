"""Measure agents on the bank of positions, in seconds: `python -m agents.bank greedy`.

The figures are mean regrets: by how much a decision lowers the chance to win the game, in per cent,
compared with the best action that the reference search finds. docs/understand/arena.md explains
them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys

from agents.bank.positions import make_bank
from agents.bank.regret import measure, part_of, rows_of
from agents.bank.storage import SHIPPED, read_bank, write_bank
from fiveup_env.arena.tables import regrets_text
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.files import atomic_file
from fiveup_env.opponents.registry import make_agent

SEED = 500_000_000  # the first deal; the others follow
ROUNDS = 20
WORLDS = 4096


def main() -> int:
    """Run the command line, and return the exit status."""
    return answer("bank", _run)


def _run() -> int:
    parser = _parser()
    options = parser.parse_args()
    if not options.agents and not options.make:
        parser.error("name agents to measure, such as greedy, or --make FILE")
    if options.make:
        command = shlex.join(["python", "-m", "agents.bank", *sys.argv[1:]])
        bank = make_bank(options.rounds, options.worlds, options.seed, command)
        write_bank(options.make, bank)
        print(f"{len(bank):,} positions in {options.make}")
    if options.agents:
        _measure(options)
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="python -m agents.bank",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("agents", nargs="*", metavar="AGENT", help="specs, such as greedy pimc:worlds=50")
    add("--bank", default=SHIPPED, metavar="FILE", help="another bank than the repository's")
    add("--rules", metavar="PRESET", help="only positions by this preset")
    add("--players", type=int, metavar="N", help="only positions with N players")
    add("--json", metavar="FILE", help="write the figures as JSON")
    add("--make", metavar="FILE", help="make a bank")
    add("--rounds", type=int, default=ROUNDS, help="rounds of 36 games (default: %(default)s)")
    add("--worlds", type=int, default=WORLDS, help="worlds by position (default: %(default)s)")
    add("--seed", type=int, default=SEED, help="first deal of a bank (default: %(default)s)")
    return parser


def _measure(options: argparse.Namespace) -> None:
    bank = read_bank(options.bank)
    if options.rules is not None:
        bank = part_of(bank, "preset", options.rules)
    if options.players is not None:
        bank = part_of(bank, "players", f"{options.players} players")
    measured = [measure(bank, make_agent(spec), spec) for spec in options.agents]
    rows = rows_of(bank, measured)
    print(regrets_text(rows))
    if options.json:
        with atomic_file(options.json) as file:
            json.dump({"bank": bank.about, "agents": rows}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
