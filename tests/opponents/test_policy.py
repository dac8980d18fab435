"""`policy`: the shipped policies play without torch, and always the same."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

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
from fiveup_env.rules.presets import PRESETS

if TYPE_CHECKING:
    from pathlib import Path

# What the policies thought when they were made, of a position by each preset with two, three and
# four players: their actions, and the logits of these.
ACTIONS = {
    "student": "9 28 93 20 28 94 63 43 81 27 81 39 83 30 83 30 28 28 32 34 43",
    "partners": "9 28 93 20 28 94 63 43 81 27 29 39 83 30 47 30 28 28 32 34 43",
    "family": "8 28 93 20 28 94 63 43 81 25 81 39 89 30 83 30 28 28 32 34 43",
}
LOGITS = {
    "student": "1.0698 0.6855 0.3685 1.0139 0.2550 0.1260 0.4749 0.3118 0.1267 0.8547 1.3622 0.3058 "
    "0.6641 0.4084 0.3512 0.1239 0.4824 0.1316 -0.1094 0.7160 0.0599",
    "partners": "5.2039 2.5879 1.3080 5.0807 1.4665 0.0884 1.3063 0.9249 0.8111 4.1481 4.5742 "
    "0.8353 1.5438 0.5722 0.7282 0.7022 1.9111 0.1867 0.1613 0.9523 -0.2000",
    "family": "0.9272 2.1252 1.0681 3.0210 1.5493 -0.2952 0.7255 1.7320 0.6285 1.6131 1.6997 "
    "0.7055 0.5106 1.3805 0.7948 -0.0663 0.6664 -0.1637 -0.9650 1.7132 -0.5508",
}


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


def positions() -> np.ndarray:
    """Return the views of these positions."""
    games = []
    for number, (preset, players) in enumerate(itertools.product(PRESETS, (2, 3, 4))):
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


def test_a_position_has_the_same_logits_alone_and_among_others() -> None:
    agent, views = PolicyAgent("partners"), positions()
    together = agent.logits(views)
    for k in range(len(views)):
        assert (agent.logits(views[k : k + 1]) == together[k]).all()


def test_probabilities_are_those_of_allowed_actions_and_samples_follow_them() -> None:
    agent, views = PolicyAgent("partners", sample=True), positions()
    shares = agent.probabilities(views)
    assert ((shares > 0) == (legal_masks(views) > 0)).all()
    assert shares.sum(1) == pytest.approx(1)
    again = np.repeat(views[:1], 4000)
    chosen = agent(again, np.random.default_rng(0))
    found = np.bincount(chosen, minlength=shares.shape[1]) / 4000
    assert found == pytest.approx(shares[0], abs=0.04)
    cold = PolicyAgent("partners", sample=True, temperature=0.01)
    assert (cold.probabilities(views).argmax(1) == shares.argmax(1)).all()
    assert cold.probabilities(views).max(1).mean() > shares.max(1).mean()


def test_no_torch_is_imported_by_what_can_be_compiled() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from fiveup_env import make_agent, Game\n"
        "import numpy as np; game = Game(seed=1)\n"
        "for name in ('policy', 'policy:partners', 'policy:family'):\n"
        "    print(make_agent(name)(game.view(), None)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert len(done.stdout.split()) == 3, done.stderr


def another_kind(folder: Path) -> Path:
    """Return a policy whose description says that it has another kind of network."""
    shutil.copytree(SHIPPED["partners"], folder)
    description = json.loads((folder / DESCRIPTION).read_text())
    description["shape"]["kind"] = "residual"
    description["digest"] = digest_of((folder / WEIGHTS).read_bytes(), description)
    (folder / DESCRIPTION).write_text(json.dumps(description))
    return folder


def test_what_compiled_code_cannot_play_names_the_agent_that_can(tmp_path: Path) -> None:
    folder = another_kind(tmp_path / "policy")
    why = f"its kind must be guided, not 'residual'; in a clone, torch:{folder} plays it"
    with pytest.raises(PolicyError, match=why):
        make_agent(f"policy:{folder}")


def test_a_policy_that_is_missing_is_refused_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"cannot be read .*; available policies: family, part"):
        make_agent(f"policy:{tmp_path}")
    (tmp_path / DESCRIPTION).symlink_to(os.devnull)  # a device or a pipe is not waited for
    with pytest.raises(PolicyError, match=r"cannot be read \(not a plain file\)"):
        make_agent(f"policy:{tmp_path}")
    with pytest.raises(PolicyError, match=r"temperature must be above 0, not -1\.0"):
        make_agent("policy:temperature=-1")
