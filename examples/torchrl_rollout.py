"""TorchRL: hands of four players as TensorDicts, with one masked network in every seat.

The seats are a group, so each tensor has an entry for every seat; `mask` says which was to move.
A trajectory to learn from belongs to one seat: its decisions, and the rewards between them.
"""

from __future__ import annotations

from typing import Any

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor

import fiveup_env
from fiveup_env.rules.actions import ACTION_COUNT


class Network(nn.Module):
    """A network from rows of int8 to a logit for every action."""

    def __init__(self, entries: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(entries, 64), nn.ReLU(), nn.Linear(64, ACTION_COUNT))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        return self.layers(rows / 8)


torch.manual_seed(0)
env = PettingZooWrapper(
    fiveup_env.env(players=4, episode="hand", reward="margin"),
    use_mask=True,
    categorical_actions=True,
    group_map={"seats": [f"player_{seat}" for seat in range(4)]},
    seed=0,
)
rows = ("seats", "observation", "observation")
network = Network(env.observation_spec[rows].shape[-1])
keys: Any = {"logits": ("seats", "logits"), "mask": ("seats", "action_mask")}
policy = ProbabilisticActor(
    TensorDictModule(network, [rows], [("seats", "logits")]),
    in_keys=keys,
    out_keys=[("seats", "action")],
    distribution_class=MaskedCategorical,
)

with torch.no_grad():
    played = env.rollout(200, policy, break_when_any_done=False)
print(f"{len(played)} moves, {int(played['next', 'done'].sum())} hands, by an untrained network:")
moved, rewards = played["seats", "mask"], played["next", "seats", "reward"]
for seat in range(4):
    points = rewards[:, seat].sum()
    print(
        f"seat {seat}: {int(moved[:, seat].sum())} moves, {points:+.0f} points more than the others"
    )
