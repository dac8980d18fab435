"""RLlib's PPO in every seat: one process plays 128 games, this one learns and saves a policy.

`algorithm_config` returns an ordinary RLlib configuration, so anything in it can be changed. On a
cluster, set `env_runners` to the number of processes that play: Ray finds a node for each of them.
"""

from __future__ import annotations

import tempfile

import numpy as np
import ray

from agents.cluster.algorithm import algorithm_config
from agents.learn.starting import shape_of
from agents.policies.files import save_policy
from agents.policies.networks import build
from agents.runs.config import make_config
from fiveup_env import Rules
from fiveup_env.arena.statistics.duels import duel
from fiveup_env.opponents.registry import make_agent

UPDATES, DEALS = 20, 200
KEYS = {"learner": "rllib", "env_runners": 1, "games": 128, "n_steps": 32, "width": 64}

ray.init(num_cpus=1, log_to_driver=False)
config = make_config({**KEYS, "players": 2, "batch_size": 512})
algorithm = algorithm_config(config).training(grad_clip=1.0).build_algo()

for update in range(1, UPDATES + 1):
    result = algorithm.train()
    if update % 10 == 0:
        figures = result["learners"]["default_policy"]
        print(
            f"update {update}: {algorithm.decisions:,} decisions, {figures['entropy']:.2f} entropy"
        )

# The weights fit a network of the laboratory, so the policy plays without Ray.
network = build(shape_of(config))
network.load_state_dict(algorithm.weights())
algorithm.stop()
with tempfile.TemporaryDirectory() as folder:
    save_policy(folder, network, {"config": config.as_dict()})
    agents = [make_agent(f"torch:{folder}"), make_agent("random")]
    played = duel(agents, Rules.preset(players=2), np.arange(DEALS), "hand")
low, high = played.margin_interval()
print(f"\nAgainst random play it scores {low:+.1f} to {high:+.1f} points a hand more.")
