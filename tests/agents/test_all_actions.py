"""The learner from all actions: what it raises, what it labels, and where it begins."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.learn import all_actions
from agents.learn.all_actions import VALUED, AllActions, gain_loss
from agents.policies.files import load_policy, save_policy
from agents.policies.networks import Shape
from agents.runs.config import Config
from fiveup_env.engine.view import legal_masks
from fiveup_env.learning.learner import LossError
from fiveup_env.opponents.search.units import Units
from fiveup_env.rules.actions import ACTION_COUNT
from tests.agents.learning import SMALL, check_continues, noisy

pytestmark = pytest.mark.usefixtures("briefly")


def learner_of(folder: Path, **changes: Any) -> AllActions:
    return AllActions(Config(**SMALL | {"learner": "all_actions"} | changes), folder)


# --- What is raised


def test_the_loss_is_the_mean_label_of_random_choices_less_that_of_the_policy() -> None:
    logits = torch.tensor([[0.0, np.log(3.0), 50.0]])
    labels = torch.tensor([[1.0, 5.0, torch.nan]])
    assert gain_loss(logits, labels).item() == pytest.approx(3 - (0.25 * 1 + 0.75 * 5))
    assert gain_loss(logits, labels + 7).item() == pytest.approx(-1)


@pytest.mark.slow
def test_what_is_raised_rises(tmp_path: Path) -> None:
    learner = learner_of(tmp_path, rules="mini-3", players=2, reward="margin", learning_rate=5e-3)
    losses = [learner.update(0)["policy_loss"] for _ in range(40)]
    assert np.mean(losses[-8:]) < 3 * losses[0] < 0


# --- What is labelled


def test_a_policy_in_doubt_has_all_decisions_labelled(tmp_path: Path) -> None:
    learner = learner_of(tmp_path)
    figures = learner.update(0)
    assert figures.keys() == {"policy_loss", "value_loss", "learning_rate", "labelled"}
    assert 0.98 < figures["labelled"] <= 1
    assert 0 < learner.decisions < 64 * 8
    learner._learning.value_head.bias.data.fill_(torch.nan)
    with pytest.raises(LossError, match="the loss is nan"):
        learner.update(0)


def test_a_policy_in_no_doubt_has_a_sixteenth_labelled_for_the_values(tmp_path: Path) -> None:
    learner = learner_of(tmp_path, games=512)
    learner._learning.worth.data += torch.randn(len(learner._learning.worth))
    learner._learning.policy_head.bias.data += torch.randn(121)
    learner._learning.divide_logits(1e-4)
    rng = np.random.default_rng(0)
    lessons = [learner._move(rng) for _ in range(8)]
    returns = np.concatenate([lesson.returns for lesson in lessons])
    assert len(returns) / learner.decisions == pytest.approx(VALUED, abs=0.02)
    assert np.isfinite(returns).all()


def test_a_value_is_learnt_from_what_the_chosen_action_brings(tmp_path: Path) -> None:
    learner = learner_of(tmp_path, games=256)
    before = learner._batch.states.copy()
    asked = np.flatnonzero(learner._batch.action_mask.sum(1, dtype=np.int16) > 1)
    stakes = Units(learner._batch.views(asked), learner.config.reward).stakes
    lesson = learner._move(np.random.default_rng(0))
    assert len(lesson.rows) == len(asked)
    games, after = before[asked], learner._batch.states[asked]
    plies = games["public"]["plies"].astype(int)
    on = after["public"]["hand_number"] == games["public"]["hand_number"]
    drawn = np.flatnonzero(np.isfinite(lesson.returns) & on)
    assert len(drawn) > 3
    for k in drawn:
        action = after["public"]["play_action"][k, plies[k]]
        assert lesson.returns[k] == pytest.approx(lesson.labels[k, action] * stakes[k], abs=1e-4)


class Numbers:
    """A teacher for tests: a play is worth its number, and single plays may be all it values."""

    aim = "game"

    def __init__(self, *, single: bool) -> None:
        self.single = single

    def values(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the numbers of the legal actions, or where it is less than 60, of the first."""
        del rng
        legal = legal_masks(views) > 0
        first = legal.argmax(1)
        alone = self.single & (first < 60)
        legal[alone] = np.eye(ACTION_COUNT, dtype=bool)[first[alone]]
        return np.where(legal, np.arange(ACTION_COUNT) / ACTION_COUNT, -np.inf)


@pytest.mark.parametrize("single", [False, True])
def test_a_teacher_labels_decisions_but_those_that_it_leaves_no_choice_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, single: bool
) -> None:
    monkeypatch.setattr(all_actions, "make_teacher", lambda _spec: Numbers(single=single))
    learner = learner_of(tmp_path, teacher="pimc:worlds=2")
    asked = np.flatnonzero(learner._batch.action_mask.sum(1, dtype=np.int16) > 1)
    views = learner._batch.views(asked)
    units, legal = Units(views, "outlook"), legal_masks(views) > 0
    expected = units.rewards(np.tile(np.arange(ACTION_COUNT) / ACTION_COUNT, (len(views), 1)))
    expected = np.where(legal, expected / units.stakes[:, None], np.nan)
    kept = (legal.argmax(1) >= 60) | (not single)
    lesson = learner._move(np.random.default_rng(0))
    assert kept.any()
    assert kept.all() != single
    assert np.allclose(lesson.labels, expected[kept], equal_nan=True, atol=1e-5)
    figures = learner._averaged.learn(lesson, 0.0, np.random.default_rng(0))
    assert np.isfinite(list(figures.values())).all()


@pytest.mark.slow
def test_labels_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    lessons = []
    for threads in (1, 3):
        learner = learner_of(tmp_path, judge="partner", teacher="pimc:worlds=4,weighed=4")
        learner._pool = ThreadPoolExecutor(threads)
        lessons.append(learner._move(np.random.default_rng(0)))
        learner.close()
    for first, second in zip(*lessons, strict=True):
        assert np.array_equal(first, second, equal_nan=True)


def test_a_window_without_a_choice_is_passed_over(tmp_path: Path) -> None:
    learner = learner_of(tmp_path, games=1, n_steps=2, batch_size=2, rules="mini-2", players=2)
    counts, learnt = [], []
    for _ in range(12):
        before = learner.decisions
        learnt.append("policy_loss" in learner.update(0))
        counts.append(learner.decisions - before)
    assert learnt == [count > 0 for count in counts]
    assert set(learnt) == {False, True}


# --- Where it begins, and continues


@pytest.mark.parametrize(
    "changes", [{"network": "attention", "width": 32}, {"teacher": "pimc:worlds=4,weighed=4"}]
)
def test_a_run_continues_bit_for_bit_from_its_state(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    check_continues(lambda: learner_of(tmp_path, learning_rate_end=1e-5, **changes), 3)


def test_a_run_begins_from_a_policy(tmp_path: Path) -> None:
    network = noisy(Shape("guided", 16, 2, shared=True))
    save_policy(tmp_path / "old", network, {"reward": "margin"})
    start = {"start": str(tmp_path / "old"), "reward": "margin"}
    same = learner_of(tmp_path, **start)
    assert torch.equal(same.network.worth, network.worth)
    cooled = learner_of(tmp_path, start_temperature=0.5, **start)
    assert torch.allclose(cooled.network.worth, 2 * network.worth)
    cooled.update(0)
    save_policy(tmp_path / "new", cooled.network, {"reward": "margin"})
    assert load_policy(tmp_path / "new")[0].shape == cooled.network.shape
