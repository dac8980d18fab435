"""Errors where Ray is not installed, and where RLlib does not support a key."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import evaluate
import train
from agents.runs import folder as runs

ROOT = Path(__file__).parents[2]

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
