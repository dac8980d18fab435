"""A network that learns from decisions, in any number of threads with the same result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.engine.interpreted import uncompiled
from fiveup_env.errors import FiveUpError
from fiveup_env.learning.adam import add_parts
from fiveup_env.learning.gradients import PART, evaluate, memory_for
from fiveup_env.learning.losses import FIGURES, scales_of
from fiveup_env.learning.steps import (
    MOST_RATE,
    Optimizer,
    change,
    mirror,
    shrink_of,
    work_for,
    write_gradients,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.learning.decisions import Decisions
    from fiveup_env.learning.losses import Loss, Targets
    from fiveup_env.learning.networks import Network


NAMES: Final = (*FIGURES, "gradient")  # of the figures of a step


class LossError(FiveUpError):
    """A loss that is no longer a finite number; the weights are those before the step."""


class Learner:
    """A network, its gradients and the state of Adam.

    Args:
        network: The network, whose weights change.
        threads: The number of threads, on which nothing that is computed depends.

        optimizer: What steps change, beside the weights; None begins anew.
    """

    def __init__(
        self, network: Network, threads: int = 1, optimizer: Optimizer | None = None
    ) -> None:
        self.network = network
        vector = network.vector
        self.optimizer = optimizer or Optimizer(
            vector, np.zeros((2, vector.size), np.float32), np.zeros(2, np.int64)
        )
        self.memory = [uncompiled(memory_for, network.weights) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(max(1, threads - 1))  # beside this one
        self._work = uncompiled(work_for, network.shape, vector, 1)

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

        def work(thread: int, first: int, end: int) -> None:
            part, memory = samples[first:end], self.memory[thread]
            evaluate(weights, network.factors, decisions, part, memory, logs, values)

        self.share(decisions.size, work)
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
        parts = self._add_gradients(decisions, targets, samples, loss)
        total = self._work.figures[:parts, :-1].cumsum(0)[-1]
        return self._work.gradients[0], dict(zip(FIGURES, total.tolist(), strict=True))

    def _add_gradients(
        self, decisions: Decisions, targets: Targets, samples: np.ndarray, loss: Loss
    ) -> int:
        """Add up the gradients of a minibatch's parts in that of the first; return their number."""
        network, parts = self.network, -(-len(samples) // PART)
        if parts > len(self._work.gradients):
            self._work = uncompiled(work_for, network.shape, network.vector, parts)
        shape, vector, work = network.shape, network.vector, self._work
        mirror(shape, vector, work.inner)
        scales = scales_of(loss, targets, decisions, samples)

        def write(thread: int, first: int, end: int) -> None:
            write_gradients(
                shape,
                vector,
                network.factors,
                decisions,
                targets,
                samples,
                loss,
                scales,
                self.memory[thread],
                work,
                first,
                end,
            )

        def add(_thread: int, first: int, end: int) -> None:
            add_parts(work.gradients, parts, work.squares, first, end)

        self.share(parts, write)
        self.share(len(work.squares), add)
        return parts

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
        parts, shape = self._add_gradients(decisions, targets, samples, loss), self.network.shape
        work, optimizer, group = self._work, self.optimizer, int(values_only)
        shrink = shrink_of(shape, optimizer, work, parts, max_grad_norm, group)
        figures = dict(zip(NAMES, work.figures[0].tolist(), strict=True))
        if np.isnan(shrink):
            raise LossError(
                f"the loss is {next(n for n in figures.values() if not np.isfinite(n))}"
            )

        def move(_thread: int, first: int, end: int) -> None:
            change(shape, optimizer, work.gradients, rate, shrink, group, first, end)

        self.share(len(work.squares), move)
        return figures

    def share(self, count: int, work: Callable[[int, int, int], None]) -> None:
        """Let each thread do its share of some pieces of work, from the first to before the end."""
        threads = len(self.memory)
        ends = [count * thread // threads for thread in range(threads + 1)]
        others = [
            self._pool.submit(work, thread, ends[thread], ends[thread + 1])
            for thread in range(1, threads)
        ]
        work(0, 0, ends[1])
        for done in others:
            done.result()
