"""Every claim of a file of puzzles, found again in other worlds, and more of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agents.processes import spread
from agents.puzzles.judging import CLEAR, SECOND_PLAYOUT, SHARE, grade_of, judged, solved, solvers
from agents.puzzles.making import CHECK
from agents.puzzles.storage import Puzzle, position_of
from fiveup_env.errors import InputError
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Checked(NamedTuple):
    """The faults of a puzzle; none if it is right."""

    puzzle: Puzzle
    faults: list[str]


def check_puzzles(
    puzzles: Sequence[Puzzle], worlds: int, seed: int, cores: int
) -> Iterator[Checked]:
    """Yield the puzzles in which something is wrong; the seed names the worlds."""
    seen: set[int] = set()
    with spread(cores) as over:
        asked = [(puzzle, worlds, seed) for puzzle in puzzles]
        faults_of_all = progress(over(faults_of, asked), len(asked), "puzzles")
        for puzzle, faults in zip(puzzles, faults_of_all, strict=True):
            again = [f"deal {puzzle.seed} has another puzzle"] if puzzle.seed in seen else []
            seen.add(puzzle.seed)
            if again + faults:
                yield Checked(puzzle, again + faults)


def faults_of(asked: tuple[Puzzle, int, int]) -> list[str]:
    """Return the faults of a puzzle, as sentences."""
    puzzle, worlds, seed = asked
    try:
        position = position_of(puzzle)
    except InputError as error:
        return [str(error)]
    if puzzle.best not in position.actions:
        return [f"the best action {puzzle.best} is not legal"]
    if len(puzzle.chances) != len(position.actions):
        return [f"{len(puzzle.chances)} chances for {len(position.actions)} legal moves"]
    faults = []
    verdict = judged(position, worlds, puzzle.seed, CHECK + seed)
    if verdict.best != puzzle.best:
        faults.append(f"the best action is {verdict.best}, not {puzzle.best}")
    elif verdict.errors <= CLEAR:
        faults.append(f"the best move is ahead by only {verdict.errors:.1f} standard errors")
    second = judged(position, worlds // SHARE, puzzle.seed, CHECK + seed, SECOND_PLAYOUT)
    if second.best != puzzle.best:
        faults.append(f"by playouts of {SECOND_PLAYOUT} the best action is {second.best}")
    solution = solved(position, puzzle.best)
    if not solution.agrees:
        faults.append("the solver finds a better move")
    if solution.proves != puzzle.proven:
        faults.append(f"the solver {'proves' if solution.proves else 'does not prove'} it")
    if (grade := grade_of(solvers(position, puzzle.best, puzzle.seed))) != puzzle.grade:
        faults.append(f"the grade is {grade}, not {puzzle.grade}")
    return faults
