"""Proximal policy optimisation of a network on the decisions of a window.

The hyperparameters are those of sb3-contrib's MaskablePPO. Its class is not used for self-play: its
buffer treats the steps of a game as those of one player, and its loop can neither carry decisions
over from window to window nor resume, bit for bit, from a checkpoint.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import mse_loss

from agents.policies.networks import Critic, entropy_of, masked_log_probabilities
from agents.policies.weights import arrays_of, put_back
from fiveup_env.learning.adam import scheduled
from fiveup_env.learning.learner import LossError

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.learn.rollouts import Choice, Lesson
    from agents.policies.networks import PolicyNetwork
    from agents.runs.config import Config

Figures = dict[str, float]


class Learner(ABC):
    """A policy's network, what it is trained with, and its reference policy if it has one.

    Attributes:
        config: the settings of the run.
        network: the network, as it is now.
        critic: the separate critic, if there is one.
    """

    critic: Critic | None = None

    def __init__(self, config: Config, network: PolicyNetwork) -> None:
        self.config, self.network = config, network

    def learn(
        self,
        lesson: Lesson,
        progress: float,
        rng: np.random.Generator,
        *,
        values_only: bool = False,
    ) -> Figures:
        """Learn from the decisions of a window; `progress` is the share of the run that is done.

        With `values_only`, only what computes values and no logits is changed.
        """
        config = self.config
        rate = scheduled(config.learning_rate, config.learning_rate_end, progress)
        ent_coef = scheduled(config.ent_coef, config.ent_coef_end, progress)
        step = self._stepper(lesson, rate, ent_coef, values_only=values_only)
        steps = [
            step(indices)
            for _ in range(config.n_epochs)
            for indices in minibatches(len(lesson), config.batch_size, rng)
        ]
        figures = {name: float(np.mean([step[name] for step in steps])) for name in steps[0]}
        unexplained = (lesson.returns - lesson.values).var() / max(lesson.returns.var(), 1e-8)
        return figures | {"explained_variance": 1 - float(unexplained), "learning_rate": rate}

    @abstractmethod
    def choose(
        self,
        rows: np.ndarray,
        masks: np.ndarray,
        truths: np.ndarray | None,
        rng: np.random.Generator,
    ) -> Choice:
        """Draw an action for every row; return it, its log-probability and the position's value."""

    @abstractmethod
    def refresh_reference(self) -> None:
        """Make the current policy the reference, if there is one."""

    @abstractmethod
    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all that is learnt, by name."""

    @abstractmethod
    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what another learner's `state` returned."""

    @abstractmethod
    def _stepper(
        self, lesson: Lesson, rate: float, ent_coef: float, *, values_only: bool
    ) -> Callable[[np.ndarray], Figures]:
        """Return the step function for decisions of a window, which returns its figures."""


