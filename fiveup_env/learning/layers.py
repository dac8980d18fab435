"""Forward and backward passes of single layers, for a tile of decisions.

A tile shares each pass over a layer's weights, so that they come from memory once for all of its
decisions. What is computed of a decision does not depend on the others in its tile. Rows are given
as an array and an index: to make an array of a row takes longer than to read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.engine.compiled import Array, compiled, inlined
from fiveup_env.opponents.networks.compiled import NORM_EPSILON

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions

TILE: Final = 32  # decisions; an even number


@inlined
def dot(left: Array, i: int, right: Array, k: int) -> Any:
    """Return the sum of products of two rows: eight sums of every eighth, and the rest."""
    zero = left.dtype.type(0)
    a, b, c, d, e, f, g, h = zero, zero, zero, zero, zero, zero, zero, zero
    whole = left.shape[1] // 8 * 8
    for j in range(0, whole, 8):
        a += left[i, j] * right[k, j]
        b += left[i, j + 1] * right[k, j + 1]
        c += left[i, j + 2] * right[k, j + 2]
        d += left[i, j + 3] * right[k, j + 3]
        e += left[i, j + 4] * right[k, j + 4]
        f += left[i, j + 5] * right[k, j + 5]
        g += left[i, j + 6] * right[k, j + 6]
        h += left[i, j + 7] * right[k, j + 7]
    rest = zero
    for j in range(whole, left.shape[1]):
        rest += left[i, j] * right[k, j]
    return (((a + b) + (c + d)) + ((e + f) + (g + h))) + rest


@inlined
def add_scaled(numbers: Array, i: int, scale: Any, total: Array, k: int) -> None:
    """Add a multiple of a row to another."""
    for j in range(total.shape[1]):
        total[k, j] += scale * numbers[i, j]


@inlined
def fill(out: Array, count: int, bias: Array) -> None:
    """Write the bias of a layer for every decision."""
    for s in range(count):
        for j in range(len(bias)):
            out[s, j] = bias[j]


@compiled
def add_entries(
    decisions: Decisions, samples: Array, factors: Array, matrix: Array, out: Array
) -> None:
    """Add the products of rows and a matrix, entry by output, over entries that are not zero."""
    ends, entries, numbers = decisions.entry_ends, decisions.entries, decisions.numbers
    kind = factors.dtype.type
    for s in range(len(samples)):
        k, end = ends[samples[s]], ends[samples[s] + 1]
        while k + 4 <= end:
            p, q, r, t = entries[k], entries[k + 1], entries[k + 2], entries[k + 3]
            a, b = kind(numbers[k]) * factors[p], kind(numbers[k + 1]) * factors[q]
            c, d = kind(numbers[k + 2]) * factors[r], kind(numbers[k + 3]) * factors[t]
            for j in range(matrix.shape[1]):
                some = out[s, j] + a * matrix[p, j] + b * matrix[q, j]
                out[s, j] = some + c * matrix[r, j] + d * matrix[t, j]
            k += 4
        while k < end:
            add_scaled(matrix, entries[k], kind(numbers[k]) * factors[entries[k]], out, s)
            k += 1


@compiled
def add_entries_gradient(
    decisions: Decisions, samples: Array, factors: Array, gradient: Array, total: Array
) -> None:
    """Add the gradient of that matrix, given those of its outputs."""
    ends, entries, numbers = decisions.entry_ends, decisions.entries, decisions.numbers
    kind = factors.dtype.type
    for s in range(len(samples)):
        for k in range(ends[samples[s]], ends[samples[s] + 1]):
            scale = kind(numbers[k]) * factors[entries[k]]
            add_scaled(gradient, s, scale, total, entries[k])


@compiled
def add_product(inputs: Array, count: int, matrix: Array, out: Array) -> None:
    """Add the products of inputs and a matrix, input by output.

    Two decisions share what is read of the matrix; the last of an odd number shares it with the
    row after it, which nobody reads.
    """
    size, width = matrix.shape
    whole = size // 4 * 4
    for i in range(0, whole, 4):
        for s in range(0, count, 2):
            n = s + 1
            a, b, c, d = inputs[s, i], inputs[s, i + 1], inputs[s, i + 2], inputs[s, i + 3]
            e, f, g, h = inputs[n, i], inputs[n, i + 1], inputs[n, i + 2], inputs[n, i + 3]
            for j in range(width):
                p, q, r, t = matrix[i, j], matrix[i + 1, j], matrix[i + 2, j], matrix[i + 3, j]
                out[s, j] = (out[s, j] + a * p + b * q) + (c * r + d * t)
                out[n, j] = (out[n, j] + e * p + f * q) + (g * r + h * t)
    for i in range(whole, size):
        for s in range(count):
            add_scaled(matrix, i, inputs[s, i], out, s)


@compiled
def add_product_gradient(inputs: Array, count: int, gradient: Array, total: Array) -> None:
    """Add the gradient of that matrix, given those of its outputs.

    Two inputs share what is read of the gradient.
    """
    size, width = total.shape
    pairs, whole = size // 2 * 2, count // 4 * 4
    for i in range(0, pairs, 2):
        for s in range(0, whole, 4):
            a, b, c, d = inputs[s, i], inputs[s + 1, i], inputs[s + 2, i], inputs[s + 3, i]
            k = i + 1
            e, f, g, h = inputs[s, k], inputs[s + 1, k], inputs[s + 2, k], inputs[s + 3, k]
            for j in range(width):
                p, q = gradient[s, j], gradient[s + 1, j]
                r, t = gradient[s + 2, j], gradient[s + 3, j]
                total[i, j] = (total[i, j] + a * p + b * q) + (c * r + d * t)
                total[k, j] = (total[k, j] + e * p + f * q) + (g * r + h * t)
        for s in range(whole, count):
            add_scaled(gradient, s, inputs[s, i], total, i)
            add_scaled(gradient, s, inputs[s, i + 1], total, i + 1)
    for i in range(pairs, size):
        for s in range(count):
            add_scaled(gradient, s, inputs[s, i], total, i)


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
        mean = _sum(numbers, s) / size
        for j in range(width):
            normal[s, j] = numbers[s, j] - mean
        scale = one / np.sqrt(dot(normal, s, normal, s) / size + NORM_EPSILON)
        for j in range(width):
            normal[s, j] *= scale
            out[s, j] = normal[s, j] * norm[0, j] + norm[1, j]
        scales[s] = scale


@compiled
def normalize_gradient(
    normal: Array, scales: Array, count: int, norm: Array, gradient: Array, total: Array
) -> None:
    """Turn the gradient of a layer norm into that of its input; add that of its scale and shift."""
    width = gradient.shape[1]
    size = gradient.dtype.type(width)
    for s in range(count):
        for j in range(width):
            total[0, j] += gradient[s, j] * normal[s, j]
            total[1, j] += gradient[s, j]
            gradient[s, j] *= norm[0, j]
        mean, slope = _sum(gradient, s) / size, dot(gradient, s, normal, s) / size
        scale = scales[s]
        for j in range(width):
            gradient[s, j] = (gradient[s, j] - mean - normal[s, j] * slope) * scale


@inlined
def _sum(numbers: Array, i: int) -> Any:
    """Return the sum of a row, in the order of `dot`."""
    zero = numbers.dtype.type(0)
    a, b, c, d, e, f, g, h = zero, zero, zero, zero, zero, zero, zero, zero
    whole = numbers.shape[1] // 8 * 8
    for j in range(0, whole, 8):
        a += numbers[i, j]
        b += numbers[i, j + 1]
        c += numbers[i, j + 2]
        d += numbers[i, j + 3]
        e += numbers[i, j + 4]
        f += numbers[i, j + 5]
        g += numbers[i, j + 6]
        h += numbers[i, j + 7]
    rest = zero
    for j in range(whole, numbers.shape[1]):
        rest += numbers[i, j]
    return (((a + b) + (c + d)) + ((e + f) + (g + h))) + rest
