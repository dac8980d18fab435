"""Scaled observations: each entry times its factor, the same in every interface."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_checker import check_env as check_env_for_sb3

import fiveup_env
from fiveup_env import Batch, Piece, get_encoder
from fiveup_env.encoders import factors_of
from fiveup_env.envs.sb3 import FiveUpVecEnv, ScalingExtractor
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import OptionError

pytestmark = pytest.mark.compiled
FLAT = get_encoder("flat")
FACTORS = factors_of(FLAT.pieces)
HANDS: dict[str, Any] = {"players": 2, "episode": "hand", "seed": 3}


def test_factors_are_powers_of_two_that_follow_from_the_pieces() -> None:
    assert (np.log2(FACTORS) % 1 == 0).all()
    named = {piece.name: piece.factor for piece in FLAT.pieces}
    assert [named[name] for name in ("hand", "sizes", "plays", "total", "to_go")] == [
        1, 1 / 4, 1 / 4, 1 / 8, 1 / 16,
    ]  # fmt: skip
    assert Piece("nothing", (1,), 0, 0, "").factor == 1
    assert Piece("often_few", (1,), 0, 100, "", usual=4).factor == 1 / 2


def test_scaled_rows_are_rows_times_factors_and_play_is_the_same() -> None:
    raw, scaled = (
        Batch(300, encoder="tokens", threads=2, scaled=scaled, **HANDS) for scaled in (False, True)
    )
    factors, rng = factors_of(raw.encoder.pieces), np.random.default_rng(0)
    games = np.arange(300)
    raw.reset()
    scaled.reset()
    for _ in range(30):
        assert scaled.observation.dtype == np.float32
        assert (scaled.observation == raw.observation * factors).all()
        actions = raw.random_actions(rng)
        raw.step(actions)
        scaled.step(actions)
        assert (scaled.action_mask == raw.action_mask).all()
    for name in ("observations_of", "final_observations_of"):
        integers, floats = (getattr(batch, name)(games, games % 2) for batch in (raw, scaled))
        assert (floats == integers * factors).all()


def test_saved_games_go_on_with_or_without_scaling() -> None:
    first = FiveUpVecEnv(20, opponents="greedy", scaled=True, **HANDS)
    first.reset()
    for _ in range(10):
        first.step(first.action_masks().argmax(1))
    same, raw = (
        FiveUpVecEnv(20, opponents="greedy", scaled=scaled, **HANDS) for scaled in (True, False)
    )
    for env in (same, raw):
        env.load(first.save())
    twins = [same, raw, copy.deepcopy(first)]
    for _ in range(20):
        actions = first.action_masks().argmax(1)
        wanted, _, over, infos = first.step(actions)
        for env, factors in zip(twins, (1, FACTORS, 1), strict=True):
            rows, _, _, env_infos = env.step(actions)
            assert np.array_equal(np.asarray(wanted), np.asarray(rows) * factors)
            for game in np.flatnonzero(over):
                last = env_infos[game]["terminal_observation"] * factors
                assert np.array_equal(infos[game]["terminal_observation"], last)


def test_every_environment_keeps_its_contract_when_scaled() -> None:
    env = FiveUpEnv(players=3, scaled=True, illegal="terminate")
    check_env(env, skip_render_check=True)
    check_env_for_sb3(env, skip_render_check=True)
    with warnings.catch_warnings():
        # Said of every environment whose observation is a dictionary with a mask.
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        api_test(fiveup_env.env(players=2, scaled=True), num_cycles=60)
    envs = gymnasium.make_vec("fiveup/FiveUp-v0", num_envs=6, opponents="greedy", scaled=True)
    rows, infos = envs.reset(seed=1)
    for _ in range(40):
        for space in (envs.observation_space, envs.single_observation_space):
            assert isinstance(space, Box)
            assert space.dtype == np.float32
        assert envs.observation_space.contains(rows)
        assert envs.single_observation_space.contains(rows[0])
        rows, _, _, _, infos = envs.step(infos["action_mask"].argmax(1))


def test_one_seed_is_one_game_scaled_or_not() -> None:
    envs = [fiveup_env.raw_env(players=3, scaled=scaled) for scaled in (False, True)]
    for env in envs:
        env.reset(seed=5)
    for _ in range(20):
        raw, scaled = (env.observe(env.agent_selection) for env in envs)
        assert (scaled["observation"] == raw["observation"] * FACTORS).all()
        assert envs[1].state().dtype == np.int8
        for env in envs:
            env.step(int(raw["action_mask"].argmax()))


# --- The extractor


def model_of(env: FiveUpVecEnv, **options: Any) -> MaskablePPO:
    chosen = {"features_extractor_class": ScalingExtractor, "net_arch": [8], **options}
    return MaskablePPO("MlpPolicy", env, n_steps=4, batch_size=16, policy_kwargs=chosen, seed=1)


def test_a_model_with_the_extractor_sees_what_scaled_games_would_show_it(tmp_path: Any) -> None:
    raw, scaled = (FiveUpVecEnv(8, scaled=scaled, **HANDS) for scaled in (False, True))
    rows, wanted = np.asarray(raw.reset()), np.asarray(scaled.reset())
    model = model_of(raw)
    model.save(tmp_path / "model.zip")
    for twin in (model, MaskablePPO.load(tmp_path / "model.zip")):
        features: Any = twin.policy.extract_features(twin.policy.obs_to_tensor(rows)[0])
        assert np.array_equal(features.numpy(), wanted)
    model.learn(32)


def test_the_extractor_takes_the_rows_of_any_encoder_and_nothing_else() -> None:
    tokens = {"features_extractor_kwargs": {"encoder": "tokens"}}
    model_of(FiveUpVecEnv(4, encoder="tokens", **HANDS), **tokens)
    for env, options in (
        (FiveUpVecEnv(4, scaled=True, **HANDS), {}),
        (FiveUpVecEnv(4, encoder="tokens", **HANDS), {}),
        (FiveUpVecEnv(4, **HANDS), tokens),
    ):
        with pytest.raises(OptionError, match=r"takes rows of .* as int8, not RowSpace\("):
            model_of(env, **options)


def test_vector_games_are_scaled_at_their_ends_in_every_mode() -> None:
    for mode in ("NextStep", "SameStep", "Disabled"):
        pair = [
            FiveUpVectorEnv(20, opponents="greedy", autoreset_mode=mode, scaled=scaled, **HANDS)
            for scaled in (False, True)
        ]
        (raw, infos), (scaled, _) = (envs.reset(seed=2) for envs in pair)
        ended = 0
        for _ in range(12):
            assert (scaled == raw * FACTORS).all()
            if ended and mode == "Disabled":
                break
            actions = infos["action_mask"].argmax(1)
            (raw, _, over, _, infos), (scaled, *_) = (envs.step(actions) for envs in pair)
            ended += int(over.sum())
        assert ended
