"""Sweeps: trials that are ordinary runs, chosen alike however often the sweep is interrupted."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import train
from agents.learn.runs import folder as runs
from agents.learn.runs.config import CONFIGS
from agents.learn.runs.metrics import read_metrics
from agents.learn.sweeps import spec, trials
from agents.learn.sweeps.choices import choose
from agents.learn.sweeps.folder import SweepFolder
from agents.learn.sweeps.sequence import one_by_one
from agents.learn.sweeps.spec import BANK, known_sweeps, load_sweep, make_sweep
from agents.learn.sweeps.trials import Known, Trials
from agents.learn.training import TrainingError
from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.runs.config import Config
    from agents.learn.runs.folder import Run
    from agents.learn.sweeps.spec import Sweep
    from agents.learn.sweeps.trials import Train

NOTHING = Known([], [])

TINY: dict[str, Any] = {
    "config": "smoke",
    "set": {
        "games": 16,
        "n_steps": 16,
        "batch_size": 64,
        "width": 16,
        "threads": 1,
        "decisions": 500,
        "table_deals": 0,
        "panel_minutes": 999,
        "panel_deals": 2,
    },
    "trials": 2,
    "search": {"learning_rate": {"low": 1e-4, "high": 1e-2, "log": True}, "n_epochs": [1, 2]},
}


pytestmark = pytest.mark.usefixtures("own_runs")


class Fake:
    """Trains nothing, and measures how near the keys are to a goal."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at, self.trained, self.resumed = stop_at, list[str](), list[str]()

    def __call__(self, config: Config, run: Run, *, resume: bool) -> int:
        """Write what a run would leave, or half of it."""
        self.trained.append(run.folder.name)
        self.resumed += [run.folder.name] * resume
        run.begin(config)
        if len(self.trained) == self.stop_at:
            return 130
        if config.width == 13:
            raise TrainingError("update 1: the loss is nan")
        rate = abs(config.learning_rate - 2e-3) + 0.01 * config.n_epochs
        line = {"update": 1, "decisions": 7, "seconds": 60, "bank": [rate, rate, rate + 0.01]}
        line["panel"] = {"random": [1 - rate, 1 - rate, 1.0]}
        run.metrics_file.write_text(json.dumps(line) + "\n")
        return 0


def run_sweep(sweep: Sweep, name: str, train: Train) -> int:
    return trials.run_sweep(sweep, name, train, one_by_one)


def results_of(name: str) -> list[dict[str, Any]]:
    about = json.loads((runs.RUNS / name / "sweep.json").read_text())
    found: list[dict[str, Any]] = about["trials"]
    return found


def test_every_trial_is_an_ordinary_run_and_the_table_and_plot_show_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    words = ["--sweep", str(tmp_path / "tiny.yaml"), "--engine", "optuna"]
    monkeypatch.setattr(sys, "argv", ["train.py", *words])
    assert train.main() == 0
    told = capsys.readouterr().out
    assert "Trial 2 of 2: learning_rate=" in told
    table = (tmp_path / "tiny" / "table.md").read_text()
    assert table in told
    assert table.startswith("| run | regret on the bank (%) | learning_rate | n_epochs |")
    assert "</svg>" in (tmp_path / "tiny" / "plot.svg").read_text()
    for number, trial in enumerate(results_of("tiny")):
        run = tmp_path / f"tiny-{number:03}"
        config = yaml.safe_load((run / "config.yaml").read_text())
        assert {name: config[name] for name in trial["chosen"]} == trial["chosen"]
        assert read_metrics(run / "metrics.jsonl")[-1]["bank"] == trial["result"]
        assert (run / "policy").is_dir()
        assert trial["code"].startswith("0.")
    assert train.main() == 0  # again: nothing is left to do
    assert "Trial" not in capsys.readouterr().out


def test_without_ray_trials_run_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = list[object]()

    def keep(_sweep: Sweep, _name: str, _train: Train, engine: object) -> int:
        engines.append(engine)
        return 0

    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(trials, "run_sweep", keep)
    for words in ([], ["--engine", "optuna"]):
        monkeypatch.setattr(sys, "argv", ["train.py", "--sweep", "rates", *words])
        assert train.main() == 0
    assert engines == [one_by_one, one_by_one]


def test_an_engine_without_a_sweep_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py", "smoke", "--engine", "optuna"])
    assert train.main() == 2
    assert capsys.readouterr().err == "train: --engine goes with --sweep\n"


