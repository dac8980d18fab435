"""Forward and backward passes of single layers, for a tile of decisions.

A tile shares each pass over a layer's weights, so that they come from memory once for all of its
decisions. What is computed of a decision does not depend on the others in its tile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.engine.compiled import Array, compiled, inlined
from fiveup_env.opponents.networks.compiled import NORM_EPSILON

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions

TILE: Final = 16  # decisions


@inlined
def dot(left: Array, right: Array) -> Any:
    """Return the sum of products: eight sums of every eighth, added up in pairs, and the rest."""
    zero = left.dtype.type(0)
    a, b, c, d, e, f, g, h = zero, zero, zero, zero, zero, zero, zero, zero
    whole = len(left) // 8 * 8
    for j in range(0, whole, 8):
        a += left[j] * right[j]
        b += left[j + 1] * right[j + 1]
        c += left[j + 2] * right[j + 2]
        d += left[j + 3] * right[j + 3]
        e += left[j + 4] * right[j + 4]
        f += left[j + 5] * right[j + 5]
        g += left[j + 6] * right[j + 6]
        h += left[j + 7] * right[j + 7]
    rest = zero
    for j in range(whole, len(left)):
        rest += left[j] * right[j]
    return (((a + b) + (c + d)) + ((e + f) + (g + h))) + rest


@inlined
def add_scaled(numbers: Array, scale: Any, total: Array) -> None:
    """Add a multiple of some numbers to others."""
    for j in range(len(total)):
        total[j] += scale * numbers[j]


@inlined
def fill(out: Array, count: int, bias: Array) -> None:
    """Write the bias of a layer for every decision."""
    for s in range(count):
        for j in range(len(bias)):
            out[s, j] = bias[j]


@inlined
def _input(decisions: Decisions, k: int, factors: Array) -> Any:
    """Return an entry as the first layer reads it."""
    return factors.dtype.type(decisions.numbers[k]) * factors[decisions.entries[k]]


@compiled
def add_entries(
    decisions: Decisions, samples: Array, factors: Array, matrix: Array, out: Array
) -> None:
    """Add the products of rows and a matrix, entry by output, over entries that are not zero."""
    width = matrix.shape[1]
    for s in range(len(samples)):
        n, total = samples[s], out[s]
        end = decisions.entry_ends[n + 1]
        k = decisions.entry_ends[n]
        while k + 4 <= end:
            p, q = decisions.entries[k], decisions.entries[k + 1]
            r, t = decisions.entries[k + 2], decisions.entries[k + 3]
            a, b = _input(decisions, k, factors), _input(decisions, k + 1, factors)
            c, d = _input(decisions, k + 2, factors), _input(decisions, k + 3, factors)
            for j in range(width):
                some = total[j] + a * matrix[p, j] + b * matrix[q, j]
                total[j] = some + c * matrix[r, j] + d * matrix[t, j]
            k += 4
        while k < end:
            add_scaled(matrix[decisions.entries[k]], _input(decisions, k, factors), total)
            k += 1


@compiled
def add_entries_gradient(
    decisions: Decisions, samples: Array, factors: Array, gradient: Array, total: Array
) -> None:
    """Add the gradient of that matrix, given those of its outputs."""
    for s in range(len(samples)):
        n = samples[s]
        for k in range(decisions.entry_ends[n], decisions.entry_ends[n + 1]):
            row = total[decisions.entries[k]]
            add_scaled(gradient[s], _input(decisions, k, factors), row)


@compiled
def add_product(inputs: Array, count: int, matrix: Array, out: Array) -> None:
    """Add the products of inputs and a matrix, input by output."""
    size, width = matrix.shape
    whole = size // 4 * 4
    for i in range(0, whole, 4):
        for s in range(count):
            a, b, c, d = inputs[s, i], inputs[s, i + 1], inputs[s, i + 2], inputs[s, i + 3]
            total = out[s]
            for j in range(width):
                some = total[j] + a * matrix[i, j] + b * matrix[i + 1, j]
                total[j] = some + c * matrix[i + 2, j] + d * matrix[i + 3, j]
    for i in range(whole, size):
        for s in range(count):
            add_scaled(matrix[i], inputs[s, i], out[s])


@compiled
def add_product_gradient(inputs: Array, count: int, gradient: Array, total: Array) -> None:
    """Add the gradient of that matrix, given those of its outputs."""
    size, width = total.shape
    whole = count // 4 * 4
    for i in range(size):
        row = total[i]
        for s in range(0, whole, 4):
            a, b, c, d = inputs[s, i], inputs[s + 1, i], inputs[s + 2, i], inputs[s + 3, i]
            for j in range(width):
                some = row[j] + a * gradient[s, j] + b * gradient[s + 1, j]
                row[j] = some + c * gradient[s + 2, j] + d * gradient[s + 3, j]
        for s in range(whole, count):
            add_scaled(gradient[s], inputs[s, i], row)


@inlined
def add_bias_gradient(gradient: Array, count: int, total: Array) -> None:
    """Add the gradient of a bias."""
    for s in range(count):
        for j in range(len(total)):
            total[j] += gradient[s, j]


@inlined
def rectify(numbers: Array, count: int) -> None:
    """Replace negative numbers by 0; what is not a number stays so."""
    for s in range(count):
        for j in range(numbers.shape[1]):
            numbers[s, j] = numbers.dtype.type(0) if numbers[s, j] < 0 else numbers[s, j]


@inlined
def rectify_gradient(outputs: Array, count: int, gradient: Array) -> None:
    """Turn the gradient of a rectified layer into that of what came before."""
    for s in range(count):
        for j in range(gradient.shape[1]):
            gradient[s, j] = gradient[s, j] if outputs[s, j] > 0 else gradient.dtype.type(0)


@compiled
def normalize(
    numbers: Array, count: int, norm: Array, normal: Array, scales: Array, out: Array
) -> None:
    """Write the layer norm of numbers, and for its gradient what comes before scale and shift."""
    width = numbers.shape[1]
    size = numbers.dtype.type(width)
    one = numbers.dtype.type(1)
    for s in range(count):
        centred = normal[s]
        mean = _sum(numbers[s]) / size
        for j in range(width):
            centred[j] = numbers[s, j] - mean
        scales[s] = one / np.sqrt(dot(centred, centred) / size + NORM_EPSILON)
        for j in range(width):
            centred[j] *= scales[s]
            out[s, j] = centred[j] * norm[0, j] + norm[1, j]


@compiled
def normalize_gradient(
    normal: Array, scales: Array, count: int, norm: Array, gradient: Array, total: Array
) -> None:
    """Turn the gradient of a layer norm into that of its input; add that of its scale and shift."""
    width = gradient.shape[1]
    size = gradient.dtype.type(width)
    for s in range(count):
        centred, own = normal[s], gradient[s]
        for j in range(width):
            total[0, j] += own[j] * centred[j]
            total[1, j] += own[j]
            own[j] *= norm[0, j]
        mean, slope = _sum(own) / size, dot(own, centred) / size
        for j in range(width):
            own[j] = (own[j] - mean - centred[j] * slope) * scales[s]


@inlined
def _sum(numbers: Array) -> Any:
    """Return a sum, in the order of `dot`."""
    zero = numbers.dtype.type(0)
    a, b, c, d, e, f, g, h = zero, zero, zero, zero, zero, zero, zero, zero
    whole = len(numbers) // 8 * 8
    for j in range(0, whole, 8):
        a += numbers[j]
        b += numbers[j + 1]
        c += numbers[j + 2]
        d += numbers[j + 3]
        e += numbers[j + 4]
        f += numbers[j + 5]
        g += numbers[j + 6]
        h += numbers[j + 7]
    rest = zero
    for j in range(whole, len(numbers)):
        rest += numbers[j]
    return (((a + b) + (c + d)) + ((e + f) + (g + h))) + rest
