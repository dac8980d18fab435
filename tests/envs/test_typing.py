"""What an editor sees: pyright finds a misspelt option in a user's script, and nothing else."""

from __future__ import annotations

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support import ROOT, python

SCRIPT = """
import fiveup_env
from fiveup_env import Batch, Game, Move
from fiveup_env.doors.openspiel import load
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv


def tiles_left(before: Game, move: Move, after: Game) -> list[float]:
    return [-float(len(after.hand_of(seat))) for seat in range(4)]


env = fiveup_env.env(players=4, reward=tiles_left, hand_end="armanino", render_mode="ansi")
single = FiveUpEnv(opponents=["greedy", "partner", "greedy"], episode="hand")
many = FiveUpVectorEnv(64, seat=0, opponents={1: "greedy", 2: "partner", 3: "random"})
games = FiveUpVecEnv(64, opponents="greedy", reward="margin", target=30)
solved = load("mini-2", reserve=1)
batch = Batch(num_envs=64, players=[2, 3], seed=7)
batch.reset()
batch.step(batch.action_mask.argmax(1))
"""
MISSPELT = {
    'env = fiveup_env.env(players=4, rewards="win")': "rewards",
    "env = fiveup_env.raw_env(players=4, hand_sizes=3)": "hand_sizes",
    'env = FiveUpEnv(oponents="greedy")': "oponents",
    'env = FiveUpVectorEnv(64, opponent="greedy")': "opponent",
    "env = FiveUpVecEnv(64, sed=3)": "sed",
    'env = Batch(64, reward="margins")': "margins",
    'game = load(rewards="win")': "rewards",
}

pytestmark = [
    pytest.mark.skipif(not find_spec("pyright"), reason="the types that callers see (no Pyright)"),
    pytest.mark.skipif(not shutil.which("node"), reason="the types that callers see (no Node)"),
]


def errors_of(folder: Path, *files: Path) -> list[tuple[str, int, str]]:
    """Return the name, the line and the message of every error that pyright finds."""
    settings = {"typeCheckingMode": "basic", "extraPaths": [str(ROOT)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    words = ["-p", str(folder), "--pythonpath", sys.executable, *map(str, files)]
    line = ("-m", "pyright", "--outputjson", *words)
    done = python(*line, PYRIGHT_PYTHON_IGNORE_WARNINGS="1")
    diagnostics = json.loads(done.stdout)["generalDiagnostics"]
    return [
        (Path(diagnostic["file"]).name, diagnostic["range"]["start"]["line"], diagnostic["message"])
        for diagnostic in diagnostics
        if diagnostic["severity"] == "error"
    ]


def test_a_misspelt_option_is_the_one_error_and_in_its_line(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + "\n".join(MISSPELT), "utf-8")
    first = SCRIPT.count("\n")
    errors = errors_of(tmp_path, script)
    assert [line for _, line, _ in errors] == [first + k for k in range(len(MISSPELT))]
    for (_, _, message), name in zip(errors, MISSPELT.values(), strict=True):
        assert name in message


@pytest.mark.slow
def test_the_examples_have_no_errors(tmp_path: Path) -> None:
    examples = ROOT / "examples"
    if not examples.exists():
        pytest.skip("the types of the examples (no clone)")
    errors = errors_of(tmp_path, *sorted(examples.glob("*.py")))
    absent = ("could not be resolved",)  # of a package that is not installed here
    assert [error for error in errors if not any(word in error[2] for word in absent)] == []