def test_a_run_of_something_else_is_not_taken_for_a_trial(tmp_path: Path) -> None:
    other = make_sweep(TINY | {"set": {**TINY["set"], "seed": 5}})
    runs.Run(tmp_path / "mine-001").begin(other.config({"learning_rate": 1e-3, "n_epochs": 1}))
    with pytest.raises(FiveUpError, match=r"mine-001 is not a run of this sweep"):
        run_sweep(make_sweep(TINY), "mine", Fake())


def test_a_trial_that_still_runs_turns_the_next_one_elsewhere() -> None:
    sweep = make_sweep(TINY | {"trials": 30})
    run_sweep(sweep, "known", Fake())
    ended = Trials(sweep, SweepFolder("known"), print).ended
    alone = choose(sweep, 30, Known(ended, []))
    assert choose(sweep, 30, Known(ended, [alone])) != alone


def test_an_interrupted_sweep_ends_as_if_nothing_had_been() -> None:
    sweep = make_sweep(TINY | {"trials": 14})
    assert run_sweep(sweep, "straight", Fake()) == 0
    first, second = Fake(stop_at=12), Fake()
    assert run_sweep(sweep, "stopped", first) == 130
    assert run_sweep(sweep, "stopped", second) == 0
    assert second.trained == ["stopped-011", "stopped-012", "stopped-013"]
    assert second.resumed == ["stopped-011"]
    for one, other in zip(results_of("straight"), results_of("stopped"), strict=True):
        assert one["chosen"] == other["chosen"]
        assert one["result"] == other["result"]


def test_results_lead_the_choices() -> None:
    run_sweep(make_sweep(TINY | {"trials": 40}), "led", Fake())
    found = [trial["result"][0] for trial in results_of("led")]
    assert sum(found[-10:]) < 0.8 * sum(found[:10])


def test_another_seed_chooses_otherwise() -> None:
    one, other = (choose(make_sweep(TINY | {"seed": seed}), 0, NOTHING) for seed in (0, 1))
    assert one != other


def test_more_trials_may_be_added_and_nothing_else() -> None:
    run_sweep(make_sweep(TINY), "grown", Fake())
    more = Fake()
    run_sweep(make_sweep(TINY | {"trials": 3}), "grown", more)
    assert more.trained == ["grown-002"]
    with pytest.raises(FiveUpError, match="is a sweep with seed None, not 1: choose another"):
        run_sweep(make_sweep(TINY | {"seed": 1}), "grown", more)


def test_a_trial_that_fails_is_told_and_the_others_go_on() -> None:
    sweep = make_sweep(TINY | {"trials": 6, "search": {"width": [13, 16], "n_epochs": [1, 2]}})
    assert run_sweep(sweep, "failing", Fake()) == 0
    failed = [trial["failure"] for trial in results_of("failing")]
    assert {"update 1: the loss is nan", None} == set(failed)
    lines = (runs.RUNS / "failing" / "table.md").read_text().splitlines()
    assert "the loss is nan" in lines[-1]


def test_keys_that_do_not_go_together_fail_as_a_trial_does() -> None:
    search = {"batch_size": [64, 4096], "games": [16, 256]}
    sweep = make_sweep(TINY | {"set": {**TINY["set"], "games": 256}, "trials": 8, "search": search})
    assert run_sweep(sweep, "odd", Fake()) == 0
    failed = [trial for trial in results_of("odd") if trial["failure"]]
    assert failed
    assert all(trial["failure"].startswith("batch_size: 4096") for trial in failed)


def test_the_best_is_the_highest_where_wins_are_counted() -> None:
    sweep = make_sweep(TINY | {"metric": "panel/random", "trials": 4})
    run_sweep(sweep, "wins", Fake())
    table = (runs.RUNS / "wins" / "table.md").read_text().splitlines()
    rates = [float(line.split(" | ")[1].split()[0]) for line in table[2:]]
    assert "win rate (%) against random" in table[0]
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("name", known_sweeps())
def test_the_sweeps_of_the_repository_can_be_run(name: str) -> None:
    sweep = load_sweep(name)
    sweep.config(choose(sweep, 0, NOTHING))
    assert sweep.metric in {BANK, *(spec.PANEL + rival for rival in sweep.base.panel)}


