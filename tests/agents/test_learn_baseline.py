"""The baseline: a fair one, whose inputs are scaled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from agents.learn.baseline import Baseline
from agents.runs.config import load_config
from fiveup_env import Batch
from tests.own_encoders import PLACE

SMALL = ["games=16", "n_steps=16", "batch_size=64", "width=16", "threads=1"]
PLAIN = [*SMALL, "learner=plain", "rivals=greedy"]


def rows_of(batch: Batch) -> torch.Tensor:
    """Return the rows of some positions."""
    batch.reset()
    for _ in range(10):
        batch.step(batch.action_mask.argmax(1))
    return torch.from_numpy(batch.observation)


@pytest.mark.parametrize("encoder", ["flat", PLACE])
def test_the_policy_that_is_measured_is_the_one_that_learnt_from_inputs_scaled_as_ours(
    encoder: str,
) -> None:
    learner = Baseline(load_config("smoke", [*PLAIN, f"encoder={encoder}"]), Path())
    learner.update(0.0)
    rows, stock = rows_of(Batch(40, seed=0, encoder=encoder)), learner._stock.policy
    features: Any = stock.extract_features(rows.float())
    assert torch.equal(features, learner.network.reader(rows)[0])
    latent = stock.mlp_extractor.forward_actor(features)
    torch.testing.assert_close(learner.network.logits(rows), stock.action_net(latent))
    torch.testing.assert_close(learner.network.values(rows), stock.predict_values(rows)[:, 0])


def test_the_baseline_follows_the_schedules() -> None:
    changes = ["learning_rate=1e-3", "learning_rate_end=1e-4", "ent_coef=0.04", "ent_coef_end=0"]
    learner = Baseline(load_config("smoke", [*PLAIN, *changes]), Path())
    for progress, rate, ent_coef in ((0.0, 1e-3, 0.04), (0.5, 5.5e-4, 0.02), (1.0, 1e-4, 0.0)):
        assert learner.update(progress)["learning_rate"] == pytest.approx(rate)
        (group,) = learner._stock.policy.optimizer.param_groups
        assert group["lr"] == pytest.approx(rate)
        assert learner._stock.ent_coef == pytest.approx(ent_coef)
