"""Steps of the optimizer, each on a minibatch, in parts of work that threads may share out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.learning.adam import BLOCK, adam, add_parts
from fiveup_env.learning.gradients import PART, Memory, write_gradient
from fiveup_env.learning.losses import FIGURES, Loss, Scales, Targets, scales_of
from fiveup_env.learning.networks import Shape, policy_size, weights_in
from fiveup_env.learning.trunks import Inner

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions

MOST_RATE: Final = 1e30  # with which a step is still a number
GRADIENT: Final = len(FIGURES)  # where the norm of the gradient is among the figures of a step


class Work(NamedTuple):
    """What steps need beside the network."""

    inner: Inner
    gradients: np.ndarray  # of each part of a minibatch
    figures: np.ndarray  # likewise, and in the first row at last those of the step
    squares: np.ndarray  # of the gradient, by block


class Optimizer(NamedTuple):
    """A network's weights, and what Adam knows of them."""

    vector: np.ndarray
    moments: np.ndarray  # the moving averages of the gradient and of its square
    steps: np.ndarray  # made with the policy's weights, and with those of values alone


@compiled
def work_for(shape: Shape, vector: Array, parts: int) -> Work:
    """Return memory for steps on minibatches of so many parts."""
    weights, kind = weights_in(vector, shape), vector.dtype
    inner = Inner(np.empty(weights.inner.shape, kind), np.empty(weights.outer.shape, kind))
    blocks = (len(vector) + BLOCK - 1) // BLOCK
    return Work(
        inner,
        np.zeros((parts, len(vector)), kind),
        np.zeros((parts, GRADIENT + 1)),
        np.zeros(blocks, kind),
    )


@compiled
def mirror(shape: Shape, vector: Array, inner: Inner) -> None:
    """Write the square matrices as backward passes read them."""
    weights = weights_in(vector, shape)
    for matrices, mirrored in ((weights.inner, inner.inner), (weights.outer, inner.outer)):
        for k in range(len(matrices)):
            for i in range(shape.width):
                for j in range(shape.width):
                    mirrored[k, j, i] = matrices[k, i, j]


@compiled
def write_gradients(
    shape: Shape,
    vector: Array,
    factors: Array,
    decisions: Decisions,
    targets: Targets,
    samples: Array,
    loss: Loss,
    scales: Scales,
    memory: Memory,
    work: Work,
    first: int,
    end: int,
) -> None:
    """Write the gradients and the figures of some parts of a minibatch."""
    weights = weights_in(vector, shape)
    for part in range(first, end):
        own = samples[part * PART : (part + 1) * PART]
        write_gradient(
            weights,
            work.inner,
            factors,
            decisions,
            own,
            targets,
            loss,
            scales,
            memory,
            work.gradients[part],
            weights_in(work.gradients[part], shape),
            work.figures[part],
        )


@compiled
def shrink_of(
    shape: Shape, optimizer: Optimizer, work: Work, parts: int, max_grad_norm: float, group: int
) -> float:
    """Return what a step multiplies its gradient by, or NaN if something is not finite.

    The gradient is that of the first part, to which the others are added. The figures of all parts
    are added up in the first row, which also gets the norm. The first group of weights that changes
    is 0, or 1 for those alone that only values depend on.
    """
    figures = work.figures[0]
    if group:
        work.gradients[0, : policy_size(shape)] = 0
        add_parts(work.gradients, 1, work.squares, 0, len(work.squares))
    total = 0.0
    for square in work.squares:
        total += square
    for part in range(1, parts):
        for name in range(GRADIENT):
            figures[name] += work.figures[part, name]
    figures[GRADIENT] = np.sqrt(total)
    for figure in figures:
        if not np.isfinite(figure):
            return np.nan
    for each in range(group, 2):
        optimizer.steps[each] += 1
    return min(1.0, max_grad_norm / (figures[GRADIENT] + 1e-6))


@compiled
def change(
    shape: Shape,
    optimizer: Optimizer,
    gradients: Array,
    rate: float,
    shrink: float,
    group: int,
    first: int,
    end: int,
) -> None:
    """Change some blocks of weights by the gradient in the first row."""
    policy, size = policy_size(shape), len(optimizer.vector)
    for each in range(group, 2):
        begin = max(first * BLOCK, policy if each else 0)
        stop = min(end * BLOCK, size if each else policy)
        if begin < stop:
            adam(
                optimizer.vector[begin:stop],
                gradients[0, begin:stop],
                optimizer.moments[:, begin:stop],
                optimizer.steps[each],
                rate,
                shrink,
            )


@compiled
def make_step(
    shape: Shape,
    optimizer: Optimizer,
    factors: Array,
    decisions: Decisions,
    targets: Targets,
    samples: Array,
    loss: Loss,
    rate: float,
    max_grad_norm: float,
    group: int,
    memory: Memory,
    work: Work,
) -> bool:
    """Make a step of Adam on a minibatch in this thread alone; return whether all was finite."""
    vector, parts = optimizer.vector, (len(samples) + PART - 1) // PART
    mirror(shape, vector, work.inner)
    scales = scales_of(loss, targets, decisions, samples)
    write_gradients(
        shape,
        vector,
        factors,
        decisions,
        targets,
        samples,
        loss,
        scales,
        memory,
        work,
        0,
        parts,
    )
    add_parts(work.gradients, parts, work.squares, 0, len(work.squares))
    shrink = shrink_of(shape, optimizer, work, parts, max_grad_norm, group)
    if np.isnan(shrink):
        return False
    change(shape, optimizer, work.gradients, rate, shrink, group, 0, len(work.squares))
    return True
