"""The weights that a network begins with: orthogonal matrices from a seed, biases of 0."""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.chance import GOLDEN, fraction, scramble
from fiveup_env.engine.exponentials import log
from fiveup_env.learning.networks import GUIDED, Shape, weights_in
from fiveup_env.native import Array, Word, inlined, inner

BEFORE_RELU: Final = 2**0.5  # the gain of a layer that is rectified
FIRST_LOGITS: Final = 0.01  # so that a new policy plays all actions about alike
MATRIX_STEP: Final = np.uint64(0xB5026F5AA96619E9)


@inner
def write_initial(vector: Array, shape: Shape, seed: Word) -> None:
    """Write the weights of a new network, those of a seed."""
    vector[:] = 0
    weights, key = weights_in(vector, shape), scramble(seed)
    guided = shape.kind == GUIDED
    _orthogonal(weights.first, 1.0 if guided else BEFORE_RELU, key)
    for k in range(len(weights.inner)):
        key = scramble(key + MATRIX_STEP)
        _orthogonal(weights.inner[k], BEFORE_RELU, key)
    for k in range(len(weights.outer)):
        key = scramble(key + MATRIX_STEP)
        _orthogonal(weights.outer[k], 1 / np.sqrt(shape.depth), key)
        weights.norms[k, 0] = 1
    if guided:
        weights.norm[0] = 1
        key = scramble(key + MATRIX_STEP)
        _orthogonal(weights.guide, FIRST_LOGITS, key)
    key = scramble(key + MATRIX_STEP)
    _orthogonal(weights.head, FIRST_LOGITS, key)
    _orthogonal(weights.value, 1.0, scramble(key + MATRIX_STEP))


@inner
def _orthogonal(matrix: Array, gain: float, key: Word) -> None:
    """Write a matrix whose rows, or columns if these are fewer, are orthogonal and long `gain`."""
    rows, columns = matrix.shape
    count, size = min(rows, columns), max(rows, columns)
    vectors = np.empty((count, size))
    _fill_normal(vectors.reshape(count * size), key)
    for i in range(count):
        for k in range(i):
            product = 0.0
            for j in range(size):
                product += vectors[i, j] * vectors[k, j]
            for j in range(size):
                vectors[i, j] -= product * vectors[k, j]
        square = 0.0
        for j in range(size):
            square += vectors[i, j] * vectors[i, j]
        scale = 1 / np.sqrt(square)
        for j in range(size):
            vectors[i, j] *= scale
    for i in range(rows):
        for j in range(columns):
            matrix[i, j] = gain * (vectors[i, j] if rows <= columns else vectors[j, i])


@inlined
def _fill_normal(numbers: Array, key: Word) -> None:
    """Write normal random numbers, by the polar method, which needs no cosine."""
    k, drawn = 0, 0
    while k < len(numbers):
        x, y = 2 * _uniform(key, drawn) - 1, 2 * _uniform(key, drawn + 1) - 1
        drawn += 2
        square = x * x + y * y
        if 0 < square < 1:
            scale = np.sqrt(-2 * log(square) / square)
            numbers[k] = x * scale
            if k + 1 < len(numbers):
                numbers[k + 1] = y * scale
            k += 2


@inlined
def _uniform(key: Word, number: int) -> float:
    word = scramble(key + np.uint64(number + 1) * GOLDEN)
    return fraction(word)
