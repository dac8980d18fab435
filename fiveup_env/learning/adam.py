"""Adam, with gradients whose norm is clipped, and schedules."""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.learning.lanes import SIXTEEN, grown, put, sixteen
from fiveup_env.learning.layers import dot
from fiveup_env.native import Array, inlined, inner, uncompiled

BLOCK: Final = 4096  # numbers whose squares are added up together
DECAYS: Final = (0.9, 0.999)  # of the moments
EPSILON: Final = 1e-5


@inner
def add_parts(
    gradients: Array, parts: int, unchanged: int, squares: Array, first: int, end: int
) -> None:
    """Add up the gradients of parts into that of the first, in some blocks; write their squares.

    The gradient of the first so many weights becomes 0.
    """
    one = gradients.dtype.type(1)
    for block in range(first, end):
        start, stop = block * BLOCK, min((block + 1) * BLOCK, gradients.shape[1])
        whole = start + (stop - start) // SIXTEEN * SIXTEEN
        for part in range(1, parts):
            for i in range(start, whole, SIXTEEN):
                some = grown(sixteen(gradients, 0, i), one, sixteen(gradients, part, i))
                put(gradients, 0, i, some)
            for i in range(whole, stop):
                gradients[0, i] += gradients[part, i]
        for i in range(start, min(unchanged, stop)):
            gradients[0, i] = 0
        total = gradients[0, start:stop].reshape((1, stop - start))
        squares[block] = dot(total, 0, total, 0)


@inner
def adam(
    weights: Array,
    gradients: Array,
    moments: Array,
    first: int,
    end: int,
    steps: int,
    rate: float,
    shrink: float,
) -> None:
    """Change some weights by the gradient in the first row, which is multiplied by `shrink`.

    `steps` is the number of steps that the moments have been moved by, this one included.
    """
    size = np.float32(rate / (1 - _power(DECAYS[0], steps)))
    root = np.float32(1 / np.sqrt(1 - _power(DECAYS[1], steps)))
    scale, epsilon, keep = np.float32(shrink), np.float32(EPSILON), np.float32(DECAYS[1])
    slow, square = np.float32(1 - DECAYS[0]), np.float32(1 - DECAYS[1])
    gradient, means, squares = gradients[0], moments[0], moments[1]
    for i in range(first, end):
        own = gradient[i] * scale
        means[i] += slow * (own - means[i])
        squares[i] = keep * squares[i] + square * own * own
        weights[i] -= size * means[i] / (np.sqrt(squares[i]) * root + epsilon)


@inner
def _power(base: float, exponent: int) -> float:
    """Return a power by products alone, which are the same on every machine."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@inlined
def linear(first: float, last: float, progress: float) -> float:
    """Return the current value of a linear schedule."""
    return first + (last - first) * min(1.0, progress)


def scheduled(first: float, last: float | None, progress: float) -> float:
    """Return the current value of a linear schedule, which is constant if `last` is None."""
    return first if last is None else uncompiled(linear, first, last, progress)
