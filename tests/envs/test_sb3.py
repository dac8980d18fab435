"""The native VecEnv has the interface of Stable-Baselines3, and a learner learns through it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor

from fiveup_env.encoders import piece_of
from fiveup_env.envs.sb3 import FiveUpVecEnv

# A game that is learnt in seconds: double-three, three tiles each, multiples of three score.
SMALL: dict[str, Any] = {
    "players": 2,
    "max_pip": 3,
    "hand_size": 3,
    "multiple": 3,
    "episode": "hand",
    "reward": "margin",
}
RANDOM_PLAY = 0.15  # random play wins no more than this, over thousands of hands
LEARNT = 0.55  # a learner with wrong rewards or masks would win less than this


def mean_margin(model: MaskablePPO | None) -> float:
    """Return the mean points won per hand against random opponents, on deals never trained on."""
    env, rng = VecMonitor(FiveUpVecEnv(512, seed=10**9, **SMALL)), np.random.default_rng(0)
    observation, won, hands = env.reset(), 0.0, 0
    for _ in range(60):
        masks = env.action_masks()
        if model is None:
            actions = (rng.random(masks.shape) * masks).argmax(1)
        else:
            actions, _ = model.predict(observation, action_masks=masks, deterministic=True)  # type: ignore[arg-type]
        env.step_async(actions)
        observation, _, over, infos = env.step_wait()
        won += sum(info["episode"]["r"] for info in infos if info)
        hands += int(over.sum())
    assert hands > 5_000
    return won / hands


def test_maskable_ppo_learns_through_it() -> None:
    torch.set_num_threads(1)
    assert abs(mean_margin(None)) < RANDOM_PLAY
    model = MaskablePPO(
        "MlpPolicy",
        FiveUpVecEnv(64, seed=1, **SMALL),
        n_steps=64,
        batch_size=1024,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [64, 64]},
        seed=1,
        device="cpu",
    )
    model.learn(20_480)
    assert mean_margin(model) > LEARNT


def test_it_says_what_sb3_contrib_asks() -> None:
    env = FiveUpVecEnv(6, seed=2)
    env.reset()
    assert is_masking_supported(env)
    assert (get_action_masks(env) == env.action_masks()).all()
    assert env.env_method("action_masks", indices=[2])[0].tolist() == env.action_masks()[2].tolist()
    assert env.env_is_wrapped(object) == [False] * 6
    assert env.get_attr("num_envs", indices=0) == [6]
    env.set_attr("render_mode", "ansi")
    assert env.get_attr("render_mode") == ["ansi"] * 6


@pytest.mark.parametrize("seat", [None, 1])
def test_each_learner_sees_its_own_seat_and_the_loser_receives_its_loss(seat: int | None) -> None:
    env = FiveUpVecEnv(30, players=3, seat=seat, seed=3, target=10, reward="win")
    rows, rng = np.asarray(env.reset()), np.random.default_rng(0)
    results: list[float] = []
    for _ in range(300):
        turn = piece_of(env.batch.encoder, "turn", rows)
        assert (turn[:, 0] == 1).all()
        masks = env.action_masks()
        env.step_async((rng.random(masks.shape) * masks).argmax(1))
        seen, rewards, over, infos = env.step_wait()
        rows = np.asarray(seen)
        assert (rewards[~over] == 0).all()
        for game in np.flatnonzero(over):
            results.append(float(rewards[game]))
            assert not infos[game]["TimeLimit.truncated"]
            last = infos[game]["terminal_observation"]
            held = piece_of(env.batch.encoder, "hand", last).sum()
            assert piece_of(env.batch.encoder, "sizes", last)[0] == held
            assert not piece_of(env.batch.encoder, "turn", last).any()
    assert set(results) == {1.0, -0.5}
    wins = results.count(1.0) / len(results)
    assert 0.2 < wins < 0.5


def test_a_cut_off_episode_says_so() -> None:
    env = FiveUpVecEnv(10, players=2, seed=3, max_hands=1)
    env.reset()
    cuts = []
    for _ in range(40):
        env.step_async(env.action_masks().argmax(1))
        _, _, over, infos = env.step_wait()
        cuts += [infos[game]["TimeLimit.truncated"] for game in np.flatnonzero(over)]
    assert cuts
    assert all(cuts)
