"""What tests of networks and learners share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from agents.learn.all_actions import AllActions
from agents.learn.expert import Expert
from agents.policies.networks import PolicyNetwork, Shape, build

# A small run of a learner from labels.
SMALL: Final[dict[str, Any]] = {
    "network": "guided", "shared": True, "width": 16, "games": 64, "n_steps": 8, "batch_size": 64,
    "reward": "outlook", "threads": 1,
}  # fmt: skip


def noisy(shape: Shape, seed: int = 1, noise: float = 0.3) -> PolicyNetwork:
    """A network with noise in all its weights, of which some are 0 at first."""
    torch.manual_seed(seed)
    network = build(shape)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(torch.randn_like(weight), alpha=noise)
    return network


def difference_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean square error of the differences between the actions of a decision.

    Labels are NaN where an action is not legal.
    """
    legal = ~labels.isnan()
    errors = torch.where(legal, logits - labels.nan_to_num(), 0)
    counts = legal.sum(1, keepdim=True)
    errors = torch.where(legal, errors - errors.sum(1, keepdim=True) / counts, 0)
    return errors.square().sum() / counts.sum()


def check_continues(make: Callable[[], AllActions | Expert], updates: int) -> None:
    """Assert that a run continues bit for bit from the state after its first two updates."""
    first, second = make(), make()
    for number in range(2):
        first.update(number / 10)
    arrays, about = first.state()
    second.restore(arrays, about)
    for number in range(2, updates):
        assert first.update(number / 10) == second.update(number / 10)
    (ours, counts), (theirs, others) = first.state(), second.state()
    assert counts == others
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert np.array_equal(array, theirs[name]), name
