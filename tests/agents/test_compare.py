"""Comparisons of two ways to train: their statistics, their games, and what they keep."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import t as student

from agents import results
from agents.compare import games, ways
from agents.compare.__main__ import main
from agents.compare.games import EACH_OTHER, Games, meetings_of, opponents, turned
from agents.compare.statistics import _reach, difference, mean_of
from agents.learn.training import _stop_signals
from agents.runs import folder as runs
from agents.runs.config import Config
from fiveup_env.rules.fields import Rules
from tests.support import ROOT, on_posix

RUNS, DEALS = 5, 60


def test_an_interval_reaches_as_far_as_students_t() -> None:
    for freedom in (1, 1.7, 4, 30, 2000):
        assert _reach(freedom) == pytest.approx(student.ppf(0.975, freedom), rel=1e-3)


@pytest.mark.parametrize("met", [False, True])
def test_intervals_hold_what_is_true_of_all_seeds_and_deals(met: bool) -> None:
    """Runs, deals and single games all vary; seeds matter most, as they do in learning."""
    rng, held, narrow = np.random.default_rng(0), 0, 0
    for _ in range(500):
        skill = 0.05 * rng.standard_normal((2, RUNS, 1))
        luck = 0.1 * rng.standard_normal((2, 1, DEALS))
        first, second = 0.5 + skill + luck + 0.3 * rng.standard_normal((2, RUNS, DEALS))
        if met:
            first = first - skill[1][opponents(RUNS, DEALS, 0)[..., 0]]
            second = turned(Games(first, first, first)).wins
        value, low, high = difference(first, second, (-9, 9), met=met)
        assert value == pytest.approx(first.mean() - second.mean())
        if met:
            half = mean_of(first, (-9, 9), 0)
            assert half[1:] == pytest.approx([(low + 1) / 2, (high + 1) / 2])
        held += low <= 0 <= high
        spread = (first - second).mean(0).std(ddof=1) / np.sqrt(DEALS)
        narrow += abs(value) <= 1.96 * spread
    assert held >= 0.95 * 500
    assert narrow < 0.9 * 500  # deals alone would claim too much


def test_a_zero_has_an_interval_and_no_end_is_beyond_what_can_be() -> None:
    value, low, high = mean_of(np.zeros((3, 40)), (0, 1))
    assert (value, low) == (0, 0)
    assert 0.03 < high < 0.2


@pytest.mark.parametrize("players", [4, 3])
def test_every_run_meets_every_other_on_as_many_deals(players: int) -> None:
    specs = [["a0", "a1", "a2"], ["b0", "b1", "b2"]]
    rules, deals = Rules.preset("five_up", players), np.arange(12)
    meetings = meetings_of(specs, ["greedy"], rules, deals)
    for way, run in np.ndindex(2, 3):
        own = [one for one in meetings if (one.way, one.run) == (way, run)]
        against = [one for one in own if one.against == EACH_OTHER]
        if way == 0 or players == 3:
            assert sorted(np.concatenate([one.deals for one in against])) == list(deals)
            assert {one.agents[1] for one in against} == set(specs[1 - way])
            for one in against:
                met = opponents(3, 12, way)[run, one.deals]
                assert {specs[1 - way][i] for i in met} == {one.agents[1]}
        else:
            assert not against
        (rival,) = [one for one in own if one.against == "greedy"]
        assert (rival.deals == deals).all()
        assert rival.agents == (specs[way][run], "greedy")


class Here(Executor):
    """Runs everything in this process, at once."""

    def __init__(self, _cores: int) -> None:
        pass

    def submit(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Return a future that is done."""
        done: Future[Any] = Future()
        done.set_result(function(*given, **named))
        return done


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    """Return the command, which writes into a folder of this test."""
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    for module in (ways, games):
        monkeypatch.setattr(module, "workers", Here)

    def run(*words: str) -> int:
        monkeypatch.setattr(sys, "argv", [str(results.ROOT / "agents/compare/__main__.py"), *words])
        return main()

    return run


