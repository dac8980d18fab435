"""Puzzles: what the shipped ones are, how they are made, and that `check` finds what is wrong."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.puzzles import __main__ as command
from agents.puzzles import judging, making
from agents.puzzles.checking import check_puzzles
from agents.puzzles.judging import LEVELS, Verdict, grade_of, solved, worth_solving
from agents.puzzles.making import make_puzzles
from agents.puzzles.storage import (
    GRADES,
    SHIPPED,
    Puzzle,
    PuzzleError,
    PuzzleFile,
    position_of,
    read_puzzles,
    write_puzzles,
)


@pytest.fixture(scope="module")
def shipped() -> PuzzleFile:
    return read_puzzles(SHIPPED)


@pytest.fixture(scope="module")
def clear(shipped: PuzzleFile) -> Puzzle:
    """The puzzle whose best move is furthest ahead, so that few worlds show it."""

    def lead(puzzle: Puzzle) -> int:
        *_, second, best = sorted(puzzle.chances)
        return best - second

    return max(shipped.puzzles, key=lead)


# --- What is shipped


def test_a_thousand_puzzles_are_shipped_in_five_grades(shipped: PuzzleFile) -> None:
    puzzles = shipped.puzzles
    assert len(puzzles) >= 1000
    grades = Counter(puzzle.grade for puzzle in puzzles)
    assert min(grades.values()) >= 40
    assert len(grades) == GRADES
    assert any(puzzle.proven for puzzle in puzzles)
    assert {puzzle.players for puzzle in puzzles} == {2, 3, 4}
    assert Counter(puzzle.rules for puzzle in puzzles).most_common(1)[0][0] == "five_up"
    assert shipped.about["worlds"] >= 4096
    assert len(gzip.compress(SHIPPED.read_bytes())) < 60_000


def test_every_shipped_puzzle_is_reached_by_legal_moves_to_a_legal_best_move_and_few_are_easy(
    shipped: PuzzleFile,
) -> None:
    assert len({puzzle.seed for puzzle in shipped.puzzles}) == len(shipped.puzzles)
    easy = 0
    for puzzle in shipped.puzzles:
        position = position_of(puzzle)
        assert len(position.actions) > 1
        assert len(position.actions) == len(puzzle.chances)
        assert position.actions[np.argmax(puzzle.chances)] == puzzle.best
        easy += judging._finds("greedy", position, puzzle.best, puzzle.seed)
    assert easy <= making.MOST_EASY * len(shipped.puzzles)


def test_the_solver_proves_what_is_said_to_be_proven_and_no_other_move(shipped: PuzzleFile) -> None:
    for puzzle in [puzzle for puzzle in shipped.puzzles if puzzle.proven][:2]:
        position = position_of(puzzle)
        assert [solved(position, int(action)).proves for action in position.actions] == (
            position.actions == puzzle.best
        ).tolist()


# --- What a puzzle is


@pytest.mark.parametrize(
    ("chance", "lead", "worth"),
    [
        (0.5, 0.021, True),
        (0.5, 0.019, False),
        (0.1, 0.011, True),
        (0.95, 0.011, True),
        (0.95, 0.009, False),
        (0.04, 0.03, False),  # the game is lost
    ],
)
def test_the_lead_that_a_puzzle_needs_is_smaller_where_chances_differ_less(
    chance: float, lead: float, worth: bool
) -> None:
    verdict = Verdict(0, np.array([chance, chance - lead]), lead, 9.0)
    assert worth_solving(verdict) is worth


def test_grades_rise_as_fewer_levels_find_the_move() -> None:
    solvers = [[True] * k + [False] * (len(LEVELS) - k) for k in range(len(LEVELS) + 1)]
    assert [grade_of(finds) for finds in solvers] == [5, 4, 4, 3, 3, 2, 2, 1, 1]


# --- Making


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few games, few worlds, and two levels, so that there are grades 4 and 5 alone."""
    monkeypatch.setattr(making, "ROUND", [("five_up", 2), ("all_fives", 3), ("five_up", 4)])
    monkeypatch.setattr(making, "PLAYERS", ("greedy", "partner"))
    monkeypatch.setattr(making, "FIRST_WORLDS", 64)
    monkeypatch.setattr(judging, "LEVELS", ("greedy", "defensive"))


