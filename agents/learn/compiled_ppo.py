"""Proximal policy optimisation in compiled code: the same bytes for any number of threads.

The tensors of the network in PyTorch share the memory of the weights that learn, so what is saved,
measured and played is always the current policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from agents.learn.ppo import Learner
from fiveup_env.learning import learner as compiled
from fiveup_env.learning.decisions import decisions_of, draw, find_chosen
from fiveup_env.learning.losses import PPO, Loss, Targets
from fiveup_env.learning.networks import Network

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.learn.ppo import Figures
    from agents.learn.rollouts import Choice, Lesson
    from agents.policies.networks import PolicyNetwork
    from agents.runs.config import Config


class CompiledLearner(Learner):
    """A learner in compiled code, which has plain and guided networks with one trunk."""

    def __init__(self, config: Config, network: PolicyNetwork) -> None:
        super().__init__(config, network)
        self._weights = weights_shared_with(network)
        self._learner = compiled.Learner(self._weights, torch.get_num_threads())
        self._reference = self._weights.vector.copy() if config.kl_coef else None

    def choose(
        self,
        rows: np.ndarray,
        masks: np.ndarray,
        truths: np.ndarray | None,
        rng: np.random.Generator,
    ) -> Choice:
        """Draw an action for every row; return it, its log-probability and the position's value."""
        del truths  # what only a critic sees
        decisions = decisions_of(rows, masks, self._weights.columns)
        logs, values = self._learner.evaluate(decisions)
        chosen = np.zeros(len(rows), np.int64)
        draw(decisions, logs, rng.random(len(rows), np.float32), chosen)
        places = decisions.action_ends[:-1] + chosen
        return decisions.actions[places].astype(np.int64), logs[places], values

    def refresh_reference(self) -> None:
        """Make the current policy the reference, if there is one."""
        if self._reference is not None:
            self._reference[:] = self._weights.vector

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of all that is learnt, by name."""
        state = self._arrays()
        return {name: array.copy() for name, array in state.items()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Continue from what another learner's `state` returned."""
        for name, array in self._arrays().items():
            array[:] = arrays[name]

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {
            "weights": self._weights.vector,
            "moments": self._learner.optimizer.moments,
            "steps": self._learner.optimizer.steps,
        }
        return arrays if self._reference is None else arrays | {"reference": self._reference}

    def _stepper(
        self, lesson: Lesson, rate: float, ent_coef: float, *, values_only: bool
    ) -> Callable[[np.ndarray], Figures]:
        config, learner = self.config, self._learner
        decisions = decisions_of(lesson.rows, lesson.masks, self._weights.columns)
        chosen = np.zeros(len(lesson), np.int64)
        find_chosen(decisions, lesson.actions, chosen)
        none = np.zeros(0, np.float32)
        targets = Targets(
            chosen=chosen.astype(np.int32),
            log_probabilities=lesson.log_probabilities,
            advantages=lesson.advantages,
            returns=lesson.returns,
            labels=none,
            reference=none
            if self._reference is None
            else learner.evaluate(decisions, self._reference)[0],
        )
        loss = Loss(
            PPO,
            config.vf_coef,
            config.clip_range,
            ent_coef,
            config.kl_coef,
            normalize_advantage=config.normalize_advantage,
        )

        def step(indices: np.ndarray) -> Figures:
            figures = learner.step(
                decisions,
                targets,
                indices,
                loss,
                rate,
                config.max_grad_norm,
                values_only=values_only,
            )
            if self._reference is None:
                del figures["reference_kl"]
            return figures

        return step


def weights_shared_with(network: PolicyNetwork) -> Network:
    """Return a network's weights for compiled code, whose memory its tensors share from now on."""
    shape = network.shape
    weights = Network(shape.kind, shape.width, shape.depth, shape.encoder)
    weights.load({name: tensor.numpy() for name, tensor in network.state_dict().items()})
    share_weights(network, weights)
    return weights


def share_weights(network: PolicyNetwork, weights: Network) -> None:
    """Make the tensors of a network share the memory of weights in compiled code."""
    for name, array in weights.tensors().items():
        network.get_parameter(name).data = torch.from_numpy(array)
