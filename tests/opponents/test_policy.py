"""`policy` and `student`: the shipped networks play always the same, and their files are checked."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from fiveup_env import Game, legal_masks
from fiveup_env.opponents.networks.files import (
    DESCRIPTION,
    SHIPPED,
    WEIGHTS,
    PolicyError,
    digest_of,
)
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.presets import FAMILY

# What the policies thought when they were made, of a position by each preset with two, three and
# four players: their actions, and the logits of these.
ACTIONS = {
    "student": "9 28 93 20 28 90 63 43 81 27 81 39 103 30 47 30 28 86 32 34 43",
    "partners": "9 28 93 20 28 94 63 43 81 27 81 39 83 45 83 30 28 28 32 34 43",
    "family": "9 28 93 20 28 94 63 43 81 25 81 39 89 30 83 30 28 28 32 34 43",
}
LOGITS = {
    "student": "0.8692 0.7385 0.3684 0.8397 0.1075 0.0767 0.3935 0.4900 0.1259 0.6863 1.0869 "
    "0.1972 0.7775 0.2692 0.0717 0.1725 0.2598 0.0390 -0.1618 0.3038 -0.0329",
    "partners": "0.9914 1.0074 0.2414 1.0079 0.1904 -0.0252 0.4949 0.5987 0.1310 0.7759 1.2145 "
    "0.1274 0.5717 0.0045 -0.0515 0.0733 0.5683 -0.1099 -0.1102 0.3729 -0.1207",
    "family": "1.0141 2.4311 1.5050 3.3241 1.7427 -0.0629 1.4185 1.9992 1.0709 1.9361 1.7587 "
    "0.6109 0.4362 1.3742 0.5559 -0.2957 0.7619 -0.0116 -1.2518 1.9253 -0.5503",
}


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


def positions() -> np.ndarray:
    """Return the views of these positions."""
    games = []
    for number, (preset, players) in enumerate(itertools.product(FAMILY, (2, 3, 4))):
        game, random = Game(preset, players, target=61, seed=number), Random(number)
        while len(game.legal_moves) < 3 or len(game.moves) < 6:
            game.push(random.choice(list(game.legal_moves)))
        games.append(game)
    return np.concatenate([game.view() for game in games])


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_plays_as_when_it_was_trained(name: str) -> None:
    agent, views = PolicyAgent(name), positions()
    assert agent(views, np.random.default_rng(0)).tolist() == numbers(ACTIONS[name])
    assert agent.logits(views).max(1) == pytest.approx(numbers(LOGITS[name]), abs=2e-4)


def test_probabilities_are_those_of_allowed_actions_and_samples_follow_them() -> None:
    agent, views = PolicyAgent("partners", sample=True), positions()
    shares = agent.probabilities(views)
    assert ((shares > 0) == (legal_masks(views) > 0)).all()
    assert shares.sum(1) == pytest.approx(1)
    again = np.repeat(views[:1], 4000)
    chosen = agent(again, np.random.default_rng(0))
    drawn = np.bincount(chosen, minlength=shares.shape[1]) / 4000
    assert drawn == pytest.approx(shares[0], abs=0.04)
    cold = PolicyAgent("partners", sample=True, temperature=0.01)
    assert (cold.probabilities(views).argmax(1) == shares.argmax(1)).all()
    assert cold.probabilities(views).max(1).mean() > shares.max(1).mean()


# --- Files


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the student's files, to be altered."""
    return shutil.copytree(SHIPPED["student"], tmp_path / "student")


def described(folder: Path, content: bytes, **changes: Any) -> None:
    """Write some weights, and a description with some changes and the digest of both."""
    (folder / WEIGHTS).write_bytes(content)
    description = json.loads((folder / DESCRIPTION).read_text()) | changes
    description["digest"] = digest_of(content, description)
    (folder / DESCRIPTION).write_text(json.dumps(description))


EMPTY = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
WORTH = {"dtype": "F16", "shape": [17], "data_offsets": [119942, 119976]}  # as it is


