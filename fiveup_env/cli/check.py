"""`fiveup check`: records, verified against the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fiveup_env.cli.shared import add_command, option
from fiveup_env.game.records import read_file


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Some records."""

    file: str = option("file", metavar="FILE", help="a file of records, one per line")


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "verify records; exit status 1 if one is invalid or there are none"
    add_command(commands, "check", about, run, CheckOptions)


def run(options: CheckOptions) -> int:
    """Print what is wrong, and return 1 if anything is."""
    good, bad = 0, 0
    for line in read_file(options.file):
        if line.error is None:
            good += 1
            if line.digests:
                print(f"line {line.number}: the deal fits the digests {' '.join(line.digests)}")
        else:
            bad += 1
            print(line.error)
    print(f"{good} valid, {bad} invalid" if good or bad else f"{options.file} has no records")
    return 0 if good and not bad else 1
