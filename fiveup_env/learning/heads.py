"""Forward and backward passes of heads: logits of legal actions, and values.

A logit is what the head makes of the latent, plus the worth of what the action scores, plus, in
guided networks, the action's features, weighed by what another head makes of the latent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.learning.layers import add_scaled, dot
from fiveup_env.opponents.networks.lookahead import STEPS
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions
    from fiveup_env.opponents.networks.compiled import Weights


class Outputs(NamedTuple):
    """What a network makes of one decision, and the gradients."""

    logits: np.ndarray  # of the legal actions, in the order of the decision
    logits_gradient: np.ndarray
    value: np.ndarray  # one number
    value_gradient: np.ndarray
    guide: np.ndarray  # the weights of features
    guide_gradient: np.ndarray
    features: np.ndarray  # of one action, scaled


def outputs_for(weights: Weights) -> Outputs:
    """Return memory for the outputs of a network."""
    features = len(weights.guide)
    sizes = [ACTION_COUNT, ACTION_COUNT, 1, 1, features, features, features]
    return Outputs(*(np.zeros(size, weights.first.dtype) for size in sizes))


@compiled
def write_outputs(
    weights: Weights, decisions: Decisions, n: int, latent: Array, outputs: Outputs
) -> None:
    """Compute the logits of a decision's legal actions, and its value, from the latent."""
    outputs.value[0] = dot(weights.value, latent) + weights.value_bias[0]
    guide = outputs.guide
    for name in range(len(guide)):
        guide[name] = dot(weights.guide[name], latent) + weights.guide_bias[name]
    first = decisions.action_ends[n]
    for k in range(first, decisions.action_ends[n + 1]):
        action, units = decisions.actions[k], decisions.units[k]
        logit = dot(weights.head[action], latent) + weights.head_bias[action]
        logit += weights.worth[units]
        if len(guide):
            _scale_features(decisions, k, outputs.features)
            logit += dot(guide, outputs.features)
        outputs.logits[k - first] = logit


@compiled
def add_heads_gradient(
    weights: Weights,
    decisions: Decisions,
    n: int,
    latent: Array,
    outputs: Outputs,
    gradient: Array,
    total: Weights,
) -> None:
    """Add the gradient of the heads, given those of logits and value; write that of the latent."""
    slope = outputs.value_gradient[0]
    total.value_bias[0] += slope
    add_scaled(latent, slope, total.value)
    gradient[:] = 0
    add_scaled(weights.value, slope, gradient)
    guide = outputs.guide_gradient
    guide[:] = 0
    first = decisions.action_ends[n]
    for k in range(first, decisions.action_ends[n + 1]):
        action, units = decisions.actions[k], decisions.units[k]
        slope = outputs.logits_gradient[k - first]
        total.head_bias[action] += slope
        total.worth[units] += slope
        add_scaled(latent, slope, total.head[action])
        add_scaled(weights.head[action], slope, gradient)
        if len(guide):
            _scale_features(decisions, k, outputs.features)
            add_scaled(outputs.features, slope, guide)
    for name in range(len(guide)):
        total.guide_bias[name] += guide[name]
        add_scaled(latent, guide[name], total.guide[name])
        add_scaled(weights.guide[name], guide[name], gradient)


@compiled
def _scale_features(decisions: Decisions, k: int, features: Array) -> None:
    for name in range(len(features)):
        steps = features.dtype.type(decisions.features[k, name])
        features[name] = steps * features.dtype.type(1 / STEPS)
