"""Every claim of a file of puzzles, found again in other worlds, and more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from agents.puzzles.judging import grade_of, judged, proven, solvers
from agents.puzzles.making import CHECK, spread
from agents.puzzles.storage import Puzzle, PuzzleError, position_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ERRORS: Final = 3.0  # standard errors by which the best move must be ahead of every other


class Checked(NamedTuple):
    """What was found wrong with a puzzle; nothing if it is right."""

    puzzle: Puzzle
    faults: list[str]


def check_puzzles(
    puzzles: Sequence[Puzzle], worlds: int, seed: int, cores: int
) -> Iterator[Checked]:
    """Yield the puzzles in which something is wrong; the seed names the worlds."""
    seen: set[int] = set()
    with spread(cores) as over:
        asked = [(puzzle, worlds, seed) for puzzle in puzzles]
        for puzzle, faults in zip(puzzles, over(faults_of, asked), strict=True):
            again = [f"deal {puzzle.seed} has another puzzle"] if puzzle.seed in seen else []
            seen.add(puzzle.seed)
            if again + faults:
                yield Checked(puzzle, again + faults)


def faults_of(asked: tuple[Puzzle, int, int]) -> list[str]:
    """Return what is wrong with a puzzle, in sentences."""
    puzzle, worlds, seed = asked
    try:
        position = position_of(puzzle)
    except PuzzleError as error:
        return [str(error)]
    if puzzle.best not in position.actions:
        return [f"the best action {puzzle.best} is not legal"]
    if len(puzzle.chances) != len(position.actions):
        return [f"{len(puzzle.chances)} chances for {len(position.actions)} legal moves"]
    faults = []
    verdict = judged(position, worlds, puzzle.seed, CHECK + seed)
    if verdict.best != puzzle.best:
        faults.append(f"the best action is {verdict.best}, not {puzzle.best}")
    elif verdict.errors <= ERRORS:
        faults.append(f"the best move is ahead by only {verdict.errors:.1f} standard errors")
    if puzzle.proven and not proven(position, puzzle.best):
        faults.append("the solver does not prove the best move")
    if (grade := grade_of(solvers(position, puzzle.best, puzzle.seed))) != puzzle.grade:
        faults.append(f"the grade is {grade}, not {puzzle.grade}")
    return faults
