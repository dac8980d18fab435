"""Tianshou: PPO learns from every seat of 32 games, with one method of its own.

Tianshou's `PettingZooEnv` says whose turn it is, and what each move brought every seat. PPO takes
the advantages of `seat_advantages` in place of those of a single player.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.discrete import dist_fn_categorical_from_logits
from tianshou.utils.torch_utils import policy_within_training_step
from torch import nn

import fiveup_env
from fiveup_env import Rules, as_agent, make_agent
from fiveup_env.arena import duel
from fiveup_env.seats import NOBODY, seat_advantages

GAMES, STEPS = 32, 512
torch.set_num_threads(1)  # the networks are too small for more


class SeatsPPO(PPO):  # type: ignore[misc]
    """PPO with the advantages of every seat by itself."""

    def _add_returns_and_advantages(self, batch: Any, _buffer: Any, _indices: Any) -> Any:
        batch.v_s = self.critic(batch.obs).flatten().detach()
        own = [int(name.removeprefix("player_")) for name in batch.obs.agent_id]
        seats = np.where(batch.obs.mask.sum(1) > 1, own, NOBODY)
        rewards, values, seats, ends = (  # game after game, so tick by tick
            array.reshape(GAMES, -1, *array.shape[1:]).swapaxes(0, 1)
            for array in (batch.rew, batch.v_s.numpy(), seats, batch.terminated)
        )
        found = seat_advantages(rewards, values, seats, ends, self.gamma, self.gae_lambda)
        batch.adv = torch.from_numpy(found.advantages.T.flatten())
        batch.returns = batch.v_s + batch.adv
        return batch[found.known.T.flatten()]


class Network(nn.Module):
    """A network of rows, which leaves out what the masks forbid."""

    def __init__(self, outputs: int, *, masked: bool) -> None:
        super().__init__()
        inner = nn.Linear(557, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
        self.layers, self.masked = nn.Sequential(*inner, nn.Linear(128, outputs)), masked

    def forward(self, obs: Any, state: Any = None, info: Any = None) -> Any:
        """Return logits and the state, or values."""
        del info
        out = self.layers(torch.as_tensor(obs.obs))
        if not self.masked:
            return out
        return out.masked_fill(~torch.as_tensor(obs.mask).bool(), -torch.inf), state


def learn(updates: int, players: int = 2, seed: int = 0, algorithm: Any = SeatsPPO) -> nn.Module:
    """Return a policy that has learnt from this many windows."""
    torch.manual_seed(seed)
    options: Any = {"players": players, "episode": "hand", "reward": "margin", "scaled": True}
    games = DummyVectorEnv([lambda: PettingZooEnv(fiveup_env.env(**options))] * GAMES)
    actor, critic = Network(121, masked=True), Network(1, masked=False)
    policy = ProbabilisticActorPolicy(
        actor=actor,
        dist_fn=dist_fn_categorical_from_logits,
        action_space=games.action_space[0],
        action_scaling=False,
    )
    adam = AdamOptimizerFactory(lr=1e-3, eps=1e-5)
    ppo = algorithm(
        policy=policy,
        critic=critic,
        optim=adam,
        gamma=1.0,
        gae_lambda=0.95,
        advantage_normalization=True,
        ent_coef=0.01,
        max_grad_norm=0.5,
    )
    collector: Any = Collector(policy, games, VectorReplayBuffer(GAMES * STEPS, GAMES))
    collector.reset(gym_reset_kwargs={"seed": seed})
    with policy_within_training_step(policy):
        for _ in range(updates):
            collector.collect(n_step=GAMES * STEPS)
            ppo.update(buffer=collector.buffer, batch_size=1024, repeat=4)
            collector.reset_buffer()
    return actor.layers


if __name__ == "__main__":
    for updates in (0, 10):
        agents = as_agent(learn(updates), scaled=True), make_agent("greedy")
        played = duel(agents, Rules.preset(players=2), np.arange(200), episode="hand")
        print(f"after {updates} windows: {played.margins.mean():+.2f} points a hand from greedy")
