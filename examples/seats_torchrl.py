"""TorchRL: a collector and `ClipPPOLoss` as they are learn from every seat of 256 games.

`SelfPlayEnv` lets one policy move every seat; `SeatsGAE` stands in place of TorchRL's `GAE`, and
gives each decision what its own seat received until it decided again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss

from fiveup_env import Batch, Rules, as_agent, make_agent
from fiveup_env.arena import duel
from fiveup_env.seats.torchrl import SeatsGAE, SelfPlayEnv

GAMES, STEPS, EPOCHS, PART = 256, 64, 4, 1024
torch.set_num_threads(1)  # the networks are too small for more


def layers(size: int, outputs: int) -> nn.Sequential:
    """Return a network."""
    inner = nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
    return nn.Sequential(*inner, nn.Linear(128, outputs))


def learn(updates: int, players: int = 2, seed: int = 0, estimator: Any = SeatsGAE) -> nn.Module:
    """Return a policy that has learnt from this many windows."""
    torch.manual_seed(seed)
    batch = Batch(GAMES, players=players, episode="hand", reward="margin", scaled=True, seed=seed)
    (_, size), (_, actions) = batch.observation.shape, batch.action_mask.shape
    policy, critic = layers(size, actions), ValueOperator(layers(size, 1))
    actor = ProbabilisticActor(
        TensorDictModule(policy, ["observation"], ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    advantages = estimator(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(
        actor,
        critic,
        entropy_coeff=0.01,
        critic_coeff=0.5,
        loss_critic_type="l2",
        normalize_advantage=True,
    )
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3, eps=1e-5)
    window = GAMES * STEPS
    for played in Collector(
        SelfPlayEnv(batch), actor, frames_per_batch=window, total_frames=updates * window
    ):
        decisions = advantages(played)
        for _ in range(EPOCHS):
            order = torch.randperm(len(decisions))
            for part in order.chunk(max(1, len(order) // PART)):
                losses = loss(decisions[part])
                optimizer.zero_grad()
                sum(losses[f"loss_{of}"] for of in ("objective", "critic", "entropy")).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    return policy


if __name__ == "__main__":
    for updates in (1, 20):
        agents = as_agent(learn(updates), scaled=True), make_agent("greedy")
        played = duel(agents, Rules.preset(players=2), np.arange(200), episode="hand")
        print(f"after {updates} windows: {played.margins.mean():+.2f} points a hand from greedy")
