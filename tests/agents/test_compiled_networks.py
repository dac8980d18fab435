"""Networks in compiled code: the same answers as PyTorch's, and refusals of what they cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.policies.agent import NetworkAgent
from agents.policies.files import save_policy
from agents.policies.networks import PolicyNetwork, Shape
from fiveup_env import legal_masks
from fiveup_env.opponents.networks.files import DESCRIPTION, WEIGHTS, PolicyError, digest_of
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.registry import make_agent
from tests.agents.learning import noisy
from tests.support import random_views

SHAPES = [
    Shape(kind, *size, shared=True)
    for kind in ("plain", "guided")
    for size in ((1, 1), (48, 2), (7, 3))
]


def lively(shape: Shape) -> PolicyNetwork:
    return noisy(shape, seed=2, noise=0.2)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.kind}-{shape.width}")
def test_compiled_networks_answer_as_torch_does(tmp_path: Path, shape: Shape) -> None:
    network = lively(shape)
    save_policy(tmp_path, network, {})
    agent, compiled = NetworkAgent(network), PolicyAgent(str(tmp_path))
    views = np.concatenate([random_views(200, moves) for moves in range(0, 60, 12)])
    masks, rng = legal_masks(views), np.random.default_rng(0)
    logits, values = compiled.logits(views), compiled.values(views)
    best = make_agent(f"student:{tmp_path}")(views, rng)
    expected = agent.logits(views)
    choice = masks.sum(1) > 1
    legal = masks[choice] > 0
    assert np.allclose(logits[choice][legal], expected[choice][legal], rtol=1e-4, atol=1e-4)
    assert np.allclose(values, agent.values(views), rtol=1e-4, atol=1e-4)
    two = np.sort(expected[choice], 1)[:, -2:]
    clear = two[:, 1] - two[:, 0] > 1e-3  # where rounding cannot change what is best
    assert clear.mean() > 0.9
    assert (best[choice][clear] == expected[choice].argmax(1)[clear]).all()
    assert (best[~choice] == masks[~choice].argmax(1)).all()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_policy(tmp_path, lively(Shape("guided", 32, 1, shared=True)), {})
    return tmp_path


@pytest.mark.parametrize(
    ("part", "changes", "why"),
    [
        ("shape", {"width": "32"}, "width must be a whole number from 1 to 4096, not '32'"),
        ("shape", {"depth": 2}, "'policy_trunk.blocks.1.0.bias' should be .*, but is absent"),
        ("encoder", {"version": 1}, "reads lookahead 1; this code has lookahead 2"),
    ],
)
def test_descriptions_that_do_not_fit_the_weights_are_refused(
    saved: Path, part: str, changes: dict[str, Any], why: str
) -> None:
    description = json.loads((saved / DESCRIPTION).read_text())
    description[part] |= changes
    description["digest"] = digest_of((saved / WEIGHTS).read_bytes(), description)
    (saved / DESCRIPTION).write_text(json.dumps(description))
    with pytest.raises(PolicyError, match=why):
        make_agent(f"student:{saved}")
