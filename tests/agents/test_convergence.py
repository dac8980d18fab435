"""The test bed of solved games: what it measures, keeps and shows."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from agents import results
from agents.learn.selfplay import SelfPlay
from agents.runs.config import make_config
from benchmarks import convergence
from benchmarks.convergence import GAMES, METHODS, Task


@pytest.fixture
def bed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Yield the folder of a bed that measures little, in this process."""
    monkeypatch.setattr(convergence, "CURVES", tmp_path / "curves.jsonl")
    monkeypatch.setattr(convergence, "PLOT", tmp_path / "plot.svg")
    monkeypatch.setattr(convergence, "DECISIONS", dict.fromkeys(GAMES, 8_000))
    monkeypatch.setattr(convergence, "SAMPLED", 10_000)
    monkeypatch.setattr(convergence, "SWEPT", 100_000)
    monkeypatch.setattr(convergence, "workers", ThreadPoolExecutor)
    threads = torch.get_num_threads()
    yield tmp_path
    torch.set_num_threads(threads)


def run(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setattr("sys.argv", [sys.argv[0], *words.split()])
    convergence.main()


@pytest.mark.slow
def test_all_that_learn_come_closer_to_an_equilibrium(
    bed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--games mini-2 --methods PPO MCCFR CFR+ --seeds 1")
    lines = convergence.read_lines()
    assert [(line["players"], line["method"]) for line in lines] == [
        (players, method) for players in (2, 3) for method in ("PPO", "MCCFR", "CFR+")
    ]
    for line in lines:
        decisions, left = zip(*line["curve"], strict=True)
        assert list(decisions) == sorted(decisions)
        assert left[-1] < min(0.8 * line["random"], left[0])
    assert "`mini-2`" in capsys.readouterr().out
    assert (bed / "plot.svg").stat().st_size > 1000


def test_what_has_been_measured_is_not_measured_again_by_the_same_settings(
    bed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Task("mini-2", 2, "CFR+", 0)
    assert convergence.missing(["mini-2"], ["CFR+"], 3) == [task, Task("mini-2", 3, "CFR+", 0)]
    line = json.dumps(task._asdict() | {"settings": convergence.settings_of(task)})
    (bed / "curves.jsonl").write_text(f'{line}\n{{"game": "mi')  # the last one was cut off
    assert convergence.missing(["mini-2"], ["CFR+"], 3) == [Task("mini-2", 3, "CFR+", 0)]
    monkeypatch.setattr(convergence, "SWEPT", 200_000)
    assert task in convergence.missing(["mini-2"], ["CFR+"], 3)
    assert convergence.read_lines() == []


def test_mmd_is_held_to_the_policy_that_played_the_window(tmp_path: Path) -> None:
    keys = convergence.BASE | convergence.LEARNERS["MMD"]
    learner = SelfPlay(
        make_config({"rules": "mini-2", "players": 2, "threads": 1, **keys}), tmp_path
    )
    for _ in range(2):
        learner.update(0.0)
        arrays, _ = learner.state()
        weights = [name for name in arrays if name.startswith("learners.0.reference.")]
        assert weights
        for name in weights:
            assert (arrays[name] == arrays[name.replace("reference", "network", 1)]).all()


def test_the_table_is_that_of_the_curves() -> None:
    curves = convergence.by_game(convergence.read_lines())
    assert list(curves) == [(game, n) for game, counts in GAMES.items() for n in counts]
    assert all(list(methods) == list(METHODS) for methods in curves.values())
    assert convergence.rows(curves) == results.read("convergence")["rows"]
