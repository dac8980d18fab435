"""Entries of the leaderboard: `python -m agents.submit check leaderboard/partner.json`.

    make    make an entry of a score card and its authors' notes
    check   check entries: every figure, random chunks, which are played again, and fresh deals
    page    write the leaderboard's page from its entries

docs/understand/benchmark.md says how to enter.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from pathlib import Path
from typing import Any

from fiveup_env.arena.benchmark.card import card_json
from fiveup_env.arena.benchmark.entries import NOTES, Entry, EntryError, entry_of, read_json
from fiveup_env.arena.benchmark.fresh import check_fresh
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
    "command": "the command that made the card",
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
    check.add_argument("--chunks", type=int, default=4, help="to play again (default: 4)")
    check.add_argument(
        "--fresh",
        type=int,
        default=64,
        metavar="DEALS",
        help="to play against each of the panel in every task, to compare (default: 64)",
    )
    check.add_argument(
        "--seed", type=int, help="which chunks, and which fresh deals (default: drawn at random)"
    )
    check.add_argument("--cores", type=int, default=1, help="number of processes (default: 1)")
    page = commands.add_parser("page", help="write the page of the leaderboard")
    page.set_defaults(work=_page)
    page.add_argument("folder", nargs="?", type=Path, default=LEADERBOARD)
    return parser


def _make(options: argparse.Namespace) -> int:
    content = entry_of(read_json(options.card), {note: getattr(options, note) for note in NOTES})
    Entry(content).check_figures()
    card = content.pop("card")
    head = json.dumps(content, indent=1, ensure_ascii=False).removesuffix("\n}")
    with atomic_file(options.output) as file:
        file.write(f'{head},\n "card": {card_json(card)}}}\n')
    return 0


def _check(options: argparse.Namespace) -> int:
    if min(options.chunks, options.fresh) < 0 or options.cores < 1:
        raise EntryError("--chunks and --fresh must be 0 or more, and --cores 1 or more")
    seed = secrets.randbits(63) if options.seed is None else options.seed
    refused = 0
    for path in options.entries:
        why = _refused(path, options, seed)
        print(f"{path}: {f'refused: {why}' if why else 'right'}", flush=True)
        refused += bool(why)
    fresh = f"{options.fresh} fresh deals against each of the panel"
    print(f"played: {options.chunks} chunks of each again, and {fresh} (--seed {seed})")
    return int(refused > 0)


def _refused(path: str, options: argparse.Namespace, seed: int) -> str:
    """Check an entry, the cheap parts first; return why it is refused, if it is."""
    try:
        entry = Entry(read_json(path), Path(path).parent, trust=options.trust)
        entry.check_figures()
        entry.check_agent()
        entry.protocol.check()
        entry.check_minis()
        entry.replay(options.chunks, seed, options.cores)
        if options.fresh:
            check_fresh(entry, options.fresh, seed, options.cores)
    except FiveUpError as error:
        return str(error)
    return ""


def _page(options: argparse.Namespace) -> int:
    entries: list[dict[str, Any]] = []
    for path in sorted(options.folder.glob("*.json")):
        try:
            entry = Entry(read_json(path))
            entry.check_figures()
        except FiveUpError as error:
            raise EntryError(f"{path}: {error}") from None
        entries.append(entry.content | {"file": path.name})
    with atomic_file(options.folder / PAGE) as file:
        file.write(page_of_entries(entries))
    return 0


if __name__ == "__main__":
    sys.exit(main())
