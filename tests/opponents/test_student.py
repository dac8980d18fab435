"""The student: the shipped network plays in compiled code, from a bare install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fiveup_env import Batch, make_agent
from fiveup_env.opponents.networks.files import (
    DESCRIPTION,
    SHIPPED,
    WEIGHTS,
    PolicyError,
    read_policy,
)
from fiveup_env.opponents.networks.policy import load_compiled

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 200_000


def test_the_shipped_student_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED["student"].iterdir()) < MOST_BYTES


def test_the_student_plays_without_torch_or_safetensors() -> None:
    code = (
        "import sys; sys.modules.update(torch=None, safetensors=None);"
        "from fiveup_env import Batch, make_agent; import numpy as np;"
        "batch = Batch(4, seed=0); batch.reset();"
        "print(make_agent('student')(batch.views(), np.random.default_rng(0)).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "(4,)\n"


def test_the_student_beats_a_weaker_heuristic() -> None:
    scores = np.zeros(2)
    for seat in range(2):
        agents = [make_agent("student"), make_agent("defensive")][:: 1 - 2 * seat]
        batch, rng = Batch(400, players=4, episode="hand", seed=3), np.random.default_rng(0)
        batch.reset()
        for _ in range(200):
            turn, views, actions = batch.turn % 2, batch.views(), np.zeros(400, np.int64)
            for side, agent in enumerate(agents):
                which = np.flatnonzero(turn == side)
                actions[which] = agent(views[which], rng)
            batch.step(actions)
            scores += batch.reward[:, :2].sum(0)[:: 1 - 2 * seat]
    assert scores[0] > scores[1]


@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION])
def test_a_damaged_student_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(SHIPPED["student"], tmp_path / "student")
    content = bytearray((tmp_path / "student" / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "student" / name).write_bytes(content)
    with pytest.raises(PolicyError, match=r"not valid JSON|do not belong together|is damaged"):
        make_agent(f"student:{tmp_path / 'student'}")


def test_the_weights_are_read_as_they_were_written() -> None:
    _, tensors = read_policy(SHIPPED["student"])
    weights, _ = load_compiled(SHIPPED["student"])
    assert np.array_equal(weights.head, tensors["policy_head.weight"])
    assert np.array_equal(weights.guide.T, tensors["guide.weight"])
    assert all(weight.dtype == np.float32 for weight in weights)
