"""Policy gradients from scratch: 256 games at once, a network in seat 0 and random play in seat 1.

`Batch` writes its arrays in place, so PyTorch shares their memory. The return of a decision is what
its seat is rewarded with from then until the end of the hand, whoever moves in between.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from fiveup_env import Batch

GAMES, TICKS, UPDATES = 256, 32, 40

torch.manual_seed(0)
torch.set_num_threads(1)  # this network is too small for more
chance = np.random.default_rng(0)
batch = Batch(GAMES, players=2, episode="hand", reward="margin", seed=1)
batch.reset()
rows, mask = torch.from_numpy(batch.observation), torch.from_numpy(batch.action_mask)
network = nn.Sequential(nn.Linear(rows.shape[1], 128), nn.ReLU(), nn.Linear(128, mask.shape[1]))
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)

seen = torch.empty((TICKS, *rows.shape), dtype=torch.int8)
allowed = torch.empty((TICKS, *mask.shape), dtype=torch.int8)
chosen = torch.empty((TICKS, GAMES), dtype=torch.int64)
own, ended = np.empty((2, TICKS, GAMES), np.bool_)
rewards, returns = np.empty((TICKS, GAMES), np.float32), np.zeros((TICKS + 1, GAMES), np.float32)


def policy(seen: torch.Tensor, allowed: torch.Tensor) -> Categorical:
    """Return the probabilities of the actions, 0 where they are not allowed."""
    return Categorical(logits=network(seen / 8).masked_fill(allowed == 0, -torch.inf))


for update in range(1, UPDATES + 1):
    for tick in range(TICKS):
        seen[tick], allowed[tick], own[tick] = rows, mask, batch.turn == 0
        with torch.no_grad():
            drawn = policy(rows, mask).sample().numpy()
        actions = np.where(own[tick], drawn, batch.random_actions(chance))
        chosen[tick] = torch.from_numpy(actions)
        batch.step(actions)
        rewards[tick], ended[tick] = batch.reward[:, 0], batch.terminated
    for tick in reversed(range(TICKS)):
        returns[tick] = rewards[tick] + np.where(ended[tick], 0, returns[tick + 1])
    complete = np.logical_or.accumulate(ended[::-1])[::-1]  # decisions whose hand has ended
    learnt = torch.from_numpy(own & complete)
    gain = torch.from_numpy(returns[:-1])[learnt]
    choices = policy(seen[learnt], allowed[learnt])
    loss = -(choices.log_prob(chosen[learnt]) * (gain - gain.mean()) / gain.std()).mean()
    optimizer.zero_grad()
    (loss - 0.01 * choices.entropy().mean()).backward()
    optimizer.step()
    if update == 1 or update % 10 == 0:
        print(f"update {update}: {rewards.sum() / ended.sum():+.2f} points a hand")
