"""Scripts as they are written from memory, for every ecosystem, without a special argument."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TransformObservation

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


@pytest.mark.parametrize("mode", [None, "sync", "async", "vector_entry_point"])
def test_gymnasiums_loop_with_masks_in_the_observations(mode: str | None) -> None:
    if mode is None:
        env: Any = gymnasium.make(ID, mask="observation", **SHORT)
    else:
        env = gymnasium.make_vec(
            ID, num_envs=3, vectorization_mode=mode, mask="observation", **SHORT
        )
    observation, info = env.reset(seed=42)
    assert env.observation_space.contains(observation)
    assert "action_mask" not in info
    for _ in range(30):
        mask = observation["action_mask"]
        assert mask.dtype == np.bool_
        observation, _, terminated, _, _ = env.step(mask.argmax(-1))
        assert env.observation_space.contains(observation)
        if mode is None and terminated:
            observation, _ = env.reset()
    env.close()


@needs("torchrl")
def test_torchrls_gym_env_by_its_id() -> None:
    from torchrl.envs.libs.gym import GymEnv, GymWrapper

    for env in (GymEnv(ID), GymWrapper(gymnasium.make(ID))):
        assert env.reset()["observation"].shape == (557,)


def torchrl_env_with_masks(kind: str) -> Any:
    """Return one game, two or eight, with the transform that masks random actions."""
    from torchrl.envs import ActionMask, TransformedEnv
    from torchrl.envs.libs.gym import GymEnv, GymWrapper

    if kind != "many":
        workers: dict[str, Any] = {"num_workers": 2} if kind == "processes" else {}
        env = GymEnv(f"fiveup_env:{ID}", mask="observation", scaled=True, **workers, **SHORT)
        return TransformedEnv(env, ActionMask())
    envs = gymnasium.make_vec(
        ID, num_envs=8, autoreset_mode="Disabled", mask="observation", scaled=True, **SHORT
    )
    return TransformedEnv(GymWrapper(envs), ActionMask())


@needs("torchrl")
@pytest.mark.parametrize("kind", ["one", "processes", "many"])
def test_torchrls_masked_rollout(kind: str) -> None:
    from torchrl.envs.utils import check_env_specs

    env = torchrl_env_with_masks(kind)
    check_env_specs(env)
    played = env.rollout(40, break_when_any_done=False)
    assert played["next", "done"].sum() > 1
    assert (played["action_mask"] & played["action"].bool()).any(-1).all()
    env.close()


@needs("torchrl")
@pytest.mark.parametrize("kind", ["one", "many"])
def test_torchrls_collector_and_ppo_loss_with_masks(kind: str) -> None:
    import torch
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.modules import MaskedOneHotCategorical, ProbabilisticActor, ValueOperator
    from torchrl.objectives import ClipPPOLoss

    keys: Any = {"logits": "logits", "mask": "action_mask"}
    env, size = torchrl_env_with_masks(kind), 557
    policy = ProbabilisticActor(
        TensorDictModule(torch.nn.Linear(size, 121), ["observation"], ["logits"]),
        in_keys=keys,
        distribution_class=MaskedOneHotCategorical,
        return_log_prob=True,
    )
    loss = ClipPPOLoss(policy, ValueOperator(torch.nn.Linear(size, 1)))
    loss.make_value_estimator(gamma=1.0)
    collector = Collector(env, policy, frames_per_batch=64, total_frames=64)
    for batch in collector:
        losses = loss(batch)
        (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
    collector.shutdown()
    gradients = [weights.grad for weights in policy.parameters()]
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    assert any(gradient.any() for gradient in gradients)


@needs("tianshou")
def test_tianshous_dqn_with_masks() -> None:
    from tianshou.algorithm import DQN
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.algorithm.optim import AdamOptimizerFactory
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.env import DummyVectorEnv
    from tianshou.utils.net.common import Net
    from tianshou.utils.torch_utils import policy_within_training_step

    def named(given: Any) -> dict[str, Any]:
        return {"obs": given["observation"], "mask": given["action_mask"]}

    def make() -> Any:
        env = gymnasium.make(ID, mask="observation", scaled=True, **SHORT)
        return TransformObservation(env, named, spaces.Dict(named(env.observation_space)))

    env = make()
    net = Net(state_shape=(557,), action_shape=121, hidden_sizes=[16])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.5)
    dqn = DQN(policy=policy, optim=AdamOptimizerFactory(), gamma=1.0)
    collector: Any = Collector(policy, DummyVectorEnv([make, make]), VectorReplayBuffer(500, 2))
    collector.reset()
    with policy_within_training_step(policy):
        assert collector.collect(n_step=100).n_collected_episodes > 1
        dqn.update(buffer=collector.buffer, sample_size=32)


@needs("tianshou")
def test_tianshous_pettingzoo_env() -> None:
    from tianshou.env import PettingZooEnv

    observation, _ = PettingZooEnv(fiveup_env.env(**SHORT)).reset()
    assert set(observation) == {"agent_id", "obs", "mask"}


@needs("ray")
def test_rllibs_masked_module() -> None:
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import (
        ActionMaskingTorchRLModule,
    )
    from ray.tune.registry import register_env

    def named(given: Any) -> dict[str, Any]:
        return {"observations": given["observation"], "action_mask": given["action_mask"]}

    def make(options: dict[str, Any]) -> Any:
        env = gymnasium.make(ID, mask="observation", scaled=True, **SHORT, **options)
        return TransformObservation(env, named, spaces.Dict(named(env.observation_space)))

    ray.init(num_cpus=1, log_to_driver=False, include_dashboard=False)
    register_env("fiveup", make)
    try:
        algorithm = (
            PPOConfig()
            .environment("fiveup", env_config={"illegal": "terminate"})  # RLlib tries an action
            .env_runners(num_env_runners=0)
            .training(train_batch_size=128, minibatch_size=64, num_epochs=1)
            .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
            .build_algo()
        )
        assert algorithm.train()["env_runners"]["num_episodes"] > 3
        algorithm.stop()
    finally:
        ray.shutdown()


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
