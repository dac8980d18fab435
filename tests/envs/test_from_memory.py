"""Scripts as they are written from memory, for every ecosystem, without a special argument."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

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


def test_a_masked_ppo_in_the_manner_of_cleanrl() -> None:
    torch.manual_seed(1)
    envs = gymnasium.make_vec(ID, num_envs=8, **SHORT)
    entries = int(np.prod(envs.single_observation_space.shape or ()))
    actions_n = int(envs.single_action_space.n)  # type: ignore[attr-defined]
    network = nn.Sequential(nn.Linear(entries, 32), nn.Tanh(), nn.Linear(32, actions_n + 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def policy(obs: torch.Tensor, mask: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        out = network(obs)
        logits = torch.where(mask, out[:, :-1], torch.tensor(-1e8))
        return Categorical(logits=logits), out[:, -1]

    obs, infos = envs.reset(seed=1)
    for _ in range(2):
        kept: list[Any] = []
        for _ in range(16):
            seen = torch.tensor(obs, dtype=torch.float32)
            mask = torch.tensor(infos["action_mask"], dtype=torch.bool)
            with torch.no_grad():
                chosen, value = policy(seen, mask)
                action = chosen.sample()
            obs, reward, terminated, truncated, infos = envs.step(action.numpy())
            done = torch.tensor(terminated | truncated)
            kept.append((seen, mask, action, chosen.log_prob(action), value, reward, done))
        advantage, last = [], torch.zeros(8)
        for step in reversed(kept):
            last = torch.tensor(step[5], dtype=torch.float32) + last * ~step[6]
            advantage.append(last - step[4])
        gains = torch.stack(advantage[::-1])
        for k, (seen, mask, action, old, _, _, _) in enumerate(kept):
            new, value = policy(seen, mask)
            ratio = (new.log_prob(action) - old).exp()
            clipped = torch.minimum(ratio * gains[k], ratio.clamp(0.8, 1.2) * gains[k])
            loss = -clipped.mean() - 0.01 * new.entropy().mean() + (value - gains[k]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert torch.isfinite(loss)


@needs("sb3_contrib")
@pytest.mark.parametrize("native", [False, True])
def test_maskable_ppo_over_either_vectorisation(native: bool) -> None:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env

    from fiveup_env.envs.sb3 import FiveUpVecEnv

    games = FiveUpVecEnv(4) if native else make_vec_env(ID, n_envs=4)
    model = MaskablePPO("MlpPolicy", games, n_steps=16, batch_size=32)
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


@needs("ray")
def test_rllibs_algorithm_with_its_own_masked_module() -> None:
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
    from ray.tune.registry import register_env

    class Masked(gymnasium.ObservationWrapper[Any, Any, Any]):
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self.observation_space = gymnasium.spaces.Dict(
                {
                    "action_mask": gymnasium.spaces.Box(0.0, 1.0, (121,)),
                    "observations": env.observation_space,
                }
            )

        def observation(self, observation: np.ndarray) -> dict[str, np.ndarray]:
            masks = self.env.unwrapped.action_masks().astype(np.float32)  # type: ignore[attr-defined]
            return {"action_mask": masks, "observations": observation}

    register_env("masked", lambda config: Masked(gymnasium.make(ID, illegal="terminate", **config)))
    config = (
        PPOConfig()
        .environment("masked", env_config=SHORT | {"scaled": True})
        .env_runners(num_env_runners=0)
        .training(train_batch_size=64, minibatch_size=32, num_epochs=1)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    )
    algorithm = config.build_algo()
    algorithm.train()
    algorithm.stop()


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
