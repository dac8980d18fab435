"""PPO in one file, in the manner of CleanRL: one network learns from every seat of 256 games.

The seats move in turn, so a row of the arrays is followed by another seat's. `seat_advantages` puts
each seat's moves together, and `carry` begins a window with the moves that wait for their next one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from fiveup_env import Batch, Rules, as_agent, make_agent
from fiveup_env.arena import duel
from fiveup_env.seats import NOBODY, seat_advantages

GAMES, STEPS, EPOCHS, PART, CLIP = 256, 64, 4, 1024, 0.2
torch.set_num_threads(1)  # the networks are too small for more


def learn(
    updates: int, players: int = 2, seed: int = 0, advantages: Any = seat_advantages
) -> nn.Module:
    """Return a policy that has learnt from this many windows."""
    torch.manual_seed(seed)
    batch = Batch(GAMES, players=players, episode="hand", reward="margin", scaled=True, seed=seed)
    batch.reset()
    (_, size), (_, actions) = batch.observation.shape, batch.action_mask.shape
    policy, value = (
        nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), head)
        for head in (nn.Linear(128, actions), nn.Linear(128, 1))
    )
    parameters = [*policy.parameters(), *value.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3, eps=1e-5)
    shape = players + STEPS, GAMES  # first the moves that wait, at most one of each seat
    rows, masks = torch.zeros(*shape, size), torch.zeros(*shape, actions, dtype=torch.bool)
    chosen, (old, values) = torch.zeros(shape, dtype=torch.int64), torch.zeros(2, *shape)
    rewards, ends = np.zeros((*shape, players), np.float32), np.zeros(shape, np.bool_)
    seats = np.full(shape, NOBODY)

    def chances(rows: torch.Tensor, masks: torch.Tensor) -> Categorical:
        return Categorical(logits=policy(rows).masked_fill(~masks, -torch.inf))

    for _ in range(updates):
        for t in range(players, players + STEPS):
            rows[t], masks[t] = map(torch.as_tensor, (batch.observation, batch.action_mask))
            seats[t] = np.where(batch.action_mask.sum(1) > 1, batch.turn, NOBODY)
            with torch.no_grad():
                drawn, values[t] = chances(rows[t], masks[t]), value(rows[t])[:, 0]
            chosen[t] = drawn.sample()
            old[t] = drawn.log_prob(chosen[t])
            batch.step(chosen[t].numpy())
            rewards[t], ends[t] = batch.reward, batch.terminated
        found = advantages(rewards, values.numpy(), seats, ends, gamma=1.0, gae_lambda=0.95)
        gains, known = torch.from_numpy(found.advantages), torch.from_numpy(found.known)
        data = [array[known] for array in (rows, masks, chosen, old, gains, gains + values)]
        for _ in range(EPOCHS):
            order = torch.randperm(len(data[0]))
            for part in order.chunk(max(1, len(order) // PART)):
                seen, legal, done, before, gain, target = (array[part] for array in data)
                now, gain = chances(seen, legal), (gain - gain.mean()) / (gain.std() + 1e-8)
                ratio = (now.log_prob(done) - before).exp()
                won = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
                error = (value(seen)[:, 0] - target).square().mean()
                optimizer.zero_grad()
                (0.5 * error - won - 0.01 * now.entropy().mean()).backward()
                nn.utils.clip_grad_norm_(parameters, 0.5)
                optimizer.step()
        columns = [array.numpy() for array in (rows, masks, chosen, old, values)]
        found.waiting.carry(rewards, seats, ends, *columns)
    return policy


if __name__ == "__main__":
    for updates in (0, 20):
        agents = as_agent(learn(updates), scaled=True), make_agent("greedy")
        played = duel(agents, Rules.preset(players=2), np.arange(200), episode="hand")
        print(f"after {updates} windows: {played.margins.mean():+.2f} points a hand from greedy")
