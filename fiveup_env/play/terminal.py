"""The table in a terminal: moves are typed as `5-3@5`, or by their number in the list."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from fiveup_env.drawing.text import layout_text
from fiveup_env.drawing.words import score_line, tile_names
from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.play.sights import Sight
    from fiveup_env.play.table import Table

HELP: Final = "a move such as 5-3@5, its number, undo, new (the same deal again) or quit"


def play_in_terminal(
    table: Table, read: Callable[[str], str] = input, write: Callable[[str], None] = print
) -> None:
    """Play until the game is over or the person quits; `read` raises EOFError at the end."""
    unicode = "utf" in (sys.stdout.encoding or "").lower()
    rules = table.setup.rules
    names = ", ".join(f"seat {k}: {spec}" for k, spec in _seated(table))
    write(f"You sit in seat {table.setup.seat} ({names}), to {rules.target}. Type {HELP}.")
    tell(table.start(), write, unicode=unicode)
    while not table.is_over:
        moves = [choice.move for choice in table.choices()]
        for number, choice in enumerate(table.choices(), 1):
            gain = f", +{choice.points}" if choice.points else ""
            write(f"  {number:>2}  {choice.move}  (total {choice.total}{gain})")
        try:
            typed = read("> ").strip()
        except EOFError:
            return
        try:
            if typed in {"q", "quit"}:
                return
            if typed in {"u", "undo"}:
                seen = table.undo()
            elif typed in {"n", "new"}:
                seen = table.again()
            elif typed.isdecimal() and 0 < int(typed) <= len(moves):
                seen = table.play(moves[int(typed) - 1])
            else:
                seen = table.play(typed)
        except FiveUpError as error:
            write(f"{error}; type {HELP}")
            continue
        tell(seen, write, unicode=unicode)


def tell(sights: list[Sight], write: Callable[[str], None], *, unicode: bool) -> None:
    """Write what was seen, and the table as it stands."""
    for sight in sights:
        if sight.said:
            write(sight.said)
    now = sights[-1]
    write("")
    write(layout_text(now.plays, now.rules.spinners, unicode=unicode))
    sizes = "  ".join(
        f"seat {seat}: {size}" for seat, size in enumerate(now.sizes) if seat != now.seat
    )
    write(f"{sizes}  boneyard: {now.boneyard}  scores {score_line(now.scores)}")
    write(f"your hand: {tile_names(now.hand)}")


def _seated(table: Table) -> list[tuple[int, str]]:
    others = (seat for seat in range(table.setup.rules.players) if seat != table.setup.seat)
    return list(zip(others, table.setup.specs, strict=True))
