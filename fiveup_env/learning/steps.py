"""Steps of the optimizer, each on a minibatch, which threads make together."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fiveup_env.learning.adam import BLOCK, adam, add_parts
from fiveup_env.learning.decisions import Decisions
from fiveup_env.learning.gradients import PART, Memory, write_gradient
from fiveup_env.learning.lanes import SIXTEEN, zeros
from fiveup_env.learning.losses import FIGURES, Loss, Targets, scales_of
from fiveup_env.learning.networks import Shape, policy_size, weights_in
from fiveup_env.learning.threads import Crew, all_came, share_of
from fiveup_env.learning.trunks import mirror
from fiveup_env.native import (
    DoubleRows,
    Doubles,
    FloatRows,
    Floats,
    Int64s,
    compiled,
    inlined,
    inner,
)

MOST_RATE: Final = 1e30  # with which a step is still a number
GRADIENT: Final = len(FIGURES)  # where the norm of the gradient is among the figures of a step


class Work(NamedTuple):
    """The memory that the threads of a step share, beside the network."""

    gradients: FloatRows  # of each part of a minibatch, to a multiple of sixteen numbers
    figures: DoubleRows  # likewise, and in the first row at last those of the step
    sums: Doubles  # of the figures of steps
    squares: Floats  # of the gradient, by block
    shrink: Doubles  # what the gradient is multiplied by, or NaN if something is not finite
    known: Int64s  # the number of decisions that an update learns from


class Optimizer(NamedTuple):
    """A network's weights, and what Adam knows of them."""

    vector: Floats
    moments: FloatRows  # the moving averages of the gradient and of its square
    steps: Int64s  # made with the policy's weights, and with those of values alone


@inlined
def part_count(size: int) -> int:
    """Return the number of parts of a minibatch."""
    return max(1, (size + PART // 2) // PART)


@inner
def work_for(vector: Floats, size: int) -> Work:
    """Return memory for steps on minibatches of at most this size."""
    parts, kind, blocks = part_count(size), vector.dtype, (len(vector) + BLOCK - 1) // BLOCK
    wide = (len(vector) + SIXTEEN - 1) // SIXTEEN * SIXTEEN
    return Work(
        zeros((parts, wide), kind),
        np.zeros((parts, GRADIENT + 1)),
        np.zeros(GRADIENT + 1),
        np.zeros(blocks, kind),
        np.zeros(1),
        np.zeros(1, np.int64),
    )


@compiled
def add_gradients(
    shape: Shape,
    vector: Floats,
    factors: Floats,
    decisions: Decisions,
    targets: Targets,
    samples: Int64s,
    loss: Loss,
    group: int,
    memory: Memory,
    work: Work,
    crew: Crew,
) -> bool:
    """Write the gradient of a minibatch into the first row; return whether all threads came.

    The first group of weights that changes is 0, or 1 for those alone that only values depend on.
    """
    weights, parts = weights_in(vector, shape), part_count(len(samples))
    mirror(weights, memory.inner)
    scales = scales_of(loss, targets, decisions, samples)
    first, end = share_of(parts, crew)
    for part in range(first, end):
        own = samples[len(samples) * part // parts : len(samples) * (part + 1) // parts]
        write_gradient(
            weights,
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
    if not all_came(crew):
        return False
    first, end = share_of(len(work.squares), crew)
    unchanged = policy_size(shape) if group else 0
    add_parts(work.gradients, parts, unchanged, work.squares, first, end)
    return all_came(crew)


@inner
def _shrink_of(optimizer: Optimizer, work: Work, parts: int, most: float, group: int) -> float:
    """Return the factor by which a step clips its gradient, or NaN if something is not finite.

    The figures of all parts are added up in the first row, which also gets the gradient's norm.
    """
    figures, total = work.figures[0], 0.0
    for square in work.squares:
        total += square
    for part in range(1, parts):
        for name in range(GRADIENT):
            figures[name] += work.figures[part, name]
    figures[GRADIENT] = np.sqrt(total)
    for name in range(GRADIENT + 1):
        work.sums[name] += figures[name]
        if not np.isfinite(figures[name]):
            return np.nan
    for each in range(group, 2):
        optimizer.steps[each] += 1
    return min(1.0, most / (figures[GRADIENT] + 1e-6))


@compiled
def make_step(
    shape: Shape,
    optimizer: Optimizer,
    factors: Floats,
    decisions: Decisions,
    targets: Targets,
    samples: Int64s,
    loss: Loss,
    rate: float,
    max_grad_norm: float,
    group: int,
    memory: Memory,
    work: Work,
    crew: Crew,
) -> bool:
    """Make a step of Adam on a minibatch; return whether all was finite, and all threads came."""
    vector, gradients = optimizer.vector, work.gradients
    if not add_gradients(
        shape, vector, factors, decisions, targets, samples, loss, group, memory, work, crew
    ):
        return False
    if crew.thread == 0:
        parts = part_count(len(samples))
        work.shrink[0] = _shrink_of(optimizer, work, parts, max_grad_norm, group)
    if not all_came(crew) or np.isnan(work.shrink[0]):
        return False
    first, end = share_of(len(work.squares), crew)
    for each in range(group, 2):
        begin = max(first * BLOCK, policy_size(shape) if each else 0)
        stop = min(end * BLOCK, len(vector) if each else policy_size(shape))
        steps, shrink = optimizer.steps[each], work.shrink[0]
        adam(vector, gradients, optimizer.moments, begin, stop, steps, rate, shrink)
    return all_came(crew)