class TorchLearner(Learner):
    """A learner in PyTorch, which has all networks and critics."""

    def __init__(self, config: Config, network: PolicyNetwork) -> None:
        super().__init__(config, network)
        self.critic = Critic(network.shape) if config.oracle else None
        self.reference = copy.deepcopy(self.network) if config.kl_coef else None
        learnt = [list(self.network.parameters())]
        if self.critic:
            learnt.append(list(self.critic.parameters()))
        self._parameters = [weight for weights in learnt for weight in weights]
        groups = [{"params": weights} for weights in learnt]
        self.optimizer = torch.optim.Adam(groups, config.learning_rate, eps=1e-5, fused=True)

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all that is learnt, by name."""
        return arrays_of(self._modules, self.optimizer)

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what another learner's `state` returned."""
        put_back(arrays, self._modules, self.optimizer)

    @property
    def _modules(self) -> dict[str, torch.nn.Module]:
        modules = {"network": self.network, "critic": self.critic, "reference": self.reference}
        return {name: module for name, module in modules.items() if module}

    @torch.inference_mode()
    def choose(
        self,
        rows: np.ndarray,
        masks: np.ndarray,
        truths: np.ndarray | None,
        rng: np.random.Generator,
    ) -> Choice:
        """Draw an action for every row; return it, its log-probability and the position's value."""
        seen = torch.from_numpy(rows)
        logits, values = self.network(seen)
        if self.critic:
            values = self.critic(seen, torch.from_numpy(truths))
        logs = masked_log_probabilities(logits, torch.from_numpy(masks))
        return *draw(logs, rng), values.numpy()

    def refresh_reference(self) -> None:
        """Make the current policy the reference, if there is one."""
        if self.reference:
            self.reference.load_state_dict(self.network.state_dict())

    def _stepper(
        self, lesson: Lesson, rate: float, ent_coef: float, *, values_only: bool
    ) -> Callable[[np.ndarray], Figures]:
        policy, *critic = self.optimizer.param_groups
        policy["lr"] = rate
        for group in critic:
            group["lr"] = rate * self.config.critic_scale
        tensors = tensors_of(lesson)

        def step(indices: np.ndarray) -> Figures:
            chosen = torch.from_numpy(indices)
            part = {name: tensor[chosen] for name, tensor in tensors.items()}
            return self._step(part, ent_coef, values_only=values_only)

        return step

    def _step(
        self, part: dict[str, torch.Tensor], ent_coef: float, *, values_only: bool = False
    ) -> Figures:
        """Make one step of the optimizer on a minibatch, and return its figures."""
        config = self.config
        logits, values = self.network(part["rows"])
        logs = masked_log_probabilities(logits, part["masks"])
        change = logs.gather(1, part["actions"][:, None])[:, 0] - part["log_probabilities"]
        policy_loss = -_clipped(change.exp(), self._scaled(part["advantages"]), config.clip_range)
        entropy = entropy_of(logs).mean()
        value_loss = mse_loss(values, part["returns"])
        if self.critic:
            value_loss = value_loss + mse_loss(
                self.critic(part["rows"], part["truths"]), part["returns"]
            )
        loss = policy_loss - ent_coef * entropy + config.vf_coef * value_loss
        divergence = torch.zeros(())
        if self.reference:
            divergence = self._divergence(logs, part)
            loss = loss + config.kl_coef * divergence
        if not torch.isfinite(loss):
            raise LossError(f"the loss is {loss.item()}")
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if values_only:
            self._forget_policy_gradients()
        gradient_norm = torch.nn.utils.clip_grad_norm_(self._parameters, config.max_grad_norm)
        self.optimizer.step()
        with torch.no_grad():
            figures = {
                "policy_loss": policy_loss,
                "value_loss": value_loss,
                "entropy": entropy,
                "kl": (change.exp() - 1 - change).mean(),
                "clip_fraction": ((change.exp() - 1).abs() > config.clip_range).float().mean(),
                "gradient": gradient_norm,
            }
            if self.reference:
                figures["reference_kl"] = divergence
            return {name: value.item() for name, value in figures.items()}

    def _forget_policy_gradients(self) -> None:
        """Drop the gradients of all of the network that its logits depend on."""
        for name, weight in self.network.named_parameters():
            if not name.startswith(("value_head.", "value_trunk.")):
                weight.grad = None

    def _scaled(self, advantages: torch.Tensor) -> torch.Tensor:
        if not self.config.normalize_advantage:
            return advantages
        deviation = advantages.std(correction=min(1, len(advantages) - 1))
        return (advantages - advantages.mean()) / (deviation + 1e-8)

    def _divergence(self, logs: torch.Tensor, part: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return the exact KL(policy, reference), averaged over the rows."""
        assert self.reference is not None
        with torch.no_grad():
            theirs = masked_log_probabilities(self.reference(part["rows"])[0], part["masks"])
        forbidden = part["masks"] == 0
        differences = logs.masked_fill(forbidden, 0) - theirs.masked_fill(forbidden, 0)
        return (logs.exp() * differences).sum(1).mean()


def draw(logs: torch.Tensor, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw an action for every row of log-probabilities; return it and its log-probability."""
    heights = logs.exp().cumsum(1)
    drawn = torch.from_numpy(rng.random((len(logs), 1), np.float32)) * heights[:, -1:]
    actions = (heights > drawn).to(torch.int8).argmax(1)
    return actions.numpy(), logs.gather(1, actions[:, None])[:, 0].numpy()


def _clipped(ratio: torch.Tensor, advantages: torch.Tensor, clip: float) -> torch.Tensor:
    """Return the mean gain, of which changes of a probability beyond the clip add nothing."""
    return torch.min(advantages * ratio, advantages * ratio.clamp(1 - clip, 1 + clip)).mean()


def tensors_of(lesson: Lesson) -> dict[str, torch.Tensor]:
    """Return the arrays of a window, and the targets of the values, by name."""
    arrays: dict[str, Any] = {
        name: torch.from_numpy(array) for name, array in vars(lesson).items() if array is not None
    }
    return arrays | {"returns": torch.from_numpy(lesson.returns)}


def minibatches(count: int, size: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the indices of some decisions in a random order, in parts of about this size."""
    return np.array_split(rng.permutation(count), max(1, round(count / size)))