@pytest.mark.parametrize(
    ("change", "more", "why"),
    [
        ({f"a{k}": EMPTY for k in range(9_999)}, 0, r"'a0' should be absent, but is \(0,\)"),
        ({f"{k:060}": EMPTY for k in range(20_000)}, 10_000_000, "cannot be read .more than .*"),
        ({"guide.bias": EMPTY}, 0, "'guide.bias' should be .* but is"),
        ({"worth": WORTH | {"data_offsets": [-4, 30]}}, 0, "does not hold tensors"),
        ({"worth": WORTH | {"data_offsets": [64, 98]}}, 0, "does not hold tensors"),
        ({"worth": WORTH | {"data_offsets": [0, 64]}}, 0, "does not hold tensors"),
        ({"worth": WORTH | {"dtype": []}}, 0, "does not hold tensors"),
        ({}, 4, "does not hold tensors"),
    ],
)
def test_weights_of_another_shape_are_refused_before_any_is_read(
    copied: Path, change: dict[str, Any], more: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = (copied / WEIGHTS).read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:start]) | change).encode()
    length = len(header).to_bytes(8, "little")
    described(copied, length + header + content[start:] + bytes(more))  # its digest is right
    monkeypatch.setattr(np, "frombuffer", None)
    with pytest.raises(PolicyError, match=why):
        make_agent(f"student:{copied}")


@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION])
def test_a_file_that_is_damaged_or_a_pipe_is_refused(copied: Path, name: str) -> None:
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)
    with pytest.raises(PolicyError, match=r"not valid JSON|do not belong together|is damaged"):
        make_agent(f"student:{copied}")
    if hasattr(os, "mkfifo"):
        (copied / name).unlink()
        os.mkfifo(copied / name)  # which is not waited for
        with pytest.raises(PolicyError, match=r"cannot be read \(not a plain file\)"):
            make_agent(f"student:{copied}")


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "", "A" * 64])
def test_a_digest_that_is_none_is_refused(copied: Path, digest: str) -> None:
    description = json.loads((copied / DESCRIPTION).read_text()) | {"digest": digest}
    (copied / DESCRIPTION).write_text(json.dumps(description))
    with pytest.raises(PolicyError, match="its digest is not one of SHA-256"):
        make_agent(f"student:{copied}")


@pytest.mark.parametrize(
    ("shape", "encoder", "why"),
    [
        ({"kind": "residual"}, "flat", "its kind must be plain or guided, not 'residual'"),
        ({"kind": "plain", "shared": False}, "flat", "its shared must be true, not False"),
        ({"kind": "plain", "shared": True}, "tokens", "it must read flat, not 'tokens'"),
    ],
)
def test_what_compiled_code_cannot_play_names_the_agent_that_can(
    copied: Path, shape: dict[str, Any], encoder: str, why: str
) -> None:
    content = (copied / WEIGHTS).read_bytes()
    described(copied, content, shape=shape, encoder={"name": encoder, "version": 1})
    with pytest.raises(PolicyError, match=f"{why}; in a clone, torch:{copied} plays it"):
        make_agent(f"policy:{copied}")


@pytest.mark.parametrize(("name", "value"), [("learner", "selfplay"), ("reward", "win")])
def test_a_policy_whose_logits_are_no_values_is_not_searched(
    copied: Path, name: str, value: str
) -> None:
    about = json.loads((copied / DESCRIPTION).read_text())["about"]
    about["config"][name] = value
    described(copied, (copied / WEIGHTS).read_bytes(), about=about)
    why = r"needs a policy (of learner=expert|with values of the hand)"
    with pytest.raises(PolicyError, match=why):
        make_agent(f"student+search:{copied}")


def test_a_policy_that_is_missing_is_refused_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"cannot be read .*; available policies: family, part"):
        make_agent(f"policy:{tmp_path}")
    with pytest.raises(PolicyError, match=r"temperature must be above 0, not -1\.0"):
        make_agent("policy:temperature=-1")