def test_a_comparison_goes_on_where_it_was_and_keeps_what_it_found(
    compare: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = "smoke games=16 n_steps=16 batch_size=64 width=8"
    words = [small, f"{small} networks=side", "--decisions", "200", "--deals", "6"]
    words += ["--name", "trial", "--rivals", "random,greedy", "--save", "--seeds"]
    assert compare(*words, "2") == 0
    trained, train = [], ways.train

    def noted(config: Config, folder: Path) -> None:
        trained.append(folder.name)
        train(config, folder)

    monkeypatch.setattr(ways, "train", noted)
    capsys.readouterr()
    assert compare(*words, "3") == 0
    assert trained == ["a-2", "b-2"]
    assert "| `networks` | one | side |" in capsys.readouterr().out
    kept = json.loads((tmp_path / "trial.json").read_text())
    assert kept["command"].startswith("python -m agents.compare 'smoke games=16")
    assert [row["against"] for row in kept["rows"]] == [EACH_OTHER, "`random`", "`greedy`"]
    assert [(row["way"], row["seed"]) for row in kept["runs"]] == [
        (way, seed) for way in ("`smoke`", "`networks=side`") for seed in "012"
    ]
    for row in kept["rows"]:
        first, second = (row[f"`{name}` wins (%)"]["value"] for name in ("smoke", "networks=side"))
        assert row["difference"]["value"] == pytest.approx(first - second, abs=1e-3)
    assert kept["rows"][0]["`smoke` wins (%)"]["value"] == pytest.approx(
        1 - kept["rows"][0]["`networks=side` wins (%)"]["value"], abs=1e-3
    )
    assert (tmp_path / "trial/compare.svg").read_text().startswith("<?xml")

    words[3] = "300"
    assert compare(*words, "3") == 2
    assert "was trained with decisions=200, not 300; give another" in capsys.readouterr().err

    words[3] = "200"
    monkeypatch.setattr(ways, "code_version", lambda: "another")
    assert compare(*words, "4") == 2
    assert "of the code, not another; give another" in capsys.readouterr().err
    assert len(trained) == 2


def until_told() -> None:
    """Say that this has begun, and after a signal, when something has been kept."""
    with _stop_signals() as signals:
        os.write(1, b"begun\n")
        while not signals:
            time.sleep(0.01)
        time.sleep(0.2)
        os.write(1, b"kept\n")


POOL: Final = """
import time
from agents.processes import workers
from tests.agents.test_compare import until_told
with workers(2) as pool:
    pool.submit(time.sleep, 600)
    pool.submit(until_told).result()
"""


@on_posix
def test_runs_end_with_the_process_that_began_them_and_keep_what_they_learnt() -> None:
    with Popen([sys.executable, "-c", POOL], cwd=ROOT, stdout=PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        process.terminate()
        assert process.communicate(timeout=60)[0] == b"kept\n"  # when nobody is left to write


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["smoke", "smoke seed=3 threads=2"], "the two are trained alike: change a key of one"),
        (["smoke", "smoke players=3"], "the two learn other rules, or with other players"),
        (["smoke", "smook"], "there is no config 'smook' (did you mean 'smoke'?)"),
        (["smoke", ""], "name a config for each way"),
        (["smoke", "selfplay", "--name", "../x"], "must be a plain folder name, not '../x'"),
        (["smoke", "selfplay", "--name", ".."], "must be a plain folder name, not '..'"),
        (["smoke", "selfplay", "--seeds", "1"], "compare needs two seeds or more"),
        (["smoke", "selfplay", "--deals", "4"], "as many deals"),
        (["smoke", "selfplay", "--decisions", "0"], "--decisions must be from 1 to 1e15, not 0"),
        (["smoke", "selfplay", "--rivals", "gredy"], "no agent 'gredy' (did you mean 'greedy'?)"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    compare: Callable[..., int],
    words: list[str],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    assert compare(*words) == 2
    assert sentence in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]