@pytest.mark.usefixtures("quick")
def test_the_same_numbers_make_the_same_puzzles_which_check_finds_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_puzzles(2, 1, 256, 1, "a command")
    write_puzzles(tmp_path / "puzzles.json", made)
    assert read_puzzles(tmp_path / "puzzles.json").puzzles == made.puzzles
    assert sorted(puzzle.grade for puzzle in made.puzzles) == [4, 5]
    assert not list(check_puzzles(made.puzzles, 1024, 0, 1))
    file = tmp_path / "by command.json"
    words = ["make", str(file), "--count", "2", "--worlds", "256", "--seed", "1", "--cores", "1"]
    assert run(monkeypatch, *words) == 0
    again = read_puzzles(file)
    assert again.puzzles == made.puzzles
    assert f"looked    {again.about['looked']:>8}" in capsys.readouterr().out
    assert again.about["command"].startswith("python -m agents.puzzles make")


@pytest.mark.slow
def test_the_number_of_cores_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "ROUND", [("five_up", 4), ("five_up", 2), ("all_fives", 3)] * 3)
    alone, shared = (make_puzzles(3, 1, 512, cores, "a command") for cores in (1, 2))
    assert alone == shared


# --- Checking


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda puzzle, wrong: replace(puzzle, best=wrong), "the best action is"),
        (lambda puzzle, _: replace(puzzle, grade=puzzle.grade % GRADES + 1), "the grade is"),
        (lambda puzzle, _: replace(puzzle, proven=True), "the solver does not prove it"),
        (lambda puzzle, _: replace(puzzle, best=120), "the best action 120 is not legal"),
        (lambda puzzle, _: replace(puzzle, chances=puzzle.chances[1:]), "legal moves"),
        (lambda puzzle, _: replace(puzzle, moves=f"z{puzzle.moves}"), "choice 0 is 'z', but"),
        (
            lambda puzzle, _: replace(puzzle, moves=f"{puzzle.moves}{'0' * 999}"),
            "the game is over after",
        ),
    ],
)
def test_what_is_wrong_with_a_puzzle_is_found(change: Any, fault: str, clear: Puzzle) -> None:
    clear = replace(clear, proven=False)
    assert not list(check_puzzles([clear], 256, 0, 1))
    wrong = position_of(clear).actions
    changed = change(clear, int(wrong[wrong != clear.best][0]))
    ((puzzle, faults),) = check_puzzles([changed], 256, 0, 1)
    assert puzzle == changed
    assert any(fault in sentence for sentence in faults)


def test_two_puzzles_of_a_deal_are_one_too_many(clear: Puzzle) -> None:
    ((_, faults),) = check_puzzles([clear, clear], 256, 0, 1)
    assert faults == [f"deal {clear.seed} has another puzzle"]


# --- The command, and files that are none


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["puzzles", *arguments])
    return command.main()


def test_the_command_says_what_fails_and_ends_with_status_1(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    clear: Puzzle,
) -> None:
    file = tmp_path / "two.json"
    for puzzles, status, said in (
        ([clear], 0, "1 of 1 puzzles hold"),
        ([clear, replace(clear, seed=1, moves="")], 1, "1 of 2 puzzles hold"),
    ):
        write_puzzles(file, PuzzleFile(puzzles, {}))
        assert run(monkeypatch, "check", str(file), "--worlds", "256", "--cores", "1") == status
        out = capsys.readouterr().out
        assert said in out
        assert out.count("\n") == len(puzzles)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["make", "x.json", "--count", "0"], "make needs one puzzle and one core or more"),
        (["make", "x.json", "--worlds", "9"], "and 512 worlds or more"),
        (["check", "no.json"], "No such file or directory: 'no.json'"),
        (["check", "--seed", f"{1 << 32}"], "check needs a seed from 0 to below"),
    ],
)
def test_bad_input_is_a_sentence(
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *arguments) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


ROW = {"seed": 1, "rules": "five_up", "players": 2, "moves": "", "best": 0, "chances": [1], "grade": 1}  # fmt: skip


def file_with(**changes: object) -> str:
    about = {"format": "fiveup-puzzles", "version": 1, "about": {}, "puzzles": [ROW]}
    return json.dumps(about | changes)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("\xff", "is not a file of puzzles: it is not JSON"),
        ("[]", "is not a file of puzzles: its format is not fiveup-puzzles"),
        (file_with(version=2), "has version 2; this reads 1"),
        (file_with(puzzles=[]), "is damaged: it has no list of puzzles"),
        (file_with(puzzles=[ROW, 7]), "puzzle 1 of the list is not a puzzle"),
        (file_with(puzzles=[ROW | {"seed": "1"}]), "puzzle 0 of the list is not a puzzle"),
        (file_with(puzzles=[ROW | {"more": 1}]), "puzzle 0 of the list is not a puzzle"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_a_sentence(
    content: str, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "puzzles.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(PuzzleError, match=sentence):
        read_puzzles(path)
