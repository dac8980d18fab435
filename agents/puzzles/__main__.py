"""Make and check the puzzles of the table: `python -m agents.puzzles make FILE`.

A puzzle is a position with one best move. docs/understand/arena.md says how they are found.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from typing import Final

from agents.puzzles.checking import check_puzzles
from agents.puzzles.judging import CLEAR
from agents.puzzles.making import make_puzzles
from agents.puzzles.storage import SHIPPED, PuzzleError, read_puzzles, write_puzzles
from fiveup_env.cli.shared import Parser, answer

SEED: Final = 600_000_000  # the first deal; others follow
COUNT: Final = 1_000
WORLDS: Final = 4_096
LEAST_WORLDS: Final = 16  # of a check
MOST_SEEDS: Final = 1 << 32


def main() -> int:
    """Run the command line, and return the exit status."""
    return answer("puzzles", _run)


def _run() -> int:
    options = _parser().parse_args()
    return _make(options) if options.command == "make" else _check(options)


def _parser() -> Parser:
    parser = Parser(
        prog="python -m agents.puzzles",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    make = commands.add_parser("make", help="make a file of puzzles")
    make.add_argument("file", metavar="FILE")
    make.add_argument("--count", type=int, default=COUNT, help="puzzles (default: %(default)s)")
    make.add_argument("--seed", type=int, default=SEED, help="first deal (default: %(default)s)")
    check = commands.add_parser("check", help="find all again in other worlds")
    check.add_argument("file", nargs="?", default=SHIPPED, metavar="FILE", help="default: shipped")
    check.add_argument("--seed", type=int, default=0, help="of the worlds (default: %(default)s)")
    for command, worlds in ((make, WORLDS), (check, 2 * WORLDS)):
        add = command.add_argument
        add("--worlds", type=int, default=worlds, help="of a search (default: %(default)s)")
        add("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    return parser


def _make(options: argparse.Namespace) -> int:
    command = shlex.join(["python", "-m", "agents.puzzles", *sys.argv[1:]])
    made = make_puzzles(options.count, options.seed, options.worlds, options.cores, command)
    write_puzzles(options.file, made)
    for name in ("games", "looked", "passed", "searched"):
        print(f"{name:<10}{made.about[name]:>8,}")
    print(f"{'puzzles':<10}{len(made.puzzles):>8,}")
    for grade, count in sorted(Counter(puzzle.grade for puzzle in made.puzzles).items()):
        print(f"{f'grade {grade}':<10}{count:>8,}")
    print(f"{'proven':<10}{sum(puzzle.proven for puzzle in made.puzzles):>8,}")
    return 0


def _check(options: argparse.Namespace) -> int:
    if not 0 <= options.seed < MOST_SEEDS or options.worlds < LEAST_WORLDS or options.cores < 1:
        raise PuzzleError(
            f"check needs a seed from 0 to below {MOST_SEEDS:,}, {LEAST_WORLDS} worlds or more, "
            "and a core or more"
        )
    file, wrong = read_puzzles(options.file), 0
    for puzzle, faults in check_puzzles(file.puzzles, options.worlds, options.seed, options.cores):
        wrong += 1
        print(f"{puzzle.seed} ({puzzle.rules}, {puzzle.players} players): {'; '.join(faults)}")
    print(
        f"{len(file.puzzles) - wrong:,} of {len(file.puzzles):,} puzzles hold, with the best move "
        f"ahead by more than {CLEAR:g} standard errors in {options.worlds:,} other worlds"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
