"""The table in a terminal: moves are typed as `5-3@5`, or by their number in the list."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fiveup_env.analysis.decisions import judge
from fiveup_env.analysis.trials import REFERENCE
from fiveup_env.drawing.transcript import table_text
from fiveup_env.drawing.words import score_line
from fiveup_env.errors import FiveUpError, InputError, shown
from fiveup_env.files import read_plain
from fiveup_env.game.records import game_of
from fiveup_env.play.table import Setup, Table
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable

HELP: Final = """\
5-3@5      set a tile on an end; 5-3@5x on the double of the 5; a lead is the tile alone
7          make the move with this number in the list
undo       take back your last move
again      begin the same deal once more
save FILE  write the game to a file that every command reads
study      judge your moves so far
quit       leave; with --games, the game goes on next time"""
HINT: Final = "a move such as 5-3@5, its number, help or quit"
KEPT: Final = "terminal.json"  # in the folder of games


def play_in_terminal(
    table: Table,
    folder: Path | None = None,
    read: Callable[[str], str] = input,
    write: Callable[[str], None] = print,
) -> None:
    """Play until the game is over or the person quits; `read` raises EOFError at the end.

    With a folder, the game is kept there after every move.
    """
    game, seat = table.game, table.setup.seat
    unicode = "utf" in (sys.stdout.encoding or "").lower()
    others = [k for k in range(game.rules.players) if k != seat]
    specs = zip(others, table.setup.specs, strict=True)
    names = ", ".join(f"seat {k}: {spec}" for k, spec in specs)
    write(f"You sit in seat {seat} ({names}), to {game.rules.target}. Type {HINT}.")
    said, moved = table.go_on(), True
    while True:
        for line in said:
            write(line)
        if moved:
            write(f"\n{table_text(game, hands={seat}, unicode=unicode)}")
        if outcome := game.outcome():
            verdict = "win" if seat in outcome.seats else "lose"
            write(f"You {verdict}, {score_line(outcome.scores)}.")
            return
        for number, step in enumerate(table.choices(), 1):
            gain = f", {step.points:+d}" if step.points else ""
            write(f"  {number:>2}  {step.move}  (total {step.total}{gain})")
        before = game.moves
        try:
            typed = read("> ").strip()
            if typed in {"q", "quit"}:
                return
            said = _answer(table, typed)
            if folder is not None:
                table.save(folder / KEPT)
        except EOFError:
            return
        except FiveUpError as error:
            said = [f"{error}; type {HINT}"]
        moved = game.moves != before


def _answer(table: Table, typed: str) -> list[str]:
    """Do what was typed; return what is said to it."""
    moves = [step.move for step in table.choices()]
    word, _, path = typed.partition(" ")
    if typed in {"h", "help", "?"}:
        said = [HELP]
    elif typed in {"u", "undo"}:
        table.undo()
        said = ["Taken back."]
    elif typed in {"a", "again"}:
        said = ["The same deal once more.", *table.again()]
    elif word == "save":
        path = path.strip() or "five-up.json"
        table.save(Path(path))
        said = [f"saved in {path}"]
    elif typed == "study":
        said = _study(table)
    elif typed.isdecimal() and 0 < int(typed) <= len(moves):
        said = table.play(moves[int(typed) - 1])
    else:
        said = table.play(typed)
    return said


def _study(table: Table) -> list[str]:
    """Return the mistakes of one's own seat, the biggest first."""
    seat = table.setup.seat
    judgement = judge(table.game)
    rate, mistakes = judgement.error_rate(seat), judgement.mistakes(seat)
    lines = [f"{len(mistakes)} mistakes in {rate.decisions} decisions, by {REFERENCE}"]
    for decision in mistakes:
        lost = f"{100 * decision.chance_lost.mean:.1f} % of the chance to win"
        where = f"hand {decision.hand}, move {decision.number}"
        lines.append(f"  {where}: {decision.move} lost {lost}; better {decision.best}")
    return lines


def kept_table(setup: Setup, folder: Path) -> Table:
    """Return the table that was left in a folder, if it was set up like this, else a new one."""
    try:
        kept = parse_json(read_plain(folder / KEPT))
        same = (kept["seat"], kept["opponents"]) == (setup.seat, setup.opponents)
        game = game_of(kept)
        goes_on = same and game.rules == setup.rules and not game.is_game_over()
    except FileNotFoundError:
        return Table(setup)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{shown(str(folder / KEPT))} is not a game that was left: {error}"
        ) from None
    return Table(setup, game) if goes_on and setup.seed in {None, game.seed} else Table(setup)
