"""Minari: one learner's episodes, collected by its own wrapper; the deals of another seed test it.

Forced moves are steps, too, and the observations have the legal actions.
Set MINARI_DATASETS_PATH to the folder of your data sets.
"""

from typing import Any

import gymnasium
import minari
import numpy as np

import fiveup_env  # noqa: F401  (registers the environment)
from fiveup_env.opponents.registry import make_agent

EPISODES, SEED = 10, 0


options: dict[str, Any] = {"opponents": "greedy", "encoder": "tokens", "mask": "observation"}
env = gymnasium.make("fiveup/FiveUp-v0", players=2, **options)
collector = minari.DataCollector(env, data_format="parquet")
learner: Any = env.unwrapped
agent, rng = make_agent("partner"), np.random.default_rng(SEED)
for episode in range(EPISODES):
    collector.reset(seed=SEED + episode)
    over = False
    while not over:
        _, _, terminated, truncated, _ = collector.step(learner.game.ask(agent, rng).action)
        over = terminated or truncated
data = collector.create_dataset("fiveup/partner-v0", algorithm_name="partner")
first = data[0]
observation, _ = data.recover_environment().reset(seed=SEED)  # deals the first game again
assert (observation["action_mask"] == first.observations["action_mask"][0]).all()
wins = sum(episode.rewards.sum() > 0 for episode in data)
print(f"{data.total_episodes} episodes, {data.total_steps} steps, {wins} won")
