"""Expert iteration first, then all actions: where the one ends, and what the other goes on from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from agents.learn import averaged
from agents.learn.all_actions import AllActions
from agents.learn.expert import Expert
from agents.learn.expert_first import LARGER, LOWER, TEMPERATURE, ExpertFirst, second_stage
from agents.learn.runs.config import Config, ConfigError
from agents.policies.agent import NetworkAgent
from agents.policies.files import save_policy
from fiveup_env import Batch, make_agent
from tests.laboratory.learning import check_continues

if TYPE_CHECKING:
    from pathlib import Path

SMALL: dict[str, Any] = {
    "learner": "expert_first",
    "network": "guided",
    "shared": True,
    "width": 16,
    "student": 8,
    "games": 32,
    "n_steps": 8,
    "batch_size": 64,
    "gate_every": 2,
    "gate_deals": 20,
    "reward": "outlook",
    "judge": "partner",
    "learning_rate": 1e-3,
    "learning_rate_end": 1e-5,
    "threads": 1,
    "expert_share": 0.25,
}


@pytest.fixture(autouse=True)
def _briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(averaged, "BURN_IN", 40)


def learner_of(folder: Path, **changes: Any) -> ExpertFirst:
    return ExpertFirst(Config(**SMALL | changes), folder)


def test_the_second_stage_goes_on_with_the_policy_and_the_counts_of_the_first(
    tmp_path: Path,
) -> None:
    learner = learner_of(tmp_path, learning_rate=0, learning_rate_end=None)
    learner.update(0)
    learner.update(0.2)
    assert isinstance(learner._stage, Expert)
    policy, decisions = learner.network, learner.decisions
    learnt = learner._stage.network
    batch = Batch(200, players=4, seed=0)
    batch.reset()
    views, masks, chance = batch.views(), batch.mask, np.random.default_rng(0)
    before = NetworkAgent(policy)(views, masks, chance)
    figures = learner.update(0.25)
    assert isinstance(learner._stage, AllActions)
    assert learner.updates == 3
    assert decisions < learner.decisions <= decisions + 32 * 8
    assert {"labelled", "policy_loss"} < figures.keys()
    assert torch.allclose(policy.worth, learnt.worth / TEMPERATURE)
    weights = learner.network.state_dict()
    assert all(torch.equal(one, weights[name]) for name, one in policy.state_dict().items())
    assert np.array_equal(NetworkAgent(learner.network)(views, masks, chance), before)


def test_what_is_saved_in_either_stage_plays_and_searches(tmp_path: Path) -> None:
    learner = learner_of(tmp_path, gate_every=1)
    while not learner._stage.accepted:
        learner.update(0)
    batch = Batch(50, players=4, seed=0)
    batch.reset()
    views, masks, chance = batch.views(), batch.mask, np.random.default_rng(0)
    student = make_agent(f"student+search:{tmp_path / 'student'},worlds=4")
    assert (masks[np.arange(50), student(views, masks, chance)] == 1).all()
    for progress in (0.2, 0.5):
        learner.update(progress)
        save_policy(tmp_path / "policy", learner.network, {"config": learner.config.as_dict()})
        saved: Any = make_agent(f"policy:{tmp_path / 'policy'}")
        chances = NetworkAgent(learner.network).probabilities(views, masks)
        assert np.allclose(saved.probabilities(views, masks), chances, atol=1e-3)
        assert 0.01 < chances[masks.sum(1) > 1].max(1).min() < 0.99
        search = make_agent(f"policy+search:{tmp_path / 'policy'},worlds=4")
        assert (masks[np.arange(50), search(views, masks, chance)] == 1).all()


def test_each_stage_has_the_whole_schedule_of_rates(tmp_path: Path) -> None:
    learner = learner_of(tmp_path)
    rates = [learner.update(progress)["learning_rate"] for progress in (0, 0.2, 0.25, 0.99)]
    assert rates[:2] == pytest.approx([1e-3, 1e-3 + 0.8 * (1e-5 - 1e-3)])
    lower = [LOWER * 1e-3, LOWER * (1e-3 + 74 / 75 * (1e-5 - 1e-3))]
    assert rates[2:] == pytest.approx(lower)


def test_the_second_stage_has_larger_minibatches_but_none_larger_than_a_window() -> None:
    config = Config(**SMALL | {"batch_size": 32, "learning_rate_end": None})
    second = second_stage(config)
    assert second.batch_size == LARGER * 32
    assert second.learning_rate_end is None
    assert second_stage(Config(**SMALL | {"batch_size": 100})).batch_size == 32 * 8


def test_a_run_that_is_made_longer_stays_in_its_second_stage(tmp_path: Path) -> None:
    learner = learner_of(tmp_path)
    learner.update(0.9)
    assert learner.update(0.1)["learning_rate"] == LOWER * 1e-3
    assert isinstance(learner._stage, AllActions)


@pytest.mark.parametrize("share", [0.05, 0.25, 0.9])
def test_a_run_continues_bit_for_bit_in_either_stage_and_into_the_second(
    tmp_path: Path, share: float
) -> None:
    check_continues(lambda: learner_of(tmp_path, expert_share=share), 5)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"judge": "student"}, "judge: learner=expert_first supports only partner"),
        ({"network": "plain"}, "network: learner=expert_first supports only guided"),
        ({"start": "x"}, "start: learner=expert_first does not support this key"),
        ({"expert_share": 0}, "expert_share"),
        ({"expert_share": 1}, "expert_share"),
    ],
)
def test_what_it_does_not_support_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        Config(**SMALL | changes)
