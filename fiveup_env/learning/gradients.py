"""The gradient of a minibatch, in an order of sums that no number of threads changes.

A minibatch is cut into equal parts of about `PART` decisions, each with a gradient of its own, in
which its decisions are added up one after the other. Then the gradients of the parts are added up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fiveup_env.learning.decisions import Decisions
from fiveup_env.learning.heads import Outputs, add_heads_gradient, outputs_for, write_outputs
from fiveup_env.learning.layers import TILE
from fiveup_env.learning.losses import Loss, Scales, Targets, write_logs, write_losses
from fiveup_env.learning.trunks import (
    Inner,
    Tile,
    add_trunk_gradient,
    inner_for,
    tile_for,
    write_latent,
)
from fiveup_env.native import Array, DoubleRows, Floats, Int64s, compiled, inlined, inner, prefetch
from fiveup_env.opponents.networks.compiled import Weights
from fiveup_env.rules.actions import ACTION_COUNT

PART: Final = 256  # decisions
LINE: Final = 64  # bytes of a cache's line


class Memory(NamedTuple):
    """A thread's memory to compute outputs and gradients."""

    tile: Tile
    inner: Inner
    outputs: Outputs
    chances: DoubleRows  # log-probabilities and probabilities of a decision's actions


@inner
def memory_for(weights: Weights) -> Memory:
    """Return memory for a thread."""
    return Memory(
        tile_for(weights), inner_for(weights), outputs_for(weights), np.zeros((2, ACTION_COUNT))
    )


@compiled
def evaluate(
    weights: Weights,
    factors: Floats,
    decisions: Decisions,
    samples: Int64s,
    memory: Memory,
    logs: Floats,
    values: Floats,
) -> None:
    """Write the log-probabilities of the legal actions of some decisions, and their values."""
    tile, outputs, ends = memory.tile, memory.outputs, decisions.action_ends
    logits, expected = outputs.logits, outputs.values
    for start in range(0, len(samples), TILE):
        some = samples[start : start + TILE]
        write_latent(weights, factors, decisions, some, tile)
        write_outputs(weights, decisions, some, tile.latent, outputs)
        for s in range(len(some)):
            first, end = ends[some[s]], ends[some[s] + 1]
            write_logs(logits, s, end - first, logs, first)
            values[some[s]] = expected[s]


@inlined
def _call_near(decisions: Decisions, targets: Targets, samples: Array) -> None:
    """Have the memory of the next tile's decisions, which lie anywhere, brought near."""
    for n in samples:
        entry, action = decisions.entry_ends[n], decisions.action_ends[n]
        for k in range(entry, decisions.entry_ends[n + 1], LINE):
            prefetch(decisions.numbers, k)
            prefetch(decisions.entries, k)
            prefetch(decisions.entries, k + LINE // 2)
        prefetch(decisions.actions, action)
        prefetch(decisions.units, action)
        prefetch(decisions.features, action * decisions.features.shape[1])
        prefetch(targets.chosen, n)
        prefetch(targets.log_probabilities, n)
        prefetch(targets.advantages, n)
        prefetch(targets.returns, n)


@inner
def write_gradient(
    weights: Weights,
    factors: Array,
    decisions: Decisions,
    samples: Array,
    targets: Targets,
    loss: Loss,
    scales: Scales,
    memory: Memory,
    vector: Array,
    total: Weights,
    figures: Array,
) -> None:
    """Write the gradient of a part, whose arrays `total` share the memory of `vector`.

    `mirror` comes first.
    """
    tile, outputs = memory.tile, memory.outputs
    vector[:] = 0
    figures[:] = 0
    for start in range(0, len(samples), TILE):
        some = samples[start : start + TILE]
        _call_near(decisions, targets, samples[start + TILE : start + 2 * TILE])
        write_latent(weights, factors, decisions, some, tile)
        write_outputs(weights, decisions, some, tile.latent, outputs)
        write_losses(loss, scales, targets, decisions, some, outputs, memory.chances, figures)
        add_heads_gradient(weights, decisions, some, tile.latent, outputs, tile.gradient, total)
        add_trunk_gradient(weights, memory.inner, factors, decisions, some, tile, total)
