"""`fiveup rules`: presets and their fields, side by side."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fiveup_env.cli.shared import add_command, option
from fiveup_env.errors import RulesError
from fiveup_env.rules.fields import FIELDS, MAX_PLAYERS, MIN_PLAYERS, Rules
from fiveup_env.rules.presets import FAMILY

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class PresetOptions:
    """A preset, or all."""

    preset: str | None = option(
        "preset", nargs="?", metavar="PRESET", help="only this preset, for every number of players"
    )


def add(commands: Any) -> None:
    """Add the command to a parser's commands."""
    about = "print the presets and their fields side by side"
    add_command(commands, "rules", about, run, PresetOptions)


def run(options: PresetOptions) -> int:
    """Print the table, and return the exit status."""
    if options.preset is None:
        columns = {name: Rules.preset(name) for name in FAMILY}
        print("Four players as partners; for 2 to 5 players give a preset: rules PRESET\n")
    else:
        columns = {f"{rules.players} players": rules for rules in _dealable(options.preset)}
        print(f"{options.preset}\n")
    fields = (
        (field, *(str(getattr(rules, field)) for rules in columns.values()))
        for field in (*FIELDS, "teams")
    )
    rows = [("", *columns), *fields]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0


def _dealable(preset: str) -> Iterator[Rules]:
    """Yield the rules of a preset for every number of players that it can be dealt to."""
    yield Rules.preset(preset, MIN_PLAYERS)
    for players in range(MIN_PLAYERS + 1, MAX_PLAYERS + 1):
        with suppress(RulesError):  # too few tiles
            yield Rules.preset(preset, players)
