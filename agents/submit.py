"""Entries of the leaderboard: `python -m agents.submit check leaderboard/partner.json`.

    make    make an entry of a score card and its authors' notes
    check   check entries on fresh deals, or by playing all of their games again
    page    write the leaderboard's page from its entries

docs/understand/benchmark.md says how to enter.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path
from typing import Any

from fiveup_env.arena.benchmark.card import as_text
from fiveup_env.arena.benchmark.entries import NOTES, Entry, EntryError, entry_of, read_json
from fiveup_env.arena.benchmark.leaderboard import page_of_entries
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.errors import FiveUpError
from fiveup_env.files import atomic_file

LEADERBOARD = Path("leaderboard")
PAGE = "README.md"
HELP = {
    "name": "what the agent is called",
    "authors": "who made it",
    "note": "what it does, in a sentence",
    "training": "how it was trained, or that it was not",
    "budget": "what that took",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, and return the exit status."""

    def run() -> int:
        options = _parser().parse_args(arguments)
        return int(options.work(options))

    return answer("submit", run)


def _parser() -> Parser:
    parser = Parser(
        prog="python -m agents.submit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    make = commands.add_parser("make", help="make an entry of a score card")
    make.set_defaults(work=_make)
    make.add_argument("card", help="a card, from evaluate.py --benchmark ... --json CARD")
    for note in NOTES:
        make.add_argument(f"--{note}", required=True, metavar="TEXT", help=HELP[note])
    make.add_argument("-o", "--output", required=True, metavar="FILE", help="the entry")
    check = commands.add_parser("check", help="check entries")
    check.set_defaults(work=_check)
    check.add_argument("entries", nargs="+", metavar="ENTRY")
    check.add_argument(
        "--trust", action="store_true", help="play agents that run code: programs, module:Class"
    )
    check.add_argument("--again", action="store_true", help="play all games again")
    check.add_argument(
        "--fresh",
        type=int,
        default=16,
        metavar="DEALS",
        help="to play against each of the panel in every task, to compare (default: 16)",
    )
    check.add_argument("--seed", type=int, help="of the fresh deals (default: drawn at random)")
    check.add_argument("--cores", type=int, default=1, help="number of processes (default: 1)")
    page = commands.add_parser("page", help="write the page of the leaderboard")
    page.set_defaults(work=_page)
    page.add_argument("folder", nargs="?", type=Path, default=LEADERBOARD)
    return parser


def _make(options: argparse.Namespace) -> int:
    content = entry_of(read_json(options.card), {note: getattr(options, note) for note in NOTES})
    Entry(content)
    with atomic_file(options.output) as file:
        file.write(as_text(content))
    return 0


def _check(options: argparse.Namespace) -> int:
    if options.fresh < 0 or options.cores < 1:
        raise EntryError("--fresh must be 0 or more, and --cores 1 or more")
    seed = secrets.randbits(63) if options.seed is None else options.seed
    refused = 0
    for path in options.entries:
        why = _refused(path, options, seed)
        print(f"{path}: {f'refused: {why}' if why else 'right'}", flush=True)
        refused += bool(why)
    if options.fresh:
        print(f"played: {options.fresh} fresh deals of every task (--seed {seed})")
    return int(refused > 0)


def _refused(path: str, options: argparse.Namespace, seed: int) -> str:
    """Check an entry, the cheap parts first; return why it is refused, if it is."""
    try:
        entry = Entry(read_json(path), Path(path).parent, trust=options.trust)
        entry.check_agent()
        entry.protocol.check()
        if options.fresh:
            entry.check_fresh(options.fresh, seed, options.cores)
        if options.again:
            entry.check_again(options.cores)
    except FiveUpError as error:
        return str(error)
    return ""


def _page(options: argparse.Namespace) -> int:
    entries: list[dict[str, Any]] = []
    for path in sorted(options.folder.glob("*.json")):
        try:
            entry = Entry(read_json(path))
        except FiveUpError as error:
            raise EntryError(f"{path}: {error}") from None
        entries.append(entry.content | {"file": path.name})
    with atomic_file(options.folder / PAGE) as file:
        file.write(page_of_entries(entries))
    return 0


if __name__ == "__main__":
    sys.exit(main())
