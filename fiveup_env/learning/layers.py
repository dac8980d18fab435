"""Forward and backward passes of single layers, for a tile of decisions.

A tile shares each pass over a layer's weights, so that they come from memory once for all of its
decisions. What is computed of a decision does not depend on the others in its tile. Rows are given
as an array and an index: to make an array of a row takes longer than to read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.learning.lanes import EIGHT, SIXTEEN, eight, grown, put, sixteen, sum_of, zeros_like
from fiveup_env.native import Array, inlined, inner
from fiveup_env.opponents.networks.compiled import NORM_EPSILON

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions

TILE: Final = 32  # decisions; a multiple of BLOCK
BLOCK: Final = 4  # rows whose products are summed together


@inlined
def dot(left: Array, i: int, right: Array, k: int) -> Any:
    """Return the sum of products of two rows: eight sums of every eighth, and the rest."""
    sums, rest = zeros_like(left), left.dtype.type(0)
    whole = left.shape[1] // EIGHT * EIGHT
    for j in range(0, whole, EIGHT):
        sums = grown(sums, eight(left, i, j), eight(right, k, j))
    for j in range(whole, left.shape[1]):
        rest += left[i, j] * right[k, j]
    return sum_of(sums) + rest


@inlined
def add_scaled(numbers: Array, i: int, scale: Any, total: Array, k: int) -> None:
    """Add a multiple of a row to another."""
    whole = total.shape[1] // SIXTEEN * SIXTEEN
    for j in range(0, whole, SIXTEEN):
        put(total, k, j, grown(sixteen(total, k, j), scale, sixteen(numbers, i, j)))
    for j in range(whole, total.shape[1]):
        total[k, j] += scale * numbers[i, j]


@inlined
def fill(out: Array, count: int, bias: Array) -> None:
    """Write the bias of a layer for every decision."""
    for s in range(count):
        for j in range(len(bias)):
            out[s, j] = bias[j]


@inner
def add_entries(
    decisions: Decisions, samples: Array, factors: Array, matrix: Array, out: Array
) -> None:
    """Add the products of rows and a matrix, entry by output, over entries that are not zero.

    Four entries share what is read and written of the outputs.
    """
    ends, entries, numbers = decisions.entry_ends, decisions.entries, decisions.numbers
    kind, width = factors.dtype.type, matrix.shape[1]
    whole = width // SIXTEEN * SIXTEEN
    for s in range(len(samples)):
        k, end = ends[samples[s]], ends[samples[s] + 1]
        while k + 4 <= end:
            p, q, r, t = entries[k], entries[k + 1], entries[k + 2], entries[k + 3]
            a, b = kind(numbers[k]) * factors[p], kind(numbers[k + 1]) * factors[q]
            c, d = kind(numbers[k + 2]) * factors[r], kind(numbers[k + 3]) * factors[t]
            for j in range(0, whole, SIXTEEN):
                some = grown(sixteen(out, s, j), a, sixteen(matrix, p, j))
                some = grown(some, b, sixteen(matrix, q, j))
                some = grown(some, c, sixteen(matrix, r, j))
                put(out, s, j, grown(some, d, sixteen(matrix, t, j)))
            for j in range(whole, width):
                one = out[s, j] + a * matrix[p, j] + b * matrix[q, j]
                out[s, j] = one + c * matrix[r, j] + d * matrix[t, j]
            k += 4
        while k < end:
            add_scaled(matrix, entries[k], kind(numbers[k]) * factors[entries[k]], out, s)
            k += 1


@inner
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


@inner
def add_product(inputs: Array, count: int, matrix: Array, out: Array) -> None:
    """Add the products of inputs and a matrix, input by output.

    Rows are computed up to a multiple of `BLOCK`; nobody reads those after the last decision.
    """
    rows = (count + BLOCK - 1) // BLOCK * BLOCK
    _add_products(inputs, False, rows, matrix, len(matrix), out)


@inner
def add_product_gradient(inputs: Array, count: int, gradient: Array, total: Array) -> None:
    """Add the gradient of that matrix, given those of its outputs."""
    _add_products(inputs, True, len(total), gradient, count, total)


@inlined
def _add_products(
    left: Array,
    is_turned: bool,  # noqa: FBT001
    rows: int,
    right: Array,
    count: int,
    out: Array,
) -> None:
    """Add to each row of `out` the first rows of `right`, each times a number, in their order.

    The numbers for a row are those of the same row of `left`, or of its column if it is turned.
    The sums of four rows and sixteen columns stay in registers until they are whole.
    """
    width, whole = out.shape[1], rows // BLOCK * BLOCK
    wide = width // SIXTEEN * SIXTEEN
    for j in range(0, wide, SIXTEEN):
        for r in range(0, whole, BLOCK):
            a, b = sixteen(out, r, j), sixteen(out, r + 1, j)
            c, d = sixteen(out, r + 2, j), sixteen(out, r + 3, j)
            for k in range(count):
                numbers = sixteen(right, k, j)
                a = grown(a, _number(left, is_turned, r, k), numbers)
                b = grown(b, _number(left, is_turned, r + 1, k), numbers)
                c = grown(c, _number(left, is_turned, r + 2, k), numbers)
                d = grown(d, _number(left, is_turned, r + 3, k), numbers)
            put(out, r, j, a)
            put(out, r + 1, j, b)
            put(out, r + 2, j, c)
            put(out, r + 3, j, d)
    for r in range(rows):
        for k in range(count if r >= whole or wide < width else 0):
            number = _number(left, is_turned, r, k)
            for j in range(wide if r < whole else 0, width):
                out[r, j] += number * right[k, j]


@inlined
def _number(left: Array, is_turned: bool, row: int, k: int) -> Any:  # noqa: FBT001
    return left[k, row] if is_turned else left[row, k]


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


@inner
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


@inner
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
    sums, rest = zeros_like(numbers), numbers.dtype.type(0)
    one, whole = numbers.dtype.type(1), numbers.shape[1] // EIGHT * EIGHT
    for j in range(0, whole, EIGHT):
        sums = grown(sums, one, eight(numbers, i, j))
    for j in range(whole, numbers.shape[1]):
        rest += numbers[i, j]
    return sum_of(sums) + rest
