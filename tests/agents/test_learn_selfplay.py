"""The self-play learner: that it learns, that its options do what they say, and that it resumes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.learn.compiled_ppo import CompiledLearner
from agents.learn.ppo import Learner, TorchLearner
from agents.learn.rollouts import Choice, Lesson, Rollouts, make_batch
from agents.learn.selfplay import SelfPlay
from agents.learn.starting import shape_of
from agents.policies.agent import NetworkAgent, policy_folders, spec_of
from agents.policies.files import load_policy, save_policy
from agents.policies.networks import build
from agents.runs.config import Config, ConfigError
from fiveup_env import make_agent
from tests.own_encoders import PLACE
from tests.support import random_views

TINY: dict[str, Any] = {
    "games": 32, "n_steps": 16, "batch_size": 128, "width": 16, "rules": "all_fives_cribbage",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def learner_of(**keys: Any) -> Learner:
    config = Config(**{**TINY, **keys})
    torch.manual_seed(config.seed)
    make = CompiledLearner if config.is_compiled else TorchLearner
    return make(config, build(shape_of(config)))


def lesson_of(learner: Learner, reward_of: Any, count: int = 512) -> Lesson:
    """Return decisions of the learner among three actions, rewarded by a function of the action."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (count, learner.network.reader.size), np.int8)
    masks = np.zeros((count, 121), np.int8)
    masks[:, [3, 50, 90]] = 1
    truths = np.zeros((count, 168), np.int8) if learner.critic else None
    actions, logs, values = learner.choose(rows, masks, truths, rng)
    rewards = np.array([reward_of(action) for action in actions], np.float32)
    networks = np.zeros(count, np.int64)
    return Lesson(rows, masks, actions, logs, values, rewards - values, networks, truths)


def taught(learner: Learner, times: int) -> tuple[Lesson, dict[str, float]]:
    """Reward one of the three actions; return the last lesson and its figures."""
    rng = np.random.default_rng(0)

    def teach() -> tuple[Lesson, dict[str, float]]:
        lesson = lesson_of(learner, lambda action: float(action == 50))
        return lesson, learner.learn(lesson, 0, rng)

    return [teach() for _ in range(times)][-1]


def share_of(learner: Learner, lesson: Lesson, action: int) -> float:
    actions = learner.choose(lesson.rows, lesson.masks, lesson.truths, np.random.default_rng(1))[0]
    return float((actions == action).mean())


ENGINES = pytest.mark.parametrize("engine", ["compiled", "torch"])


@pytest.mark.parametrize(
    "keys", [{"oracle": True}, {"engine": "torch", "shared": True}, {"shared": True}]
)
def test_the_rewarded_action_becomes_the_likeliest(keys: dict[str, Any]) -> None:
    learner = learner_of(learning_rate=3e-3, **keys)
    lesson, _ = taught(learner, 25)
    assert share_of(learner, lesson, 50) > 0.9
    values = learner.network.values(torch.from_numpy(lesson.rows)).detach()
    assert values.mean() == pytest.approx(1, abs=0.25)


@ENGINES
def test_the_reference_holds_the_policy_back(engine: str) -> None:
    keys = {"engine": engine, "shared": True, "learning_rate": 3e-3}
    free, held = (learner_of(kl_coef=kl_coef, **keys) for kl_coef in (0.0, 20.0))
    assert share_of(free, taught(free, 15)[0], 50) > 0.8
    lesson, figures = taught(held, 15)
    assert share_of(held, lesson, 50) < 0.6
    assert 0 < figures["reference_kl"] < 0.1


@ENGINES
def test_the_rate_follows_its_schedule(engine: str) -> None:
    learner = learner_of(learning_rate=1e-3, learning_rate_end=0.0, engine=engine, shared=True)
    rng = np.random.default_rng(0)
    lesson, head = lesson_of(learner, float), learner.network.policy_head.weight
    before = head.detach().clone()
    assert learner.learn(lesson, 0.5, rng)["learning_rate"] == 0.5e-3
    after = head.detach().clone()
    assert not torch.equal(before, after)
    learner.learn(lesson, 1.0, rng)
    assert torch.equal(head, after)


@ENGINES
def test_a_minibatch_may_have_a_single_decision(engine: str) -> None:
    learner = learner_of(engine=engine, shared=True)
    lesson = lesson_of(learner, float, count=1)
    assert np.isfinite(list(learner.learn(lesson, 0, np.random.default_rng(0)).values())).all()