def test_the_sweep_in_the_documentation_can_be_run() -> None:
    page = (CONFIGS.parent / "docs" / "training.md").read_text("utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    sweep = make_sweep(yaml.safe_load(text))
    assert set(choose(sweep, 0, NOTHING)) == {"learning_rate", "n_steps", "network"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"metrc": 1}, "did you mean 'metric'"),
        ({"config": "quik"}, "did you mean 'quick'"),
        ({"set": {"widht": 3}}, "set: .*did you mean 'width'"),
        ({"set": [1]}, r"set: must contain lines"),
        ({"search": {"learning_rte": [1, 2]}}, "search: .*did you mean 'learning_rate'"),
        ({"search": {}}, "search: name at least one key"),
        ({"search": {"width": [64]}}, "search: width: write a list of values, or"),
        ({"search": {"width": {"low": 1}}}, "search: width: write a list of values, or"),
        ({"search": {"width": {"low": 1, "high": 9, "stpe": 2}}}, "did you mean 'step'"),
        ({"search": {"width": {"low": 9, "high": 1}}}, "low must be below high"),
        ({"search": {"width": {"low": 1.5, "high": 9}}}, "width: must be a whole number"),
        ({"search": {"gae_lambda": {"low": 0, "high": 2}}}, "search: gae_lambda: must be 1"),
        ({"search": {"gae_lambda": {"low": 0, "high": 1, "log": True}}}, "needs low above 0"),
        ({"search": {"width": {"low": 1, "high": 9, "step": -1}}}, "step must be a number above 0"),
        ({"search": {"horizon": ["hand", "gmae"]}}, "search: horizon: .*did you mean 'game'"),
        ({"metric": "panel/greedy"}, "did you mean 'panel/random'"),
        ({"metric": ["bank"]}, "no measurement of these runs"),
        ({"trials": 0}, "trials: must be from 1 to"),
        ({"seed": "x"}, "seed: must be from 0 to"),
        ({"set": {"rules": "all_fives", "max_pip": 3}}, "config key 'max_pip'"),
    ],
)
def test_a_sweep_that_cannot_be_run_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(FiveUpError, match=told):
        make_sweep(TINY | change)


def test_an_unknown_sweep_names_the_nearest(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py", "--sweep", "rtaes"])
    assert train.main() == 2
    assert "train: there is no sweep 'rtaes' (did you mean 'rates'?)" in capsys.readouterr().err


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    sweep = make_sweep(TINY)
    (tmp_path / "mine-000").mkdir()
    with pytest.raises(FiveUpError, match="mine-000 is taken"):
        run_sweep(sweep, "mine", Fake())
    with pytest.raises(FiveUpError, match="plain folder name"):
        run_sweep(sweep, "../mine", Fake())
    run_sweep(sweep, "other", Fake())
    (tmp_path / "other" / "sweep.json").write_text("{")
    with pytest.raises(FiveUpError, match=r"sweep.json is damaged"):
        run_sweep(sweep, "other", Fake())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"result": [0.1, 0.2]}, "sweep.json is damaged"),
        ({"result": [0.1, None, 0.2]}, "sweep.json is damaged"),
        ({"decisions": "7"}, "sweep.json is damaged"),
        ({"chosen": {}}, "sweep.json holds trials that are not of this sweep"),
        ({"chosen": {"learning_rate": "x", "n_epochs": 1}}, "trials that are not of this sweep"),
        ({"chosen": {"learning_rate": 1e3, "n_epochs": 1}}, "trials that are not of this sweep"),
    ],
)
def test_a_trial_that_was_altered_is_not_continued(
    change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    run_sweep(make_sweep(TINY), "kept", Fake())
    file = tmp_path / "kept" / "sweep.json"
    about = json.loads(file.read_text())
    about["trials"][0] |= change
    file.write_text(json.dumps(about))
    with pytest.raises(FiveUpError, match=told):
        run_sweep(make_sweep(TINY), "kept", Fake())


def test_a_run_that_measured_nothing_is_told() -> None:
    def silent(config: Config, run: Run, *, resume: bool) -> int:
        del resume
        run.begin(config)
        return 0

    assert run_sweep(make_sweep(TINY), "silent", silent) == 0
    assert {trial["failure"] for trial in results_of("silent")} == {
        "the run measured no bank/regret"
    }
    assert trials.measured_in({"panel": {}}, "panel/random") is None
