"""The table in a terminal: moves are typed as `5-3@5`, or by their number in the list."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fiveup_env.analysis.decisions import judge
from fiveup_env.drawing.text import layout_text
from fiveup_env.drawing.words import score_line, tile_names
from fiveup_env.errors import FiveUpError, InputError, shown
from fiveup_env.files import read_plain, write_atomic
from fiveup_env.game.game import Game
from fiveup_env.game.records import STUDY_FORMAT, record_of
from fiveup_env.play.table import Setup, Table
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fiveup_env.files import Json
    from fiveup_env.play.sights import Sight

HELP: Final = """\
5-3@5      set a tile on an end; 5-3@5x on the double of the 5; a lead is the tile alone
7          make the move with this number in the list
undo       take back your last move
again      begin the same deal once more
save FILE  write the game to a file that every command reads
study      judge your moves so far
quit       leave; with --games, the game goes on next time"""
HINT: Final = "a move such as 5-3@5, its number, help or quit"
JUDGED_BY: Final = "pimc:worlds=200,playout=partner"
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
    unicode = "utf" in (sys.stdout.encoding or "").lower()
    rules = table.setup.rules
    names = ", ".join(f"seat {k}: {spec}" for k, spec in _seated(table))
    write(f"You sit in seat {table.setup.seat} ({names}), to {rules.target}. Type {HINT}.")
    tell(table.start(), write, unicode=unicode)
    while not table.is_over:
        _list_choices(table, write)
        try:
            typed = read("> ").strip()
        except EOFError:
            return
        if typed in {"q", "quit"}:
            return
        try:
            seen = _answer(table, typed, write)
            if folder is not None:
                keep(table, folder / KEPT)
        except FiveUpError as error:
            write(f"{error}; type {HINT}")
            continue
        tell(seen, write, unicode=unicode)


def _answer(table: Table, typed: str, write: Callable[[str], None]) -> Sequence[Sight]:
    """Do what was typed; return what was seen."""
    moves = [choice.move for choice in table.choices()]
    word, _, path = typed.partition(" ")
    if typed in {"h", "help", "?"}:
        write(HELP)
    elif typed in {"u", "undo"}:
        return table.undo()
    elif typed in {"a", "again"}:
        return table.again()
    elif word == "save":
        keep(table, Path(path.strip() or "five-up.json"))
        write(f"saved in {path.strip() or 'five-up.json'}")
    elif typed == "study":
        _study(table, write)
    elif typed.isdecimal() and 0 < int(typed) <= len(moves):
        return table.play(moves[int(typed) - 1])
    else:
        return table.play(typed)
    return ()


def tell(sights: Sequence[Sight], write: Callable[[str], None], *, unicode: bool) -> None:
    """Write what was seen, and the table as it stands."""
    for sight in sights:
        if sight.said:
            write(sight.said)
    if not sights:
        return
    now = sights[-1]
    write("")
    write(layout_text(now.plays, now.rules.spinners, unicode=unicode))
    sizes = "  ".join(
        f"seat {seat}: {size}" for seat, size in enumerate(now.sizes) if seat != now.seat
    )
    write(f"{sizes}  boneyard: {now.boneyard}  scores {score_line(now.scores)}")
    write(f"your hand: {tile_names(now.hand)}")


def _list_choices(table: Table, write: Callable[[str], None]) -> None:
    for number, choice in enumerate(table.choices(), 1):
        gain = f", +{choice.points}" if choice.points else ""
        write(f"  {number:>2}  {choice.move}  (total {choice.total}{gain})")


def _study(table: Table, write: Callable[[str], None]) -> None:
    """Write the mistakes of one's own seat, the biggest first."""
    seat = table.setup.seat
    judgement = judge(table.game, JUDGED_BY)
    rate, mistakes = judgement.error_rate(seat), judgement.mistakes(seat)
    write(f"{len(mistakes)} mistakes in {rate.decisions} decisions, by {JUDGED_BY}")
    for decision in mistakes:
        lost = f"{100 * decision.chance_lost.mean:.1f} % of the chance to win"
        where = f"hand {decision.hand}, move {decision.number}"
        write(f"  {where}: {decision.move} lost {lost}; better {decision.best}")


def keep(table: Table, path: Path, names: Sequence[str] | None = None) -> None:
    """Write a game to a file, with the players' names; raise InputError if that fails."""
    game = table.game
    kept: Json = {
        "format": STUDY_FORMAT,
        "version": 1,
        "names": names,
        "record": record_of(game),
        "seed": game.seed,
        "seat": table.setup.seat,
        "opponents": table.setup.opponents,
        "moves": [str(move) for move in game.moves],
    }
    try:
        write_atomic(path, f"{json.dumps(kept)}\n".encode())
    except OSError as error:
        raise InputError(f"the game cannot be kept in {path}: {error}") from None


def kept_table(setup: Setup, folder: Path) -> Table:
    """Return the table that was left in a folder, if it was set up like this, else a new one."""
    try:
        kept = parse_json(read_plain(folder / KEPT))
        seed, moves = kept["seed"], kept["moves"]
        same = (kept["seat"], kept["opponents"]) == (setup.seat, setup.opponents)
        game = Game(setup.rules, seed=seed)
        for move in moves:
            game.push(move)
        goes_on = same and record_of(game) == kept["record"] and not game.is_game_over()
    except FileNotFoundError:
        return Table(setup)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{shown(str(folder / KEPT))} is not a game that was left: {error}"
        ) from None
    return Table(setup, game) if goes_on and setup.seed in {None, seed} else Table(setup)


def _seated(table: Table) -> list[tuple[int, str]]:
    others = (seat for seat in range(table.setup.rules.players) if seat != table.setup.seat)
    return list(zip(others, table.setup.specs, strict=True))
