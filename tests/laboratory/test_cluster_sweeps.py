"""Sweeps by Ray Tune: the same trials as one after the other, some at once.

They need Ray: `pip install -c constraints-ray.txt -e '.[ray,train,sweep]'`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
import yaml

import train
from agents.cluster import sweeps
from agents.cluster.connection import ClusterError
from agents.cluster.sweeps import cpus_of, on_cluster
from agents.learn.sweeps.spec import make_sweep, possible
from agents.learn.sweeps.trials import Known, run_sweep
from agents.learn.training import TrainingError
from fiveup_env.errors import FiveUpError
from tests.laboratory.test_sweeps import TINY, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents.learn.runs.config import Config
    from agents.learn.runs.folder import Run
    from agents.learn.sweeps.trials import Train

if importlib.util.find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray warns about its own code

ROOT = Path(__file__).parents[2]
ONE_AT_A_TIME = {**TINY, "set": {**TINY["set"], "threads": 2}}
SECONDS = 300.0  # for a process to start, or to end, on a busy machine


@pytest.fixture(scope="module", autouse=True)
def _two_cores() -> Iterator[None]:
    import ray

    ray.init(num_cpus=2, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def _one_thread(own_runs: None) -> None:
    del own_runs
    torch.set_num_threads(1)


def trainer(seconds: float = 0.0, dying: str = "") -> Train:
    """Return what trains nothing, for some seconds, and dies in its first try at one trial."""

    def fake(config: Config, run: Run, *, resume: bool) -> int:
        began = time.time()  # noqa: TID251 - of several machines
        run.begin(config)
        if run.folder.name == dying and not resume:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(seconds)
        if config.width == 13:
            raise TrainingError("update 1: the loss is nan")
        rate = abs(config.learning_rate - 2e-3) + 0.01 * config.n_epochs
        line = {"update": 1, "decisions": 7, "seconds": 60, "bank": [rate, rate, rate + 0.01]}
        run.metrics_file.write_text(json.dumps(line) + "\n")
        told = {"from": began, "to": time.time(), "resume": resume}  # noqa: TID251
        (run.folder / "told.json").write_text(json.dumps(told))
        return 0

    return fake


def told_by(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "told.json").read_text())
    return found


def test_a_sweep_is_run_by_tune_where_ray_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    words = ["train.py", "--sweep", str(tmp_path / "tiny.yaml")]
    monkeypatch.setattr(sys, "argv", words)
    assert train.main() == 0
    told = capsys.readouterr().out
    table = (tmp_path / "tiny" / "table.md").read_text()
    assert table in told
    assert re.search(r"Trial 2 of 2, tiny-00\d: \d", told)
    assert "</svg>" in (tmp_path / "tiny" / "plot.svg").read_text()
    assert sorted(trial["run"] for trial in results_of("tiny")) == ["tiny-000", "tiny-001"]
    for trial in results_of("tiny"):
        run = tmp_path / trial["run"]
        config = yaml.safe_load((run / "config.yaml").read_text())
        assert {name: config[name] for name in trial["chosen"]} == trial["chosen"]
        assert json.loads((run / "about.json").read_text())["command"] == f"python {words[0]} " + (
            " ".join(words[1:])
        )
        assert (run / "policy" / "policy.json").is_file()
    assert not (tmp_path / "tiny" / "ray").exists()
    assert train.main() == 0  # again: nothing is left to do
    assert "Trial" not in capsys.readouterr().out


def test_one_at_a_time_the_trials_are_those_of_the_other_engine() -> None:
    pytest.importorskip("optuna")
    from agents.learn.sweeps.sequence import one_by_one

    sweep = make_sweep(ONE_AT_A_TIME | {"trials": 12})
    assert run_sweep(sweep, "ray", trainer(), on_cluster(sweep)) == 0
    assert run_sweep(sweep, "optuna", trainer(), one_by_one) == 0
    for one, other in zip(results_of("ray"), results_of("optuna"), strict=True):
        assert (one["chosen"], one["result"]) == (other["chosen"], other["result"])


def test_trials_run_side_by_side_and_never_twice(tmp_path: Path) -> None:
    sweep = make_sweep(TINY | {"trials": 5})
    assert run_sweep(sweep, "both", trainer(seconds=2.0), on_cluster(sweep)) == 0
    assert sorted(trial["run"] for trial in results_of("both")) == [f"both-00{k}" for k in range(5)]
    times = [told_by(tmp_path / f"both-00{k}") for k in range(5)]
    overlaps = [
        one["from"] < other["to"] and other["from"] < one["to"]
        for k, one in enumerate(times)
        for other in times[:k]
    ]
    assert any(overlaps)
    chosen = [str(trial["chosen"]) for trial in results_of("both")]
    assert len(set(chosen)) == 5


def test_a_trial_whose_process_is_lost_is_resumed(tmp_path: Path) -> None:
    sweep = make_sweep(ONE_AT_A_TIME)
    assert run_sweep(sweep, "lost", trainer(dying="lost-000"), on_cluster(sweep)) == 0
    assert [trial["failure"] for trial in results_of("lost")] == [None, None]
    assert [told_by(tmp_path / f"lost-00{k}")["resume"] for k in range(2)] == [True, False]


def test_a_trial_that_fails_is_told_and_one_with_an_error_stops_the_sweep(tmp_path: Path) -> None:
    search = {"width": [13, 16], "n_epochs": [1, 2]}
    sweep = make_sweep(ONE_AT_A_TIME | {"trials": 6, "search": search})
    assert run_sweep(sweep, "failing", trainer(), on_cluster(sweep)) == 0
    assert {trial["failure"] for trial in results_of("failing")} == {
        "update 1: the loss is nan",
        None,
    }

    def broken(config: Config, run: Run, *, resume: bool) -> int:
        del config, run, resume
        raise RuntimeError("a mistake in the code")

    with pytest.raises(
        ClusterError, match=r"2 trials .* RuntimeError: a mistake in the code; the same"
    ):
        run_sweep(make_sweep(TINY), "broken", broken, on_cluster(sweep))
    assert not (tmp_path / "broken" / "table.md").exists()
    assert run_sweep(make_sweep(TINY), "broken", trainer(), on_cluster(sweep)) == 0


def test_without_optuna_keys_are_drawn_at_random_and_the_same_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweeps, "find_spec", lambda _name: None)
    sweep, told = make_sweep(TINY | {"trials": 2}), list[str]()
    assert run_sweep(sweep, "drawn", trainer(), on_cluster(sweep), told.append) == 0
    assert "Optuna is not installed" in told[0]
    from agents.cluster.tuning import draw

    by_run = {trial["run"]: trial["chosen"] for trial in results_of("drawn")}
    assert by_run == {f"drawn-00{k}": draw(sweep, k, Known([], [])) for k in range(2)}


def test_what_is_drawn_is_what_the_file_allows() -> None:
    from agents.cluster.tuning import draw

    search = {
        "learning_rate": {"low": 1e-4, "high": 1e-2, "log": True},
        "ent_coef": {"low": 0.0, "high": 0.3, "step": 0.1},
        "n_steps": {"low": 16, "high": 128, "step": 16},
        "n_epochs": {"low": 1, "high": 3},
        "width": {"low": 16, "high": 64, "log": True},
        "clip_range": {"low": 0.1, "high": 0.4},
        "encoder": [None, "flat@2"],
        "panel": [["random"], ["random", "greedy"]],
    }
    sweep = make_sweep(TINY | {"search": search})
    drawn = [draw(sweep, k, Known([], [])) for k in range(300)]
    for one in drawn:
        assert all(possible(sweep.search[name], value) for name, value in one.items())
        sweep.config(one)

    def seen(name: str) -> set[Any]:
        return {round(one[name], 9) for one in drawn}

    assert seen("n_steps") == set(range(16, 129, 16))
    assert seen("ent_coef") == {0.0, 0.1, 0.2, 0.3}
    assert seen("n_epochs") == {1, 2, 3}
    assert sum(one["learning_rate"] < 1e-3 for one in drawn) == pytest.approx(150, abs=40)
    assert min(seen("width")) < 20
    assert max(seen("width")) > 56
    assert {str(one["panel"]) for one in drawn} == {"['random']", "['random', 'greedy']"}
    assert {one["encoder"] for one in drawn} == {None, "flat@2"}


@pytest.mark.parametrize(("threads", "cpus"), [(1, 1), (2, 2), (None, 2)])
def test_a_trial_has_as_many_cpus_as_its_threads(threads: int | None, cpus: int) -> None:
    sweep = make_sweep(TINY | {"set": {**TINY["set"], "threads": threads}})
    assert cpus_of(sweep) == cpus


def test_of_threads_that_are_searched_the_most_count() -> None:
    assert cpus_of(make_sweep(TINY | {"search": {"threads": [1, 2]}})) == 2


def test_runs_with_processes_of_their_own_are_left_to_the_other_engine() -> None:
    sweep = make_sweep(TINY | {"set": {**TINY["set"], "learner": "rllib"}})
    with pytest.raises(ClusterError, match="run their sweep with --engine optuna"):
        on_cluster(sweep)


def test_a_cluster_that_is_too_small_for_a_trial_says_what_it_has(tmp_path: Path) -> None:
    sweep = make_sweep(TINY | {"set": {**TINY["set"], "threads": 64}})
    with pytest.raises(FiveUpError, match=r"a trial of this sweep needs 64 CPUs; .* has 2 CPUs"):
        on_cluster(sweep)
    assert not list(tmp_path.iterdir())


SCRIPT = """
import sys
from pathlib import Path