@pytest.mark.parametrize(
    "keys",
    [
        {"oracle": True, "critic_scale": 10.0},
        {"shared": True, "engine": "torch"},
        {"shared": True},
    ],
)
def test_values_alone_learn_without_changing_what_is_played(keys: dict[str, Any]) -> None:
    learner = learner_of(kl_coef=0.1, learning_rate=3e-3, **keys)
    lesson, rng = lesson_of(learner, lambda action: action / 100), np.random.default_rng(0)
    rows = torch.from_numpy(lesson.rows)
    before = learner.network(rows)
    losses = [learner.learn(lesson, 0, rng, values_only=True)["value_loss"] for _ in range(20)]
    logits, values = learner.network(rows)
    assert torch.equal(logits, before[0])
    assert not torch.equal(values, before[1])
    assert losses[-1] < 0.9 * losses[0]
    learner.learn(lesson, 0, rng)
    assert not torch.equal(learner.network(rows)[0], before[0])


@ENGINES
def test_entropy_keeps_a_policy_open(engine: str) -> None:
    keys: dict[str, Any] = {"learning_rate": 3e-3, "normalize_advantage": False, "n_epochs": 8}
    keys |= {"engine": engine, "shared": True}
    entropies = [
        taught(learner_of(ent_coef=ent_coef, **keys), 8)[1]["entropy"] for ent_coef in (0.0, 0.5)
    ]
    assert entropies[0] < 0.5
    assert entropies[1] > 0.8


