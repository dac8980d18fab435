"""RLlib as it is learns from every seat: its multi-agent episodes already are one seat's each.

`PettingZooEnv` hands each seat what it received since its own last move, and RLlib computes
advantages agent by agent. With one policy for all, `ActionMaskingTorchRLModule` needs only its own
names for the entries of an observation.
"""

from __future__ import annotations

from typing import Any

import ray
from gymnasium.spaces import Dict
from pettingzoo.utils.wrappers import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import fiveup_env

UPDATES = 3


class Named(BaseWrapper):  # type: ignore[misc]
    """The environment with observations by RLlib's names."""

    def observe(self, agent: str) -> Any:
        """Return what an agent observes."""
        given = super().observe(agent)
        return {"observations": given["observation"], "action_mask": given["action_mask"]}

    def observation_space(self, agent: str) -> Dict:
        """Return the space of what an agent observes."""
        space: Any = super().observation_space(agent)
        return Dict(observations=space["observation"], action_mask=space["action_mask"])


def make_env(options: dict[str, Any]) -> PettingZooEnv:
    """Return the environment with these options."""
    return PettingZooEnv(Named(fiveup_env.env(scaled=True, **options)))


if __name__ == "__main__":
    ray.init(num_cpus=1, log_to_driver=False)
    register_env("fiveup", make_env)
    options = {"players": 2, "episode": "hand", "reward": "margin"}
    config = (
        PPOConfig()
        .environment("fiveup", env_config=options, disable_env_checking=True)  # which ignores masks
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .training(train_batch_size=1024, minibatch_size=256, num_epochs=4, lr=1e-3, gamma=1.0)
        .multi_agent(policies={"all"}, policy_mapping_fn=lambda *_, **__: "all")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    )
    algorithm = config.build_algo()
    for update in range(1, UPDATES + 1):
        found = algorithm.train()
        print(f"update {update}: {found['env_runners']['num_episodes']:.0f} hands of all seats")
    algorithm.stop()
