"""`fiveup check`: records, verified against the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fiveup_env.game.records import read_file

if TYPE_CHECKING:
    import argparse


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    check = commands.add_parser("check", help="verify records; exit status 1 if one is invalid")
    check.set_defaults(run=run)
    check.add_argument("file", metavar="FILE", help="a file of records, one per line")


def run(options: argparse.Namespace) -> int:
    """Print what is wrong, and return 1 if anything is."""
    good, bad = 0, 0
    for line in read_file(options.file):
        if line.error is None:
            good += 1
        else:
            bad += 1
            print(line.error)
    print(f"{good} valid, {bad} invalid")
    return 1 if bad else 0
