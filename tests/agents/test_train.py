"""`train.py` from the command line: runs, resuming, and that nothing is lost however it stops."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import yaml

import train
from agents.learn import training
from agents.learn.rollouts import make_batch
from agents.learn.selfplay import SelfPlay
from agents.runs import checkpoints
from agents.runs import folder as runs
from agents.runs.checkpoints import checkpoints_in, read_newest, write_checkpoint
from agents.runs.config import CONFIGS, Config, load_config
from agents.runs.metrics import read_metrics
from fiveup_env import Game
from fiveup_env.files import write_atomic
from fiveup_env.opponents.registry import make_agent
from tests.own_encoders import PLACE
from tests.support import python

SMALL = ["smoke", "games=16", "n_steps=16", "batch_size=64", "width=16", "threads=1"]
SHORT = ["decisions=700", "checkpoint_minutes=0", "panel_minutes=999", "table_deals=0"]
TINY = [*SMALL, *SHORT, "rival_share=0.5", "rivals=greedy", "past_every=2", "past_kept=2"]
BASELINE = [*SMALL, *SHORT, "learner=plain", "rivals=defensive"]

pytestmark = pytest.mark.usefixtures("own_runs")


def trained(*words: str) -> int:
    """Return the exit status of `train.py` with some arguments."""
    before, sys.argv = sys.argv, ["train.py", *words]
    try:
        return train.main()
    finally:
        sys.argv = before


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that nothing has disturbed."""
    folder = tmp_path_factory.mktemp("straight")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "RUNS", folder)
        assert trained(*TINY) == 0
    return folder / "smoke"


@pytest.fixture
def mine(straight: Path, tmp_path: Path) -> Path:
    """Return the folder of a copy of that run."""
    return Path(shutil.copytree(straight, tmp_path / "mine"))


def end_of(run: Path) -> dict[str, np.ndarray]:
    """Return all arrays of a run's last checkpoint."""
    return read_newest(run / "checkpoints").arrays


