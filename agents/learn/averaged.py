"""Learning from labelled decisions; a moving average of the weights plays.

Labels are single samples, so the weights that are learnt wander with the last few minibatches
unless the learning rate is very low. Their moving average does not.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import torch
from torch.nn.functional import mse_loss

from agents.learn.ppo import minibatches
from fiveup_env.learning.adam import scheduled
from fiveup_env.learning.learner import LossError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agents.learn.ppo import Figures
    from agents.policies.networks import PolicyNetwork
    from agents.runs.config import Config

    # From the logits of some decisions and their labels to what is made small.
    Loss: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Examples(NamedTuple):
    """Labelled decisions, one per row."""

    rows: np.ndarray  # as the encoder writes them (int8)
    labels: np.ndarray  # what every action brought, by its stakes; NaN if it is not legal (float32)
    returns: np.ndarray  # the reward that the chosen action brought, or NaN (float32)

    @classmethod
    def labelled(
        cls, rows: np.ndarray, rewards: np.ndarray, stakes: np.ndarray, returns: np.ndarray
    ) -> Examples:
        """Return the decisions of which anything is known: what actions brought, or NaN."""
        labels = (rewards / stakes[:, None]).astype(np.float32)
        known = ~np.isnan(labels).all(1)
        return cls(rows[known], labels[known], returns.astype(np.float32)[known])


class Averaged:
    """Networks, their copies that learn, and the optimizer. The networks are moving averages."""

    def __init__(
        self,
        config: Config,
        networks: Mapping[str, PolicyNetwork],
        loss: Loss,
        names: Sequence[str],
    ) -> None:
        self.config, self.networks = config, networks
        self._loss, self._names = loss, names  # those of the losses, in the order of `step`
        self.learning = {name: copy.deepcopy(network) for name, network in networks.items()}
        self._weights = _weights_of(self.learning)
        self.optimizer = torch.optim.Adam(self._weights, config.learning_rate, eps=1e-5, fused=True)
        self.steps = 0

    def modules(self) -> dict[str, torch.nn.Module]:
        """Return all networks by name, for checkpoints."""
        learning = {f"learning_{name}": network for name, network in self.learning.items()}
        return {**self.networks, **learning}

    def learn(self, examples: Examples, progress: float, rng: np.random.Generator) -> Figures:
        """Learn from examples, and return the mean losses, if there are examples, and the rate."""
        config = self.config
        rate = scheduled(config.learning_rate, config.learning_rate_end, progress)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if not len(examples.rows):  # no move of a short window left a choice
            return {"learning_rate": rate}
        arrays = [torch.from_numpy(array) for array in examples]
        losses = [
            self.step(*(array[torch.from_numpy(indices)] for array in arrays))
            for _ in range(config.n_epochs)
            for indices in minibatches(len(examples.rows), config.batch_size, rng)
        ]
        means = dict(zip(self._names, np.mean(losses, 0).tolist(), strict=True))
        return means | {"learning_rate": rate}

    def step(self, rows: torch.Tensor, labels: torch.Tensor, returns: torch.Tensor) -> list[float]:
        """Make one step on a minibatch; return each network's loss and that of its values."""
        losses = []
        for network in self.learning.values():
            logits, expected = network(rows)
            losses += [self._loss(logits, labels), value_loss(expected, returns)]
        policies, values = torch.stack(losses[::2]).sum(), torch.stack(losses[1::2]).sum()
        loss = policies + self.config.vf_coef * values
        if not torch.isfinite(loss):
            raise LossError(f"the loss is {loss.item()}")
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._weights, self.config.max_grad_norm)
        self.optimizer.step()
        self._average()
        return [part.item() for part in losses]

    @torch.no_grad()
    def _average(self) -> None:
        """Update the moving average; it begins as the mean of all weights so far."""
        self.steps += 1
        share = max(1 - self.config.averaging, 1 / self.steps)
        for mean, weight in zip(_weights_of(self.networks), self._weights, strict=True):
            mean.lerp_(weight, share)


def value_loss(values: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """Return the mean square error of values, where the return is known."""
    known = ~returns.isnan()
    if not known.any():
        return values.sum() * 0
    return mse_loss(values[known], returns[known])


def _weights_of(networks: Mapping[str, PolicyNetwork]) -> list[torch.nn.Parameter]:
    return [weight for network in networks.values() for weight in network.parameters()]
