"""Forward and backward passes of heads: logits of legal actions, and values.

A logit is what the head makes of the latent, plus the worth of what the action scores, plus, in
guided networks, the action's features, weighed by what another head makes of the latent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.learning.layers import TILE, add_scaled, dot
from fiveup_env.native import Array, FloatRows, Floats, inner
from fiveup_env.opponents.networks.lookahead import STEPS
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions
    from fiveup_env.opponents.networks.compiled import Weights


class Outputs(NamedTuple):
    """The outputs of a network for the decisions of a tile, a row for each, and the gradients."""

    logits: FloatRows  # of the legal actions, in the order of the decision
    logits_gradient: FloatRows
    values: Floats
    values_gradient: Floats
    guide: FloatRows  # the weights of features
    guide_gradient: FloatRows


@inner
def outputs_for(weights: Weights) -> Outputs:
    """Return memory for the outputs of a network."""
    features, kind = len(weights.guide), weights.first.dtype
    return Outputs(
        np.zeros((TILE, ACTION_COUNT), kind),
        np.zeros((TILE, ACTION_COUNT), kind),
        np.zeros(TILE, kind),
        np.zeros(TILE, kind),
        np.zeros((TILE, features), kind),
        np.zeros((TILE, features), kind),
    )


@inner
def write_outputs(
    weights: Weights, decisions: Decisions, samples: Array, latent: Array, outputs: Outputs
) -> None:
    """Compute the logits of legal actions, and values, from the latent."""
    value, value_bias, worth = weights.value, weights.value_bias, weights.worth
    head, head_bias = weights.head, weights.head_bias
    weigh, weigh_bias = weights.guide, weights.guide_bias
    ends, actions, units = decisions.action_ends, decisions.actions, decisions.units
    logits, values, guide = outputs.logits, outputs.values, outputs.guide
    features, kind = decisions.features, latent.dtype.type
    for s in range(len(samples)):
        values[s] = dot(value, 0, latent, s) + value_bias[0]
        for name in range(len(weigh)):
            guide[s, name] = dot(weigh, name, latent, s) + weigh_bias[name]
        first = ends[samples[s]]
        for k in range(first, ends[samples[s] + 1]):
            logit = dot(head, actions[k], latent, s) + head_bias[actions[k]] + worth[units[k]]
            for name in range(len(weigh)):
                logit += guide[s, name] * (kind(features[k, name]) * kind(1 / STEPS))
            logits[s, k - first] = logit


@inner
def add_heads_gradient(
    weights: Weights,
    decisions: Decisions,
    samples: Array,
    latent: Array,
    outputs: Outputs,
    gradient: Array,
    total: Weights,
) -> None:
    """Add the gradient of the heads, given those of logits and values; write that of the latent."""
    value, head, weigh = weights.value, weights.head, weights.guide
    value_total, value_bias_total, worth_total = total.value, total.value_bias, total.worth
    head_total, head_bias_total = total.head, total.head_bias
    weigh_total, weigh_bias_total = total.guide, total.guide_bias
    ends, actions, units = decisions.action_ends, decisions.actions, decisions.units
    logits, values, guide = (
        outputs.logits_gradient,
        outputs.values_gradient,
        outputs.guide_gradient,
    )
    features, kind = decisions.features, latent.dtype.type
    for s in range(len(samples)):
        for j in range(latent.shape[1]):
            gradient[s, j] = values[s] * value[0, j]
        value_bias_total[0] += values[s]
        add_scaled(latent, s, values[s], value_total, 0)
        for name in range(len(weigh)):
            guide[s, name] = 0
        first = ends[samples[s]]
        for k in range(first, ends[samples[s] + 1]):
            action, slope = actions[k], logits[s, k - first]
            head_bias_total[action] += slope
            worth_total[units[k]] += slope
            add_scaled(latent, s, slope, head_total, action)
            add_scaled(head, action, slope, gradient, s)
            for name in range(len(weigh)):
                guide[s, name] += slope * (kind(features[k, name]) * kind(1 / STEPS))
        for name in range(len(weigh)):
            slope = guide[s, name]
            weigh_bias_total[name] += slope
            add_scaled(latent, s, slope, weigh_total, name)
            add_scaled(weigh, name, slope, gradient, s)