import ray

import train
from agents.learn.runs import folder as runs

if __name__ == "__main__":
    ray.init(num_cpus=2, log_to_driver=False, logging_level="ERROR")
    runs.RUNS = Path(sys.argv.pop())
    sys.exit(train.main())
"""


def test_a_sweep_ends_by_ctrl_c_and_goes_on_with_the_same_keys(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    slow = TINY | {"set": {**TINY["set"], "decisions": 2e6, "checkpoint_minutes": 0}}
    (tmp_path / "slow.yaml").write_text(yaml.safe_dump(slow))
    words = ["script.py", "--sweep", str(tmp_path / "slow.yaml"), "--engine", "ray", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + SECONDS
    while len(list(tmp_path.glob("slow-00?/checkpoints/*"))) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, (out, err)
    assert out.splitlines()[-1].startswith("To go on: python script.py --sweep ")
    assert not err
    before = yaml.safe_load((tmp_path / "slow-000" / "config.yaml").read_text())
    assert results_of("slow") == []
    sweep = make_sweep(slow)
    assert run_sweep(sweep, "slow", trainer(), on_cluster(sweep)) == 0
    by_run = {trial["run"]: trial["chosen"] for trial in results_of("slow")}
    assert by_run["slow-000"] == {name: before[name] for name in sweep.search}
    assert told_by(tmp_path / "slow-000")["resume"]
