"""Learning from labelled decisions; a moving average of the weights plays.

Labels are single samples, so the weights that are learnt wander with the last few minibatches
unless the learning rate is very low. Their moving average does not.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import torch
from torch.nn.functional import mse_loss

from agents.learn.compiled_ppo import weights_shared_with
from agents.learn.ppo import minibatches
from agents.policies.weights import arrays_of, put_back
from fiveup_env.learning.adam import scheduled
from fiveup_env.learning.decisions import decisions_of
from fiveup_env.learning.learner import Learner, LossError
from fiveup_env.learning.losses import Loss, Targets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agents.learn.ppo import Figures
    from agents.policies.networks import PolicyNetwork
    from agents.runs.config import Config

    # From the logits of some decisions and their labels to what is made small.
    TorchLoss: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


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


class Averaged(ABC):
    """Networks that are moving averages of copies, which learn from labels.

    Attributes:
        networks: the averages, by name.
        learning: the copies that learn, by name.
    """

    def __init__(
        self, config: Config, networks: Mapping[str, PolicyNetwork], names: Sequence[str]
    ) -> None:
        self.config, self.networks = config, networks
        self._names = names  # those of the losses: of each network's policy and values
        self.learning = {name: copy.deepcopy(network) for name, network in networks.items()}
        self.steps = 0

    def learn(self, examples: Examples, progress: float, rng: np.random.Generator) -> Figures:
        """Learn from examples, and return the mean losses, if there are examples, and the rate."""
        config = self.config
        rate = scheduled(config.learning_rate, config.learning_rate_end, progress)
        if not len(examples.rows):  # no move of a short window left a choice
            return {"learning_rate": rate}
        step = self._stepper(examples, rate)
        losses = []
        for _ in range(config.n_epochs):
            for indices in minibatches(len(examples.rows), config.batch_size, rng):
                losses.append(step(indices))
                self.steps += 1
                # It begins as the mean of all weights so far.
                self._average(max(1 - config.averaging, 1 / self.steps))
        means = dict(zip(self._names, np.mean(losses, 0).tolist(), strict=True))
        return means | {"learning_rate": rate}

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all that is learnt, by name."""

    @abstractmethod
    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what another one's `state` returned."""

    @abstractmethod
    def _stepper(self, examples: Examples, rate: float) -> Callable[[np.ndarray], list[float]]:
        """Return the step function for some examples, which returns the losses."""

    @abstractmethod
    def _average(self, share: float) -> None:
        """Give what is learnt this share in the moving averages."""


class CompiledAveraged(Averaged):
    """Plain and guided networks with one trunk, in compiled code.

    Each is stepped by itself, and its gradient is scaled down by itself.
    """

    def __init__(
        self,
        config: Config,
        networks: Mapping[str, PolicyNetwork],
        names: Sequence[str],
        kind: int,
    ) -> None:
        super().__init__(config, networks, names)
        self._loss = Loss(kind, config.vf_coef)
        self._means = [weights_shared_with(network) for network in networks.values()]
        threads = torch.get_num_threads()
        self._learners = [
            Learner(weights_shared_with(network), threads) for network in self.learning.values()
        ]

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all that is learnt, by name."""
        return {name: array.copy() for name, array in self._arrays().items()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what another one's `state` returned."""
        for name, array in self._arrays().items():
            array[:] = arrays[name]

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {}
        for name, mean, learner in zip(self.networks, self._means, self._learners, strict=True):
            held = learner.optimizer._asdict() | {"mean": mean.vector}
            arrays |= {f"{name}.{part}": array for part, array in held.items()}
        return arrays

    def _stepper(self, examples: Examples, rate: float) -> Callable[[np.ndarray], list[float]]:
        legal = ~np.isnan(examples.labels)
        decisions = decisions_of(examples.rows, legal, self._means[0].columns)
        none = np.zeros(0, np.float32)
        targets = Targets(
            chosen=np.zeros(0, np.int32),
            log_probabilities=none,
            advantages=none,
            returns=examples.returns,
            labels=examples.labels[legal],
            reference=none,
        )

        def step(indices: np.ndarray) -> list[float]:
            losses = []
            for learner in self._learners:
                most = self.config.max_grad_norm
                figures = learner.step(decisions, targets, indices, self._loss, rate, most)
                losses += [figures["policy_loss"], figures["value_loss"]]
            return losses

        return step

    def _average(self, share: float) -> None:
        for mean, learner in zip(self._means, self._learners, strict=True):
            mean.vector += np.float32(share) * (learner.network.vector - mean.vector)


class TorchAveraged(Averaged):
    """One network of any kind, in PyTorch."""

    def __init__(
        self,
        config: Config,
        networks: Mapping[str, PolicyNetwork],
        names: Sequence[str],
        loss: TorchLoss,
    ) -> None:
        super().__init__(config, networks, names)
        self._loss = loss
        (self._mean,), (self._network,) = networks.values(), self.learning.values()
        self._weights = list(self._network.parameters())
        self.optimizer = torch.optim.Adam(self._weights, config.learning_rate, eps=1e-5, fused=True)

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all that is learnt, by name."""
        return arrays_of(self._modules, self.optimizer)

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what another one's `state` returned."""
        put_back(arrays, self._modules, self.optimizer)

    @property
    def _modules(self) -> dict[str, torch.nn.Module]:
        return {"network": self._mean, "learning": self._network}

    def _stepper(self, examples: Examples, rate: float) -> Callable[[np.ndarray], list[float]]:
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        arrays = [torch.from_numpy(array) for array in examples]

        def step(indices: np.ndarray) -> list[float]:
            chosen = torch.from_numpy(indices)
            return self._step(*(array[chosen] for array in arrays))

        return step

    def _step(self, rows: torch.Tensor, labels: torch.Tensor, returns: torch.Tensor) -> list[float]:
        """Make one step on a minibatch; return the policy's loss and that of the values."""
        logits, expected = self._network(rows)
        losses = [self._loss(logits, labels), value_loss(expected, returns)]
        loss = losses[0] + self.config.vf_coef * losses[1]
        if not torch.isfinite(loss):
            raise LossError(f"the loss is {loss.item()}")
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._weights, self.config.max_grad_norm)
        self.optimizer.step()
        return [part.item() for part in losses]

    @torch.no_grad()
    def _average(self, share: float) -> None:
        for mean, weight in zip(self._mean.parameters(), self._weights, strict=True):
            mean.lerp_(weight, share)


def value_loss(values: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """Return the mean square error of values, where the return is known."""
    known = ~returns.isnan()
    if not known.any():
        return values.sum() * 0
    return mse_loss(values[known], returns[known])
