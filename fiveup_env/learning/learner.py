"""A network that learns from decisions, in any number of threads with the same result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.errors import FiveUpError
from fiveup_env.learning.adam import BLOCK, adam, add_parts
from fiveup_env.learning.gradients import PART, evaluate, memory_for, write_gradient
from fiveup_env.learning.losses import FIGURES, scales_of
from fiveup_env.learning.trunks import Inner

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.learning.decisions import Decisions
    from fiveup_env.learning.losses import Loss, Targets
    from fiveup_env.learning.networks import Network


MOST_RATE: Final = 1e30  # with which a step is still a number


class LossError(FiveUpError):
    """A loss that is no longer a finite number; the weights are those before the step."""


class Learner:
    """A network, its gradients and the state of Adam.

    Args:
        network: The network, whose weights change.
        threads: The number of threads, on which nothing that is computed depends.

    Attributes:
        moments: the moving averages of the gradient and of its square [2 x weights].
        steps: the steps made with the policy's weights, and with those of values alone.
    """

    def __init__(self, network: Network, threads: int = 1) -> None:
        self.network = network
        size = network.vector.size
        self.moments = np.zeros((2, size), np.float32)
        self.steps = np.zeros(2, np.int64)
        weights = network.weights
        self._inner = Inner(np.empty_like(weights.inner), np.empty_like(weights.outer))
        self._memory = [memory_for(weights) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._squares = np.zeros(-(-size // BLOCK), network.vector.dtype)
        self._groups = slice(0, network.policy_size), slice(network.policy_size, size)
        self._make_parts(1)

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
            part, memory = samples[first:end], self._memory[thread]
            evaluate(weights, network.factors, decisions, part, memory, logs, values)

        self._share(decisions.size, work)
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
        network, parts = self.network, -(-len(samples) // PART)
        if parts > len(self._gradients):
            self._make_parts(parts)
        for matrices, mirror in zip(
            (network.weights.inner, network.weights.outer), self._inner, strict=True
        ):
            mirror[:] = matrices.transpose(0, 2, 1)
        scales = scales_of(loss, targets, decisions, samples)

        def work(thread: int, first: int, end: int) -> None:
            for part in range(first, end):
                write_gradient(
                    network.weights,
                    self._inner,
                    network.factors,
                    decisions,
                    samples[part * PART : (part + 1) * PART],
                    targets,
                    loss,
                    scales,
                    self._memory[thread],
                    self._gradients[part],
                    self._arrays[part],
                    self._figures[part],
                )

        self._share(parts, work)
        self._add(parts)
        total = self._figures[:parts].cumsum(0)[-1]
        return self._gradients[0], dict(zip(FIGURES, total.tolist(), strict=True))

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
        gradient, figures = self.gradient(decisions, targets, samples, loss)
        start = self.network.policy_size if values_only else 0
        if values_only:
            gradient[:start] = 0
            self._add(1)
        norm = float(np.sqrt(self._squares.cumsum(dtype=np.float64)[-1]))
        figures["gradient"] = norm
        for number in figures.values():
            if not np.isfinite(number):
                raise LossError(f"the loss is {number}")
        shrink = min(1.0, max_grad_norm / (norm + 1e-6))
        for group, part in enumerate(self._groups):
            if part.start >= start:
                self.steps[group] += 1
                weights = self.network.vector[part]
                adam(
                    weights, gradient[part], self.moments[:, part], self.steps[group], rate, shrink
                )
        return figures

    def _add(self, parts: int) -> None:
        """Add up the gradients of parts into that of the first, and the squares of its numbers."""

        def work(_thread: int, first: int, end: int) -> None:
            add_parts(self._gradients, parts, self._squares, first, end)

        self._share(len(self._squares), work)

    def _make_parts(self, parts: int) -> None:
        """Make memory for the gradients of parts."""
        network = self.network
        self._figures = np.zeros((parts, len(FIGURES)))
        self._gradients = np.zeros((parts, network.vector.size), network.vector.dtype)
        self._arrays = [network.arrays_in(vector) for vector in self._gradients]

    def _share(self, count: int, work: Callable[[int, int, int], None]) -> None:
        """Let each thread do its share of some pieces of work, from the first to before the end."""
        if self._pool is None:
            work(0, 0, count)
            return
        threads = len(self._memory)
        ends = [count * thread // threads for thread in range(threads + 1)]
        for done in [
            self._pool.submit(work, thread, ends[thread], ends[thread + 1])
            for thread in range(threads)
        ]:
            done.result()
