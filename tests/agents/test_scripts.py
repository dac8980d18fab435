"""The scripts of the clone, `train.py` and `evaluate.py`: their options, and what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evaluate
import train
from agents.runs import folder as runs
from tests.support import ROOT, python


def test_what_is_unknown_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        train.parser().parse_intermixed_args(["smoke", "gamma=1", "--nmae", "x"])
    assert left.value.code == 2
    assert "did you mean '--name'?" in capsys.readouterr().err


def test_without_the_extra_train_names_the_line_that_installs_it() -> None:
    code = "import sys; sys.modules['torch'] = None; import train; sys.exit(train.main())"
    done = python("-c", code, "smoke", "--name", "never")
    assert done.returncode == 2
    assert done.stderr == (
        "train: there is no torch: pip install -c constraints.txt -e '.[train]'\n"
    )
    assert not (ROOT / "runs" / "never").exists()


def test_a_reader_that_has_seen_enough_ends_the_scripts_silently() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    line = [sys.executable, "train.py", "--keys"]
    done = subprocess.run(line, cwd=ROOT, stdout=theirs, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    os.close(theirs)


COMMANDS = [
    (train, ["--config", "configs/cluster.yaml"]),
    (evaluate, ["--engine", "ray", "--deals", "2"]),
]


@pytest.mark.parametrize(("script", "words"), COMMANDS)
def test_where_ray_is_missing_the_command_that_installs_it_is_told(
    script: Any,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(sys, "argv", [script.__name__, *words])
    assert script.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(
        "Ray is not installed: pip install -c constraints-ray.txt -e '.[ray,train]'"
    )
    assert not list(tmp_path.iterdir())


def test_ray_is_tested_with_the_versions_of_everything_else() -> None:
    pins, others = (
        {line for line in (ROOT / name).read_text().splitlines() if "==" in line}
        for name in ("constraints-ray.txt", "constraints.txt")
    )
    assert {line.split("==")[0] for line in pins - others} == {"ray", "gymnasium"}
