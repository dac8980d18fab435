"""The baseline: a fair one, whose inputs are scaled, and the benchmark that takes it apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.learn.advantages import NOBODY
from agents.learn.baseline import Baseline
from agents.runs.config import load_config
from benchmarks.baseline import ARMS, Ours, Stock, config_of, read_run
from fiveup_env import Batch
from fiveup_env.errors import InputError

SMALL = ["games=16", "n_steps=16", "batch_size=64", "width=16", "threads=1"]
PLAIN = [*SMALL, "learner=plain", "rivals=greedy"]


def rows_of(batch: Batch) -> torch.Tensor:
    """Return the rows of some positions."""
    batch.reset()
    for _ in range(10):
        batch.step(batch.action_mask.argmax(1))
    return torch.from_numpy(batch.observation)


@pytest.mark.parametrize("make", [Stock, lambda config: Stock(config, scaled=False)])
def test_the_policy_that_is_measured_is_the_one_that_learnt(make: Any) -> None:
    learner = make(load_config("smoke", PLAIN))
    learner.update(0.0)
    rows, stock = rows_of(Batch(40, seed=0)), learner._stock.policy
    latent = stock.mlp_extractor.forward_actor(stock.extract_features(rows.float()))
    torch.testing.assert_close(learner.network.logits(rows), stock.action_net(latent))
    torch.testing.assert_close(learner.network.values(rows), stock.predict_values(rows)[:, 0])


def test_the_baseline_scales_as_our_networks_do() -> None:
    learner = Baseline(load_config("smoke", PLAIN), Path())
    rows = rows_of(Batch(40, seed=0))
    scaled: Any = learner._stock.policy.extract_features(rows)
    assert torch.equal(scaled, learner.network.reader(rows)[0])


def test_the_baseline_follows_the_schedules() -> None:
    changes = ["learning_rate=1e-3", "learning_rate_end=1e-4", "ent_coef=0.04", "ent_coef_end=0"]
    learner = Baseline(load_config("smoke", [*PLAIN, *changes]), Path())
    for progress, rate, ent_coef in ((0.0, 1e-3, 0.04), (0.5, 5.5e-4, 0.02), (1.0, 1e-4, 0.0)):
        assert learner.update(progress)["learning_rate"] == pytest.approx(rate)
        (group,) = learner._stock.policy.optimizer.param_groups
        assert group["lr"] == pytest.approx(rate)
        assert learner._stock.ent_coef == pytest.approx(ent_coef)


# --- The benchmark


@pytest.mark.parametrize("others", ["self", "greedy"])
def test_one_seat_learns_from_its_own_decisions_alone(others: str) -> None:
    learner = Ours(load_config("smoke", SMALL), worth=False, scaled=False, others=others)
    learner.update(0.0)
    learner.update(0.5)
    seats = learner._rollouts.window.seats
    assert ((seats == NOBODY) | (seats == np.arange(16) % 4)).all()
    assert (seats != NOBODY).any(0).all()
    assert not learner.network.worth.any()
    assert (learner.network.reader.factors == 1).all()
    assert Ours(load_config("smoke", SMALL)).network.worth.requires_grad


def test_every_arm_can_be_made_and_differs_from_one_that_there_is() -> None:
    for arm in ARMS.values():
        assert config_of(arm, 1, 0.1).seed == 1
        assert arm.than in {"", *ARMS}


def test_results_that_were_made_otherwise_are_refused(tmp_path: Path) -> None:
    made = {"arm": "raw", "seed": 0, "deals": 5, "code": "1", "config": {"minutes": 2, "width": 8}}
    path = tmp_path / "raw-0.json"
    path.write_text(json.dumps(made | {"decisions": 7}))
    assert read_run(path, made)["decisions"] == 7
    for wanted, sentence in (
        (made | {"code": "2"}, "raw-0.json was made with code '1', not '2': name another folder"),
        (made | {"config": {"minutes": 3, "width": 8}}, "with config.minutes 2, not 3"),
    ):
        with pytest.raises(InputError, match=sentence):
            read_run(path, wanted)
    for damaged in ("{", "[1]", "{}", '{"config": 3}'):
        path.write_text(damaged)
        with pytest.raises(InputError, match="is not the result of a run: remove it"):
            read_run(path, made)
