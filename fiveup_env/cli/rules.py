"""`fiveup rules`: presets and their fields, side by side."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fiveup_env.errors import RulesError
from fiveup_env.rules.fields import FIELDS, MAX_PLAYERS, MIN_PLAYERS, Rules
from fiveup_env.rules.presets import PRESETS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    rules = commands.add_parser("rules", help="print the presets and their fields side by side")
    rules.set_defaults(run=run)
    rules.add_argument(
        "preset", nargs="?", metavar="PRESET", help="only this preset, for every number of players"
    )


def run(options: argparse.Namespace) -> int:
    """Print the table, and return the exit status."""
    if options.preset is None:
        columns = {name: Rules.preset(name) for name in PRESETS}
        print("Four players as partners; for 2 to 5 players give a preset: rules PRESET\n")
    else:
        columns = {f"{rules.players} players": rules for rules in _dealable(options.preset)}
        print(f"{options.preset}\n")
    rows = [
        ("", *columns),
        *(
            (field, *(str(getattr(rules, field)) for rules in columns.values()))
            for field in (*FIELDS, "teams")
        ),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        )
    return 0


def _dealable(preset: str) -> Iterator[Rules]:
    """Yield the rules of a preset for every number of players that it can be dealt to."""
    yield Rules.preset(preset, MIN_PLAYERS)
    for players in range(MIN_PLAYERS + 1, MAX_PLAYERS + 1):
        with suppress(RulesError):  # too few tiles
            yield Rules.preset(preset, players)
