"""Scripts as they are written from memory, for every ecosystem, without a special argument."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

import fiveup_env
from fiveup_env.errors import OptionError

ID = "fiveup/FiveUp-v0"
SHORT: dict[str, Any] = {"players": 2, "episode": "hand"}


def needs(package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not find_spec(package), reason=f"a known loop (no {package})")


@pytest.mark.parametrize("make", [fiveup_env.env, lambda: pettingzoo.make("aec", ID)])
def test_pettingzoos_loop(make: Any) -> None:
    env = make()
    env.reset(seed=42)
    steps = 0
    for agent in env.agent_iter():
        observation, _, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
            assert info["winner"] in {0, 1}
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)
        steps += 1
    env.close()
    assert steps > 20


def test_gymnasiums_loop() -> None:
    env = gymnasium.make(ID)
    _, info = env.reset(seed=42)
    ended = False
    while not ended:
        action = env.action_space.sample(info["action_mask"])
        _, _, terminated, truncated, info = env.step(action)
        ended = terminated or truncated
    env.close()
    assert info["winner"] in {0, 1}
    assert info["scores"].max() >= 61
    assert info["ended"] in {"domino", "blocked", "target"}


@pytest.mark.parametrize("mode", ["sync", "async", "vector_entry_point", None])
def test_gymnasiums_vector_loop_with_any_way_of_making_it(mode: str | None) -> None:
    kinds: dict[str, Any] = {} if mode is None else {"vectorization_mode": mode}
    envs = gymnasium.make_vec(ID, num_envs=3, **kinds, **SHORT)
    _, infos = envs.reset(seed=42)
    rng, ended = np.random.default_rng(0), 0
    for _ in range(40):
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
        _, _, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        if over.any():
            assert (infos["_winner"] == over).all()
            assert infos["scores"].shape == (3, 2)
            assert set(infos["ended"][over]) <= {"domino", "blocked", "target"}
        ended += int(over.sum())
    envs.close()
    assert ended > 3


@needs("sb3_contrib")
def test_maskable_ppo_over_stable_baselines_own_vectorisation() -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env

    model = MaskablePPO("MlpPolicy", make_vec_env(ID, n_envs=4), n_steps=16, batch_size=32)
    model.learn(64)


@needs("torchrl")
def test_torchrls_gym_env_by_its_id() -> None:
    from torchrl.envs.libs.gym import GymEnv, GymWrapper

    for env in (GymEnv(ID), GymWrapper(gymnasium.make(ID))):
        assert env.reset()["observation"].shape == (557,)


@needs("torchrl")
@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")
def test_torchrls_pettingzoo_wrapper() -> None:
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper

    env = PettingZooWrapper(fiveup_env.env(**SHORT), use_mask=True)
    played = env.rollout(30, break_when_any_done=False)
    assert len(played) == 30
    assert played["next", "done"].any()


@needs("pyspiel")
def test_openspiels_random_play() -> None:
    import pyspiel

    import fiveup_env.doors.openspiel  # noqa: F401 - registers the game

    state = pyspiel.load_game("fiveup").new_initial_state()
    rng = np.random.default_rng(0)
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=probabilities)))
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert sum(state.returns()) == 0


# --- What failed when it was tried


def test_an_unexpected_keyword_is_an_option_error_and_a_type_error() -> None:
    makers: list[Any] = [fiveup_env.env, fiveup_env.raw_env, fiveup_env.Batch]
    if find_spec("pyspiel"):
        from fiveup_env.doors.openspiel import load

        makers.append(load)
    for make in makers:
        for error in (OptionError, TypeError):
            with pytest.raises(error, match="unexpected keyword argument 'frameskip'"):
                make(frameskip=4)
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
        gymnasium.make(ID, frameskip=4)
    for mode in ("sync", "vector_entry_point"):
        with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip'"):
            gymnasium.make_vec(ID, num_envs=2, vectorization_mode=mode, frameskip=4)
