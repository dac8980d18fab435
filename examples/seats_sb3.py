"""Stable-Baselines3: MaskablePPO learns from every seat of 256 games.

`SelfPlayVecEnv` lets one policy move every seat; `SeatsRolloutBuffer` gives each decision what its
own seat received until it decided again. All else is MaskablePPO as it is.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from fiveup_env import Batch, Rules, make_agent
from fiveup_env.arena import duel
from fiveup_env.seats.sb3 import SeatsRolloutBuffer, SelfPlayVecEnv

GAMES, STEPS = 256, 64
torch.set_num_threads(1)  # the networks are too small for more


def learn(
    updates: int, players: int = 2, seed: int = 0, buffer: Any = SeatsRolloutBuffer
) -> MaskablePPO:
    """Return a model that has learnt from this many windows."""
    batch = Batch(GAMES, players=players, episode="hand", reward="margin", scaled=True, seed=seed)
    model = MaskablePPO(
        "MlpPolicy",
        SelfPlayVecEnv(batch),
        rollout_buffer_class=buffer,
        n_steps=STEPS,
        batch_size=1024,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
    )
    return model.learn(updates * GAMES * STEPS) if updates else model


if __name__ == "__main__":
    for updates in (0, 20):
        with tempfile.TemporaryDirectory() as folder:
            learn(updates).save(f"{folder}/model.zip")
            agents = make_agent(f"{folder}/model.zip"), make_agent("greedy")
        played = duel(agents, Rules.preset(players=2), np.arange(200), episode="hand")
        print(f"after {updates} windows: {played.margins.mean():+.2f} points a hand from greedy")