def assert_same_end(run: Path, other: Path) -> None:
    arrays, others = end_of(run), end_of(other)
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert np.array_equal(array, others[name]), name
    weights = [folder / "policy" / "policy.safetensors" for folder in (run, other)]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_a_run_with_an_encoder_of_ones_own_says_how_its_policy_is_played_and_is_resumed_on_trust(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = [*TINY, f"encoder={PLACE}", "--name", "mine"]
    assert trained(*run) == 0
    (spec,) = re.findall(r"--agents (torch:\S+),greedy", capsys.readouterr().out)
    assert spec.endswith(f"mine/policy,encoder={PLACE}")
    assert Game(seed=1).ask(make_agent(spec))
    assert trained("--resume", "mine", "decisions=1400") == 2
    assert f"there is no encoder '{PLACE}'" in capsys.readouterr().err
    assert trained("--resume", "mine", "decisions=1400", "--trust") == 0


def test_a_run_leaves_all_that_it_promises(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = ["panel_minutes=0", "panel_deals=2", "table_deals=3", "decisions=900", "panel=random"]
    assert trained(*TINY, *changes, "--name", "mine") == 0
    run = tmp_path / "mine"
    text = capsys.readouterr().out
    assert "five_up, 4 players" in text
    assert f"torch:{os.path.relpath(run / 'policy')},greedy" in text
    assert yaml.safe_load((run / "config.yaml").read_text())["games"] == 16
    about = json.loads((run / "about.json").read_text())
    assert about["command"].startswith("python train.py smoke games=16")
    assert about["code"].startswith("0.")
    lines = read_metrics(run / "metrics.jsonl")
    assert [line["update"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-1]["decisions"] >= 900
    for name in ("entropy", "explained_variance", "kl", "decisions_per_second", "panel"):
        assert name in lines[-1]
    (rate, *_), (margin, low, high) = lines[-1]["panel"]["random"]
    assert low <= margin <= high
    assert f"against random {100 * rate:.1f} (" in text
    assert f" %, {margin:+.2f} (" in text
    assert "</svg>" in (run / "curve.svg").read_text()
    assert list(run.glob("events.*"))
    described = json.loads((run / "policy" / "policy.json").read_text())["about"]
    assert described["results"][0][:2] == ["five_up, 4 players", "random"]
    make_agent(f"torch:{run / 'policy'}")


def test_rules_that_are_named_twice_are_played_twice_as_often_and_measured_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    changes = ["players=[2,2,3]", "table_deals=2", "decisions=200", "panel=random"]
    assert trained(*SMALL, *SHORT, *changes) == 0
    text = capsys.readouterr().out
    assert text.count("five_up, 2 players") == text.count("five_up, 3 players") == 1
    players = make_batch(load_config("smoke", ["players=[2,2,3]", "games=60"]), "flat").states
    assert players["public"]["rules"]["players"].tolist() == [2, 2, 3] * 20


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(
    straight: Path, tmp_path: Path
) -> None:
    for name, seed in (("same", 0), ("other", 1)):
        assert trained(*TINY, f"seed={seed}", "--name", name) == 0
    assert_same_end(straight, tmp_path / "same")
    name, other = "learners.0.network.policy_head.weight", end_of(tmp_path / "other")
    assert not np.array_equal(end_of(straight)[name], other[name])


def test_runs_that_are_started_together_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_learner, folders = training.make_learner, []

    def made_slowly(config: Config, folder: Path) -> Any:
        folders.append(folder)
        assert (folder / "config.yaml").exists()  # whoever is killed now can be resumed
        if len(folders) == 1:
            assert trained(*TINY, "decisions=100") == 0
        return make_learner(config, folder)

    monkeypatch.setattr(training, "make_learner", made_slowly)
    assert trained(*TINY, "decisions=100") == 0
    assert folders == [tmp_path / "smoke", tmp_path / "smoke-2"]
    for folder in folders:
        assert [line["update"] for line in read_metrics(folder / "metrics.jsonl")] == [1]


def test_a_run_in_progress_is_not_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    update = SelfPlay.update

    def meanwhile(self: SelfPlay, progress: float) -> Any:
        if self.updates == 1:
            assert trained("--resume", "smoke") == 2
        return update(self, progress)

    with monkeypatch.context() as patched:
        patched.setattr(SelfPlay, "update", meanwhile)
        assert trained(*TINY, "decisions=300") == 0
    said = capsys.readouterr().err
    assert f"{tmp_path / 'smoke'} is in progress: wait for its process, or stop it\n" in said
    assert trained("--resume", "smoke", "decisions=400") == 0


def test_a_config_may_be_a_file(tmp_path: Path) -> None:
    words = ["--config", str(CONFIGS / "smoke.yaml")]
    assert trained(*words, *TINY[1:], "decisions=50") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["smoke"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_stop_it_keeps_all_and_goes_on_as_if_nothing_had_been(
    number: int, straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = SelfPlay.update

    def stopped(self: SelfPlay, progress: float) -> Any:
        if self.updates == 2:
            signal.raise_signal(number)
        return update(self, progress)

    with monkeypatch.context() as patched:
        patched.setattr(SelfPlay, "update", stopped)
        assert trained(*TINY, "checkpoint_minutes=999", "--name", "stopped") == 130
    assert len(read_metrics(tmp_path / "stopped" / "metrics.jsonl")) == 3
    assert trained("--resume", "stopped") == 0
    assert_same_end(straight, tmp_path / "stopped")


def kill_and_resume(folder: Path, kills: int) -> None:
    """Train here, then in children: all but the last are killed at random moments."""
    runs.RUNS = folder  # type: ignore[misc]
    length = f"decisions={600 * kills + 1000}"  # longer than what is made before the last kill
    assert trained(*TINY, length, "--name", "straight") == 0
    chance = random.Random(1)
    words = [*TINY, length, "--name", "killed"]
    for _ in range(kills):
        child = _train_in_child(words)
        _wait_for_another(folder / "killed" / "checkpoints")
        time.sleep(chance.uniform(0, 0.2))
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        words = ["--resume", "killed"]
    assert os.waitpid(_train_in_child(words), 0)[1] == 0


def _train_in_child(words: list[str]) -> int:
    child = os.fork()
    if child == 0:
        os._exit(trained(*words))
    return child


def _wait_for_another(folder: Path) -> None:
    """Wait until there is a newer checkpoint."""
    before = checkpoints_in(folder)[-1:]
    while checkpoints_in(folder)[-1:] == before:
        time.sleep(0.001)


@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_again_and_again_it_ends_with_the_same_weights_bit_for_bit(
    kills: int, tmp_path: Path
) -> None:
    code = (
        "import sys, pathlib; from tests.agents import test_train; "
        "test_train.kill_and_resume(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
    )
    done = python("-c", code, str(tmp_path), str(kills))
    assert done.returncode == 0, done.stderr
    assert_same_end(tmp_path / "straight", tmp_path / "killed")
    lines, straight = (
        read_metrics(tmp_path / name / "metrics.jsonl") for name in ("killed", "straight")
    )
    assert [line["update"] for line in lines] == [line["update"] for line in straight]
    assert [line["entropy"] for line in lines] == [line["entropy"] for line in straight]


def test_a_damaged_checkpoint_is_passed_over_and_said_so(
    straight: Path, mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newest = checkpoints_in(mine / "checkpoints")[-1]
    newest.write_bytes(newest.read_bytes()[:1000])
    assert trained("--resume", "mine") == 0
    assert f"{newest} is damaged" in capsys.readouterr().out.replace("\n", " ")
    assert_same_end(straight, mine)


def test_a_damaged_line_of_metrics_is_dropped_and_a_run_goes_on(tmp_path: Path) -> None:
    panel = ["panel_minutes=0", "panel_deals=2", "panel=random"]
    assert trained(*TINY, *panel, "decisions=300", "--name", "mine") == 0
    metrics = tmp_path / "mine" / "metrics.jsonl"
    lines = metrics.read_bytes().splitlines(keepends=True)
    metrics.write_bytes(b"".join([b'{"update": 1}\n', b"\xff}\n", *lines, b'{"update": ']))
    changes = ["decisions=400", "panel=greedy"]
    assert trained("--resume", str(tmp_path / "mine"), *changes) == 0
    assert [line["update"] for line in read_metrics(metrics)][: len(lines)] == [
        json.loads(line)["update"] for line in lines
    ]


def test_a_checkpoint_of_other_code_is_refused_in_a_sentence(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = mine / "checkpoints"
    newest = read_newest(folder)
    arrays = {name.replace("network.", "net."): array for name, array in newest.arrays.items()}
    write_checkpoint(folder, newest.about["updates"] + 1, arrays, newest.about)
    assert trained("--resume", str(mine), "decisions=9000") == 2
    assert "does not fit this code" in capsys.readouterr().err


def test_a_loss_that_is_no_number_stops_the_run_and_names_the_last_good_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    update = SelfPlay.update

    def spoilt(self: SelfPlay, progress: float) -> Any:
        if self.updates == 2:
            with torch.no_grad():
                self.network.value_head.bias.fill_(float("nan"))
        return update(self, progress)

    monkeypatch.setattr(SelfPlay, "update", spoilt)
    assert trained(*TINY) == 2
    good = tmp_path / "smoke" / "checkpoints" / "00000002.checkpoint"
    sentence = f"update 3: the loss is nan; the last good checkpoint is {good}"
    assert sentence in capsys.readouterr().err


def test_a_full_disk_stops_the_run_and_names_the_last_good_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def filling(path: Path, content: bytes) -> None:
        if path.stem == "00000003":
            raise OSError(28, "No space left on device")
        write_atomic(path, content)

    monkeypatch.setattr(checkpoints, "write_atomic", filling)
    assert trained(*TINY) == 2
    good = tmp_path / "smoke" / "checkpoints" / "00000002.checkpoint"
    said = capsys.readouterr().err
    assert "(No space left on device)" in said
    assert f"the last good checkpoint is {good}" in said
    assert end_of(tmp_path / "smoke")


def test_a_clock_that_stands_still_or_jumps_spoils_no_run(
    straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, clock in {
        "still": lambda: 5.0,
        "jumping": iter(range(0, 10**9, 10**5)).__next__,  # a day and more at every look
    }.items():
        with monkeypatch.context() as during:
            during.setattr(training, "time", SimpleNamespace(monotonic=clock))
            assert trained(*TINY, "panel_deals=2", "panel=random", "--name", name) == 0
        assert_same_end(straight, tmp_path / name)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["quik"], "there is no config 'quik' (did you mean 'quick'?)"),
        (["gammes=3"], "did you mean 'games'?"),
        (
            ["selfplay", "network=attention", "width=40"],
            "network: the width of attention must be a multiple",
        ),
        (["selfplay", "start=nowhere"], "nowhere/policy.json cannot be read"),
        (["--resume", "nothing"], "there is no run 'nothing'"),
        (["--name", "a/b"], "the name of a run must be a plain folder name"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trained(*words) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_run_goes_on_only_with_what_its_checkpoint_fits_and_names_all_its_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, run = [*TINY[1:], "decisions=100"], tmp_path / "smoke"
    assert trained("smoke", *words) == 0
    assert trained("--resume", "smoke", "width=32") == 2
    assert "width: the checkpoint" in capsys.readouterr().err
    for _ in range(2):  # the same again adds nothing
        assert trained("--resume", "smoke", "decisions=200") == 0
    assert yaml.safe_load((run / "config.yaml").read_text())["decisions"] == 200
    lines = (["smoke", *words], ["--resume", "smoke", "decisions=200"])
    wanted = " && ".join(" ".join(["python train.py", *words]) for words in lines)
    for path in ("about.json", "policy/policy.json"):
        about = json.loads((run / path).read_text())
        assert about.get("about", about)["command"] == wanted
    (run / "about.json").write_text("{")
    assert trained("--resume", str(run), "decisions=300") == 0


def test_the_baseline_goes_on_as_if_nothing_had_been_and_is_saved_as_the_same_kind_of_policy(
    tmp_path: Path,
) -> None:
    assert trained(*BASELINE, "--name", "straight") == 0
    assert trained(*BASELINE, "decisions=300", "--name", "halved") == 0
    assert trained("--resume", "halved", "decisions=700") == 0
    assert_same_end(tmp_path / "straight", tmp_path / "halved")
    make_agent(f"torch:{tmp_path / 'halved' / 'policy'}")
