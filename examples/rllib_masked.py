"""RLlib with nothing of this project but the environment: PPO, and RLlib's own masked module.

`ActionMaskingTorchRLModule` takes observations with the mask in them, by names of its own.
RLlib checks an environment by actions of its own choice, which may be illegal: with
`illegal="terminate"` they end an episode, and are not errors.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import ray
from gymnasium.spaces import Dict
from gymnasium.wrappers import TransformObservation
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

UPDATES = 3


def named(given: Any) -> dict[str, Any]:
    """Return the entries of an observation, or of the space of observations, by RLlib's names."""
    return {"observations": given["observation"], "action_mask": given["action_mask"]}


def make_env(config: dict[str, Any]) -> gymnasium.Env[Any, Any]:
    """Return the environment with these options; its name says what to import in a worker."""
    env = gymnasium.make("fiveup_env:fiveup/FiveUp-v0", mask="observation", **config)
    return TransformObservation(env, named, Dict(named(env.observation_space)))


ray.init(num_cpus=1, log_to_driver=False)
register_env("fiveup", make_env)
options = {"players": 2, "episode": "hand", "reward": "margin", "illegal": "terminate"}
config = (
    PPOConfig()
    .environment("fiveup", env_config=options | {"opponents": "random", "scaled": True})
    .env_runners(num_env_runners=0)
    .training(train_batch_size=1024, minibatch_size=256, num_epochs=4, lr=1e-3, gamma=1.0)
    .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
)
algorithm = config.build_algo()
for update in range(1, UPDATES + 1):
    points = algorithm.train()["env_runners"]["episode_return_mean"]
    print(f"update {update}: {points:+.2f} points a hand against random play")
algorithm.stop()
