"""The published solutions of the mini games are what the code finds; and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fiveup_env import Rules
from fiveup_env.cli import main
from fiveup_env.exact.form import Form, form_of
from fiveup_env.exact.solutions import (
    DATA,
    SolutionError,
    read_solution,
    size_of,
    solve,
    value_range,
)
from fiveup_env.exact.values import exploitability
from fiveup_env.rules.presets import MINIS

SMALL = [("mini-2", 2), ("mini-2", 3), ("mini-2-draw", 2)]


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: str
) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["fiveup", "exact", *words.split()])
    code = main()
    streams = capsys.readouterr()
    return code, streams.out, streams.err


def profile_in(solution: dict[str, Any], form: Form) -> np.ndarray:
    """Return the equilibrium of a file: its states and actions are in the order of the form."""
    plays = [share for state in solution["equilibrium"] for share in state["plays"].values()]
    return form.normalised(np.array([0.0] * form.rules.players + plays))


def test_every_mini_has_a_solution() -> None:
    for name in MINIS:
        solution = read_solution(name)
        assert solution["nash_conv"] <= 1e-5 * solution["range"]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_a_name_means_what_was_solved(path: Path) -> None:
    fields = dict(json.loads(path.read_text("utf-8"))["rules"])
    preset, players = fields.pop("preset"), fields.pop("players")
    assert path.stem == f"{preset}-{players}"
    assert Rules.preset(preset, players).fields() == fields


@pytest.mark.parametrize(("name", "players"), SMALL)
def test_what_is_published_is_found_again(name: str, players: int) -> None:
    form, solution = form_of(Rules.preset(name, players)), read_solution(name, players)
    assert solution["size"] == size_of(form)
    assert solution["range"] == value_range(form)
    again = solve(form, share=1e-4, most_rounds=1000)
    result = exploitability(form, again.profile)
    assert result.nash_conv <= 1e-4 * value_range(form)
    if players == 2:
        assert result.values == pytest.approx(solution["value"], abs=1e-4 * value_range(form))


@pytest.mark.parametrize("players", [2, 3])
def test_the_equilibrium_of_a_file_is_one(players: int) -> None:
    form, solution = form_of(Rules.preset("mini-2", players)), read_solution("mini-2", players)
    result = exploitability(form, profile_in(solution, form))
    assert result.nash_conv < 1e-4
    assert result.values == pytest.approx(solution["value"], abs=1e-4)


def test_a_solution_that_is_not_there_is_asked_for() -> None:
    with pytest.raises(SolutionError, match="no solution of mini-2 for 4 players; known: mini-2-2"):
        read_solution("mini-2", 4)


def test_the_command_line_tells_sizes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, monkeypatch, "size mini-2")
    assert code == 0
    assert "information states  [27, 75]" in out
    code, out, _ = run(capsys, monkeypatch, "size five_up --players 4 --estimate")
    assert code == 0
    assert out.startswith("about ")


def test_the_command_line_solves_and_writes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "mine.json"
    code, out, _ = run(
        capsys, monkeypatch, f"solve mini-2 --set multiple=5 --rounds 200 --output {path}"
    )
    assert code == 0
    assert "CFR+" in out
    assert json.loads(path.read_text())["rules"]["multiple"] == 5


def test_the_command_line_exploits_agents(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, monkeypatch, "exploit mini-2 random greedy --times 2")
    assert code == 0
    head, *lines = out.splitlines()
    assert "of random" in head
    shares = {line.split()[0]: line.split()[3] for line in lines}
    assert list(shares) == ["random", "greedy"]
    assert shares["random"] == "100.0%"
    assert 0 < float(shares["greedy"].rstrip("%")) < 100
