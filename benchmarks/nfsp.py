"""Train OpenSpiel's NFSP on a mini game, through the adapter; also needs `pip install dm-tree`.

The network and the observation, `flat`, are those of our learner. Rates and buffers are scaled to
so small a game, epsilon falls from 0.2, and the optimisers are Adam. The average policy counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from open_spiel.python import rl_environment
from open_spiel.python.pytorch.nfsp import NFSP

from fiveup_env.doors import openspiel
from fiveup_env.encoders import get_encoder, row_size
from fiveup_env.engine.view import legal_masks

if TYPE_CHECKING:
    from collections.abc import Iterator

ENCODER = get_encoder("flat")


class AveragePolicies:
    """The average policies of NFSP's players, as an agent that reports its probabilities."""

    def __init__(self, players: list[Any]) -> None:
        self._networks = [player._avg_network for player in players]  # noqa: SLF001

    def probabilities(self, views: np.ndarray) -> np.ndarray:
        """Return the probability of every action, a row for each view."""
        rows = np.empty((len(views), row_size(ENCODER)), np.int8)
        ENCODER.encode(views, rows)
        seen = torch.from_numpy(rows).float()
        with torch.inference_mode():
            logits = [network(seen) for network in self._networks]
        own = torch.stack(logits)[torch.from_numpy(views["seat"]).long(), torch.arange(len(views))]
        closed = torch.from_numpy(legal_masks(views) == 0)
        return own.masked_fill(closed, -torch.inf).softmax(1).numpy()


def train(rules: str, seed: int, decisions: int) -> Iterator[tuple[int, AveragePolicies]]:
    """Train, and after every game yield the number of decisions and the average policies so far."""
    environment = rl_environment.Environment(
        openspiel.load(rules, players=2),
        observation_type=rl_environment.ObservationType.OBSERVATION,
    )
    environment.seed(seed)
    players = [
        NFSP(
            player_id=player,
            state_representation_size=row_size(ENCODER),
            num_actions=environment.action_spec()["num_actions"],
            hidden_layers_sizes=[64, 64],
            reservoir_buffer_capacity=200_000,
            anticipatory_param=0.1,
            batch_size=128,
            rl_learning_rate=1e-3,
            sl_learning_rate=1e-3,
            optimizer_str="adam",
            learn_every=16,
            min_buffer_size_to_learn=500,
            replay_buffer_capacity=50_000,
            update_target_network_every=500,
            epsilon_start=0.2,
            epsilon_end=0.01,
            epsilon_decay_duration=decisions // 2,
            seed=seed,
        )
        for player in range(2)
    ]
    made = 0
    while made < decisions:
        step = environment.reset()
        while not step.last():
            chosen = players[step.current_player()].step(step)
            step = environment.step([chosen.action])
            made += 1
        for player in players:
            player.step(step)
        yield made, AveragePolicies(players)