RIVALS: dict[str, Any] = {"rivals": ["greedy"], "past_every": 1, "past_kept": 2}
PARTNERS: dict[str, Any] = {"partner_share": 0.5, "partners": ["greedy", "random"]}
OPTIONS: dict[str, dict[str, Any]] = {
    "rivals and partners": {"rival_share": 0.5, "players": [4, 3], **RIVALS, **PARTNERS},
    "oracle and reference": {
        "oracle": True, "critic_scale": 10.0, "warm_up": 700, "kl_coef": 0.1, "kl_every": 2, "reward": "outlook",
    },
    "games": {"reward": "win", "horizon": "game", "network": "residual", "shared": True},
    "attention": {"network": "attention", "width": 32, "depth": 1, "players": [2, 3]},
    "own encoder": {"encoder": PLACE, **RIVALS, "rival_share": 0.5},
    "seats": {"networks": "seat", "oracle": True, "kl_coef": 0.1, "players": 3},
    "compiled": {"shared": True, "warm_up": 700, "kl_coef": 0.1, "kl_every": 2, **RIVALS, "rival_share": 0.5},
    "compiled seats": {"shared": True, "networks": "seat", "players": 3, "network": "guided"},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_a_restored_run_goes_on_bit_for_bit(name: str, tmp_path: Path) -> None:
    config = Config(**{**TINY, **OPTIONS[name]})
    straight = SelfPlay(config, tmp_path)
    for _ in range(3):
        straight.update(0.1)
    arrays, about = straight.state()
    wanted = [straight.update(0.2) for _ in range(3)]

    resumed = SelfPlay(config, tmp_path)
    resumed.restore(arrays, about)
    assert [resumed.update(0.2) for _ in range(3)] == wanted
    for ours, theirs in zip(straight.networks, resumed.networks, strict=True):
        for key, weight in ours.state_dict().items():
            assert torch.equal(weight, theirs.state_dict()[key])
    assert (resumed.updates, resumed.decisions) == (6, straight.decisions)


def test_both_engines_learn_the_same_from_a_window() -> None:
    keys: dict[str, Any] = {**TINY, "shared": True, "network": "guided", "kl_coef": 0.1}
    ours, theirs = (learner_of(**keys, engine=engine) for engine in ("compiled", "torch"))
    config = Config(**keys)
    batch = make_batch(config, ours.network.shape.encoder)
    rollouts, rng = Rollouts(config, batch, []), np.random.default_rng(0)
    for _ in range(3):
        lesson = rollouts.play([partial(ours.choose, rng=rng)], rng)
        figures = [learner.learn(lesson, 0, np.random.default_rng(1)) for learner in (ours, theirs)]
        assert figures[0] == pytest.approx(figures[1], rel=1e-3, abs=1e-5)
    for name, weight in theirs.network.state_dict().items():
        assert (weight - ours.network.state_dict()[name]).abs().max() < 2e-5, name


def test_compiled_runs_are_the_same_bytes_for_any_number_of_threads(tmp_path: Path) -> None:
    learnt = []
    for threads in (1, 2, 8):
        torch.set_num_threads(threads)
        run = SelfPlay(Config(**TINY, shared=True), tmp_path)
        figures = [run.update(0.1) for _ in range(3)]
        learnt.append((figures, run._learners[0].state()["weights"].tobytes()))
    assert learnt[0] == learnt[1] == learnt[2]


@pytest.mark.parametrize(("networks", "players", "count"), [("side", 4, 2), ("seat", 3, 3)])
def test_a_network_of_a_seat_sees_and_plays_that_seat_alone(
    networks: str, players: int, count: int, tmp_path: Path
) -> None:
    config = Config(**{**TINY, "networks": networks, "players": players})
    run = SelfPlay(config, tmp_path)

    def choose(rows: np.ndarray, masks: np.ndarray, _: Any, *, number: int) -> Choice:
        return masks.argmax(1), np.full(len(rows), number, np.float32), np.zeros(len(rows))

    chooses = [partial(choose, number=number) for number in range(count)]
    lesson = run._rollouts.play(chooses, np.random.default_rng(0))
    assert (lesson.log_probabilities == lesson.networks).all()
    parts = [lesson.of_network(k) for k in range(count)]
    assert sum(map(len, parts)) == len(lesson)
    assert all((part.networks == k).all() and len(part) for k, part in enumerate(parts))

    before = [network.policy_head.weight.clone() for network in run.networks]
    run._learn(parts[1], 0, np.random.default_rng(0))
    changed = [
        not torch.equal(weight, network.policy_head.weight)
        for weight, network in zip(before, run.networks, strict=True)
    ]
    assert changed == [k == 1 for k in range(count)]

    for folder, network in zip(policy_folders(tmp_path, count), run.networks, strict=True):
        save_policy(folder, network, {})
    agent, rng = make_agent(spec_of(tmp_path)), np.random.default_rng(0)
    views = random_views(30, 40, [players])
    actions = agent(views, rng)
    for k, network in enumerate(run.networks):
        own = views["seat"] % count == k
        assert (actions[own] == NetworkAgent(network)(views[own], rng)).all()


def test_a_policy_that_holds_other_folders_is_still_played_by_itself(tmp_path: Path) -> None:
    save_policy(tmp_path, SelfPlay(Config(**TINY), tmp_path).network, {})
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        assert spec_of(tmp_path) == f"torch:{tmp_path}"


def test_past_selves_become_rivals_and_the_most_beaten_leaves(tmp_path: Path) -> None:
    run = SelfPlay(Config(**TINY, rival_share=0.5, **RIVALS), tmp_path)
    for _ in range(2):
        run.update(0)
    rivals = run._rivals
    assert len(rivals.past) == 2
    rivals.beaten[rivals.specs.index(rivals.past[1])] = 0.9
    easiest = rivals.past[1]
    run.update(0)
    assert easiest not in rivals.specs
    assert len(rivals.past) == 2
    assert rivals.specs[0] == "greedy"
    assert rivals.rival.max() < len(rivals.specs)
    assert load_policy(tmp_path / "past" / "000003")[0].shape == run.network.shape


def test_rivals_that_are_hard_to_beat_are_met_more_often(tmp_path: Path) -> None:
    config = Config(**{**TINY, "games": 400, "rival_share": 1.0, "rivals": ["greedy", "random"]})
    rivals = SelfPlay(config, tmp_path)._rivals
    rivals.beaten = [0.2, 0.9]
    rivals._seat(np.arange(400), np.random.default_rng(0))
    assert (rivals.rival == 0).mean() > 0.9
    assert 0.4 < rivals.side.mean() < 0.6


def test_a_run_may_start_from_a_policy_of_its_shape(tmp_path: Path) -> None:
    first = SelfPlay(Config(**TINY, seed=5), tmp_path)
    save_policy(tmp_path / "first", first.network, {})
    second = SelfPlay(Config(**TINY, start=str(tmp_path / "first")), tmp_path)
    for key, weight in first.network.state_dict().items():
        assert torch.equal(weight, second.network.state_dict()[key])
    with pytest.raises(ConfigError, match=r"start: the policy in .* has .*width=16.*width=32"):
        SelfPlay(Config(**{**TINY, "width": 32}, start=str(tmp_path / "first")), tmp_path)
    with pytest.raises(ConfigError, match=r"start: .*nowhere.*cannot be read"):
        SelfPlay(Config(**TINY, start=str(tmp_path / "nowhere")), tmp_path)


def test_a_run_may_start_from_a_policy_of_the_same_encoder_alone(tmp_path: Path) -> None:
    first = SelfPlay(Config(**TINY, encoder=PLACE), tmp_path)
    save_policy(tmp_path / "first", first.network, {})
    start: dict[str, Any] = {"start": str(tmp_path / "first")}
    SelfPlay(Config(**TINY, **start, encoder=PLACE), tmp_path)
    with pytest.raises(ConfigError, match=r"start: .* there is no encoder 'backwards'"):
        SelfPlay(Config(**TINY, **start), tmp_path)


def test_a_start_that_was_trained_in_other_units_is_refused(tmp_path: Path) -> None:
    config = Config(**TINY, reward="outlook", start=str(tmp_path))
    for about in ({}, {"reward": "margin"}):
        save_policy(tmp_path, build(shape_of(config)), about)
        with pytest.raises(ConfigError, match=r"start: the policy in .* trained in other units"):
            SelfPlay(config, tmp_path)
    save_policy(tmp_path, build(shape_of(config)), {"config": config.as_dict()})
    SelfPlay(config, tmp_path)
    with pytest.raises(ConfigError, match="with reward='outlook', not 'margin'"):
        SelfPlay(Config(**TINY, start=str(tmp_path)), tmp_path)
