"""A network that learns from decisions, in any number of threads with the same result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.errors import FiveUpError
from fiveup_env.learning.gradients import evaluate, memory_for
from fiveup_env.learning.lanes import zeros
from fiveup_env.learning.losses import FIGURES
from fiveup_env.learning.steps import (
    MOST_RATE,
    Optimizer,
    add_gradients,
    make_step,
    part_count,
    work_for,
)
from fiveup_env.learning.threads import Threads, share_of
from fiveup_env.native import uncompiled

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions
    from fiveup_env.learning.losses import Loss, Targets
    from fiveup_env.learning.networks import Network
    from fiveup_env.learning.steps import Work
    from fiveup_env.learning.threads import Crew

NAMES: Final = (*FIGURES, "gradient")  # of the figures of a step


class LossError(FiveUpError):
    """A loss that is no longer a finite number; the weights are those before the step."""


class Learner:
    """A network, its gradients and the state of Adam.

    Args:
        network: The network, whose weights change.
        threads: The number of threads, on which nothing that is computed depends.
    """

    def __init__(self, network: Network, threads: int = 1) -> None:
        self.network = network
        vector = network.vector
        self.optimizer = Optimizer(
            vector, uncompiled(zeros, (2, vector.size), np.float32), np.zeros(2, np.int64)
        )
        self._threads = Threads(threads)
        self._memory = [uncompiled(memory_for, network.weights) for _ in range(threads)]
        self._work = uncompiled(work_for, vector, 1)

    def evaluate(
        self, decisions: Decisions, vector: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the log-probabilities of all legal actions, and the value of every decision.

        They are those of the network, or of another one with these weights.
        """
        network = self.network
        weights = network.weights if vector is None else network.arrays_in(vector)
        logs = np.empty(len(decisions.actions), network.vector.dtype)
        values = np.empty(decisions.size, network.vector.dtype)
        samples = np.arange(decisions.size)

        def work(crew: Crew) -> None:
            first, end = uncompiled(share_of, decisions.size, crew)
            part, memory = samples[first:end], self._memory[crew.thread]
            evaluate(weights, network.factors, decisions, part, memory, logs, values)

        self._threads.run(work)
        return logs, values

    def gradient(
        self, decisions: Decisions, targets: Targets, samples: np.ndarray, loss: Loss
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Return the gradient of a minibatch, in memory that the next one overwrites; and figures.

        Args:
            decisions: The decisions.
            targets: What they are learnt from.
            samples: The indices of those in the minibatch, at least one.
            loss: What is made small.
        """
        network, work = self.network, self._work_for(samples)
        given = network.shape, network.vector, network.factors, decisions, targets, samples, loss
        self._threads.run(
            lambda crew: add_gradients(*given, 0, self._memory[crew.thread], work, crew)
        )
        total = work.figures[: uncompiled(part_count, len(samples)), :-1].cumsum(0)[-1]
        return work.gradients[0, : network.vector.size], dict(
            zip(FIGURES, total.tolist(), strict=True)
        )

    def step(
        self,
        decisions: Decisions,
        targets: Targets,
        samples: np.ndarray,
        loss: Loss,
        rate: float,
        max_grad_norm: float,
        *,
        values_only: bool = False,
    ) -> dict[str, float]:
        """Make one step of Adam on a minibatch, and return its figures.

        With `values_only`, only the weights change that no logit depends on. Takes what `gradient`
        takes, the learning rate, and the norm from which on a gradient is scaled down.

        Raises:
            LossError: If the loss, its gradient or the learning rate is not finite; then nothing
                has changed.
        """
        if not 0 <= rate <= MOST_RATE:
            raise LossError(f"a learning rate is from 0 to {MOST_RATE:g}, not {rate}")
        network, work = self.network, self._work_for(samples)
        given = network.shape, self.optimizer, network.factors, decisions, targets, samples, loss
        how = rate, max_grad_norm, int(values_only)
        if not self._threads.run(
            lambda crew: make_step(*given, *how, self._memory[crew.thread], work, crew)
        ):
            raise LossError(why_not_finite(work))
        return dict(zip(NAMES, work.figures[0].tolist(), strict=True))

    def _work_for(self, samples: np.ndarray) -> Work:
        """Return memory for a step on a minibatch."""
        if uncompiled(part_count, len(samples)) > len(self._work.gradients):
            self._work = uncompiled(work_for, self.network.vector, len(samples))
        return self._work


def why_not_finite(work: Work) -> str:
    """Return the reason why a step failed, as a sentence."""
    return f"the loss is {next(n for n in work.figures[0] if not np.isfinite(n))}"
