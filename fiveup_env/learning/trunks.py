"""Forward and backward passes of trunks, for a tile of decisions.

A plain trunk is a sequence of ReLU layers. A guided one adds residual blocks to a first layer: a
layer norm, a layer of ReLU and a layer each; a layer norm ends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fiveup_env.learning.lanes import SIXTEEN, zeros
from fiveup_env.learning.layers import (
    TILE,
    add_bias_gradient,
    add_entries,
    add_entries_gradient,
    add_product,
    add_product_gradient,
    fill,
    normalize,
    normalize_gradient,
    rectify,
    rectify_gradient,
)
from fiveup_env.native import Array, FloatRows, FloatTables, inlined, inner

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions
    from fiveup_env.opponents.networks.compiled import Weights


class Inner(NamedTuple):
    """The square matrices of a trunk, output by input, as backward passes read them."""

    inner: FloatTables
    outer: FloatTables


class Tile(NamedTuple):
    """The activations of the trunk for a tile, kept for the backward pass."""

    stream: FloatRows  # of residual blocks
    normal: FloatTables  # of each layer norm: its output before scale and shift
    scales: FloatRows
    inputs: FloatTables  # its output
    hidden: FloatTables  # the outputs of each layer of ReLU
    latent: FloatRows  # its last output
    gradient: FloatRows  # of the latent, then of what came before it
    inner_gradient: FloatRows


@inner
def tile_for(weights: Weights) -> Tile:
    """Return memory for a trunk."""
    width, blocks = weights.first.shape[1], len(weights.outer)
    norms, kind = blocks + (blocks > 0), weights.first.dtype
    inputs = zeros((norms, TILE, width), kind)
    hidden = zeros((blocks or len(weights.inner) + 1, TILE, width), kind)
    return Tile(
        zeros((TILE, width), kind),
        zeros((norms, TILE, width), kind),
        zeros((norms, TILE), kind),
        inputs,
        hidden,
        inputs[-1] if norms else hidden[-1],
        zeros((TILE, width), kind),
        zeros((TILE, width), kind),
    )


@inner
def inner_for(weights: Weights) -> Inner:
    """Return memory for the square matrices as backward passes read them."""
    kind = weights.first.dtype
    return Inner(zeros(weights.inner.shape, kind), zeros(weights.outer.shape, kind))


@inner
def mirror(weights: Weights, inner: Inner) -> None:
    """Write the square matrices as backward passes read them."""
    for matrices, mirrored in ((weights.inner, inner.inner), (weights.outer, inner.outer)):
        for k in range(len(matrices)):
            width = matrices.shape[1]
            for first in range(0, width, SIXTEEN):  # rows that stay in the cache meanwhile
                for j in range(width):
                    for i in range(first, min(first + SIXTEEN, width)):
                        mirrored[k, j, i] = matrices[k, i, j]


@inner
def write_latent(
    weights: Weights, factors: Array, decisions: Decisions, samples: Array, tile: Tile
) -> None:
    """Compute the outputs of a trunk for a tile, of which the last is the latent."""
    if len(weights.outer):
        _write_blocks(weights, factors, decisions, samples, tile)
    else:
        _write_layers(weights, factors, decisions, samples, tile)


@inner
def add_trunk_gradient(
    weights: Weights,
    inner: Inner,
    factors: Array,
    decisions: Decisions,
    samples: Array,
    tile: Tile,
    total: Weights,
) -> None:
    """Add the gradient of the trunk, given that of its output in `tile.gradient`."""
    if len(weights.outer):
        _add_blocks_gradient(weights, inner, len(samples), tile, total)
    else:
        _add_layers_gradient(inner, len(samples), tile, total)
    add_bias_gradient(tile.gradient, len(samples), total.first_bias)
    add_entries_gradient(decisions, samples, factors, tile.gradient, total.first)


@inlined
def _write_layers(
    weights: Weights, factors: Array, decisions: Decisions, samples: Array, tile: Tile
) -> None:
    """Compute the output of plain layers."""
    count, hidden = len(samples), tile.hidden
    fill(hidden[0], count, weights.first_bias)
    add_entries(decisions, samples, factors, weights.first, hidden[0])
    rectify(hidden[0], count)
    for k in range(len(weights.inner)):
        fill(hidden[k + 1], count, weights.inner_bias[k])
        add_product(hidden[k], count, weights.inner[k], hidden[k + 1])
        rectify(hidden[k + 1], count)


@inlined
def _add_layers_gradient(inner: Inner, count: int, tile: Tile, total: Weights) -> None:
    """Add the gradients of all layers but the first, and write that of its output."""
    hidden, gradient, other = tile.hidden, tile.gradient, tile.inner_gradient
    for k in range(len(inner.inner) - 1, -1, -1):
        rectify_gradient(hidden[k + 1], count, gradient)
        add_bias_gradient(gradient, count, total.inner_bias[k])
        add_product_gradient(hidden[k], count, gradient, total.inner[k])
        other[:] = 0
        add_product(gradient, count, inner.inner[k], other)
        for s in range(count):
            for j in range(gradient.shape[1]):
                gradient[s, j] = other[s, j]
    rectify_gradient(hidden[0], count, gradient)


@inlined
def _write_blocks(
    weights: Weights, factors: Array, decisions: Decisions, samples: Array, tile: Tile
) -> None:
    """Compute the output of residual blocks."""
    count, stream = len(samples), tile.stream
    inputs, hidden = tile.inputs, tile.hidden
    fill(stream, count, weights.first_bias)
    add_entries(decisions, samples, factors, weights.first, stream)
    for k in range(len(weights.inner)):
        normalize(stream, count, weights.norms[k], tile.normal[k], tile.scales[k], inputs[k])
        fill(hidden[k], count, weights.inner_bias[k])
        add_product(inputs[k], count, weights.inner[k], hidden[k])
        rectify(hidden[k], count)
        for s in range(count):
            for j in range(stream.shape[1]):
                stream[s, j] += weights.outer_bias[k, j]
        add_product(hidden[k], count, weights.outer[k], stream)
    normalize(stream, count, weights.norm, tile.normal[-1], tile.scales[-1], inputs[-1])


@inlined
def _add_blocks_gradient(
    weights: Weights, inner: Inner, count: int, tile: Tile, total: Weights
) -> None:
    """Add the gradients of all layers but the first, and write that of its output."""
    gradient, own, normal, scales = tile.gradient, tile.inner_gradient, tile.normal, tile.scales
    normalize_gradient(normal[-1], scales[-1], count, weights.norm, gradient, total.norm)
    for k in range(len(inner.inner) - 1, -1, -1):
        add_bias_gradient(gradient, count, total.outer_bias[k])
        add_product_gradient(tile.hidden[k], count, gradient, total.outer[k])
        own[:] = 0
        add_product(gradient, count, inner.outer[k], own)
        rectify_gradient(tile.hidden[k], count, own)
        add_bias_gradient(own, count, total.inner_bias[k])
        add_product_gradient(tile.inputs[k], count, own, total.inner[k])
        # What the layer norm was given is no longer needed, so its memory takes the gradient.
        before = tile.inputs[k]
        before[:] = 0
        add_product(own, count, inner.inner[k], before)
        normalize_gradient(normal[k], scales[k], count, weights.norms[k], before, total.norms[k])
        for s in range(count):
            for j in range(gradient.shape[1]):
                gradient[s, j] += before[s, j]
