"""A puzzle, the position that it leads to, and the file that the table reads.

A puzzle names a deal by its seed and gives the moves that lead to the position: one digit for
every move where more than one was legal, its place among the legal moves in order of their action
numbers. The position is the first choice after the last digit. Only one puzzle comes from a deal,
so that the seed is its name.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import fiveup_env.play
from fiveup_env.errors import InputError
from fiveup_env.files import atomic_file, file_path
from fiveup_env.game.game import Game
from fiveup_env.rules.actions import MOVES
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

FORMAT: Final = "fiveup-puzzles"
VERSION: Final = 1
SHIPPED: Final = Path(fiveup_env.play.__file__).with_name("static") / "puzzles.json"
DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
GRADES: Final = 5
KINDS: Final = {  # of what a line of the file holds
    "seed": int,
    "rules": str,
    "players": int,
    "moves": str,
    "best": int,
    "chances": list,
    "grade": int,
    "proven": bool,
}


class PuzzleError(InputError):
    """A file of puzzles that is damaged, or a puzzle that leads to no position."""


@dataclass(frozen=True)
class Puzzle:
    """A position with one best move."""

    seed: int  # of the deal, and the name of the puzzle
    rules: str  # a preset
    players: int
    moves: str  # the choices that lead to the position
    best: int  # the action
    chances: tuple[int, ...]  # to win, in thousandths, after every legal action in their order
    grade: int  # from 1, which nearly all agents solve, to 5
    proven: bool  # the solver finds the same best move in every possible world


class Position(NamedTuple):
    """The decision of a puzzle: an array of one VIEW of the seat to move, and its actions."""

    view: np.ndarray
    actions: np.ndarray


@dataclass(frozen=True)
class PuzzleFile:
    """Puzzles, and how they were made."""

    puzzles: list[Puzzle]
    about: dict[str, Any]


def choices_text(rules: str, players: int, seed: int, actions: Iterable[int]) -> str | None:
    """Return the choices of a game as digits; None if one was among too many for a digit."""
    game, text = Game(rules, players=players, seed=seed), ""
    for action in actions:
        legal = _legal(game)
        place = int(np.searchsorted(legal, action))
        if len(legal) > 1:
            if place >= len(DIGITS):
                return None
            text += DIGITS[place]
        game.push(MOVES[action])
    return text


def position_of(puzzle: Puzzle) -> Position:
    """Return the position that a puzzle leads to; raise PuzzleError if its moves lead to none."""
    game, made = Game(puzzle.rules, players=puzzle.players, seed=puzzle.seed), 0
    while not game.is_game_over():
        legal = _legal(game)
        if len(legal) == 1:
            game.push(MOVES[legal[0]])
        elif made == len(puzzle.moves):
            return Position(game.view(), legal)
        else:
            place = DIGITS.find(puzzle.moves[made])
            if not 0 <= place < len(legal):
                raise PuzzleError(
                    f"puzzle {puzzle.seed}: choice {made} is {puzzle.moves[made]!r}, but "
                    f"{len(legal)} moves are legal there"
                )
            game.push(MOVES[legal[place]])
            made += 1
    raise PuzzleError(f"puzzle {puzzle.seed}: the game is over after its moves")


def _legal(game: Game) -> np.ndarray:
    return np.flatnonzero(game.action_mask())


def write_puzzles(path: str | os.PathLike[str], file: PuzzleFile) -> None:
    """Write puzzles: a line for each, which is short where gzip makes most of it."""
    lines = ",\n".join(
        json.dumps({name: value for name, value in asdict(puzzle).items() if value is not False})
        for puzzle in file.puzzles
    ).replace(" ", "")
    head = json.dumps({"format": FORMAT, "version": VERSION, "about": file.about})
    with atomic_file(path) as out:
        out.write(f'{head[:-1]}, "puzzles": [\n{lines}\n]}}\n')


def read_puzzles(path: str | os.PathLike[str]) -> PuzzleFile:
    """Return the puzzles in a file; raise PuzzleError if it holds none, or is damaged."""
    try:
        content = parse_json(file_path(path).read_bytes())
    except ValueError:
        raise PuzzleError(f"{path} is not a file of puzzles: it is not JSON") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise PuzzleError(f"{path} is not a file of puzzles: its format is not {FORMAT}")
    if content.get("version") != VERSION:
        raise PuzzleError(f"{path} has version {content.get('version')!r}; this reads {VERSION}")
    rows, about = content.get("puzzles"), content.get("about")
    if not isinstance(rows, list) or not rows or not isinstance(about, dict):
        raise PuzzleError(f"{path} is damaged: it has no list of puzzles, or not how it was made")
    return PuzzleFile([_read(path, number, row) for number, row in enumerate(rows)], about)


def _read(path: str | os.PathLike[str], number: int, row: object) -> Puzzle:
    given: dict[str, Any] = {"proven": False, **row} if isinstance(row, dict) else {}
    if (
        given.keys() == KINDS.keys()
        and all(type(given[name]) is kind for name, kind in KINDS.items())
        and all(type(chance) is int for chance in given["chances"])
        and 1 <= given["grade"] <= GRADES
    ):
        return Puzzle(**given | {"chances": tuple(given["chances"])})
    raise PuzzleError(f"{path} is damaged: puzzle {number} of the list is not a puzzle")
