"""Stable-Baselines3: MaskablePPO learns on 64 games at once, against an opponent of your choice.

`FiveUpVecEnv` is a native `VecEnv`: it runs in one process, and an opponent chooses its actions for
all games in one call. After `import agents`, any agent of the repository may be the opponent.
`ScalingExtractor` scales the rows, whose entries are of very different sizes, for the network.
"""

from __future__ import annotations

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

from fiveup_env.envs.sb3 import FiveUpVecEnv, ScalingExtractor

torch.set_num_threads(1)  # this network is too small for more


def games(seed: int) -> FiveUpVecEnv:
    """Return 64 games of single hands for two, rewarded with the margin over the opponent."""
    return FiveUpVecEnv(
        64, players=2, opponents="random", episode="hand", reward="margin", seed=seed
    )


def points_a_hand(model: MaskablePPO) -> str:
    """Return the mean over 500 hands that were not trained on, and its uncertainty, as text."""
    hands = evaluate_policy(
        model, games(seed=1 << 40), 500, return_episode_rewards=True, warn=False
    )
    points = np.array(hands[0])
    return f"{points.mean():+.2f} (+- {2 * points.std() / len(points) ** 0.5:.2f})"


model = MaskablePPO(
    "MlpPolicy",
    games(seed=0),
    n_steps=64,
    batch_size=512,
    n_epochs=3,
    learning_rate=1e-3,
    gamma=1.0,
    ent_coef=0.02,
    policy_kwargs={"features_extractor_class": ScalingExtractor},
    seed=0,
)
print(f"before: {points_a_hand(model)} points a hand against a random player")
model.learn(40_000)
print(f"after: {points_a_hand(model)}")
