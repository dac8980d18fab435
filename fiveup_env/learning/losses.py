"""Losses: what they are for a decision, and their gradients by its logits and its value.

PPO          the clipped gain of the action that was played, less an entropy bonus, plus the KL
             divergence from a reference policy if there is one
DIFFERENCES  the mean square error of the differences between the logits of a decision's actions;
             labels say what each action brings
GAIN         by how much the mean label of a policy's choices is below that of random ones

All of them learn values by regression on returns. They are computed in double precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fiveup_env.engine.exponentials import exp, log
from fiveup_env.native import Array, Floats, Int32s, inner

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions
    from fiveup_env.learning.heads import Outputs

PPO, DIFFERENCES, GAIN = range(3)
POLICY, VALUE, ENTROPY, CHANGE, CLIPPED, DIVERGENCE = range(6)
FIGURES: Final = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "reference_kl")
LEAST_DEVIATION: Final = 1e-8


class Targets(NamedTuple):
    """The targets of decisions; the arrays that a loss does not read are empty.

    The first four have an entry for every decision, the others one for every legal action.
    """

    chosen: Int32s  # which of its legal actions was played
    log_probabilities: Floats  # of that action, when it was played
    advantages: Floats
    returns: Floats  # NaN where it is not known
    labels: Floats
    reference: Floats  # the log-probabilities of the reference policy


class Loss(NamedTuple):
    """A loss and its weights."""

    kind: int
    vf_coef: float
    clip_range: float = 0.0
    ent_coef: float = 0.0
    kl_coef: float = 0.0
    normalize_advantage: bool = False


class Scales(NamedTuple):
    """The scales of a loss, which depend on all decisions of a minibatch."""

    policy: float  # the share of a decision, or of an action, in the loss
    value: float
    mean: float  # of the advantages
    deviation: float


@inner
def scales_of(loss: Loss, targets: Targets, decisions: Decisions, samples: Array) -> Scales:
    """Return the scales of a loss for a minibatch."""
    known, actions, total = 0, 0, 0.0
    for n in samples:
        known += not np.isnan(targets.returns[n])
        if loss.kind == DIFFERENCES:
            actions += decisions.action_ends[n + 1] - decisions.action_ends[n]
    mean, deviation = 0.0, 1.0
    if loss.normalize_advantage:
        for n in samples:
            total += targets.advantages[n]
        mean, total = total / len(samples), 0.0
        for n in samples:
            error = targets.advantages[n] - mean
            total += error * error
        deviation = np.sqrt(total / max(1, len(samples) - 1)) + LEAST_DEVIATION
    parts = actions if loss.kind == DIFFERENCES else len(samples)
    return Scales(1 / parts, 1 / max(1, known), mean, deviation)


@inner
def write_logs(logits: Array, s: int, count: int, logs: Array, first: int) -> None:
    """Write the log-probabilities of the actions of a tile's decision, from an index on."""
    most = float(logits[s, 0])
    for k in range(1, count):
        most = max(most, float(logits[s, k]))
    total = 0.0
    for k in range(count):
        total += exp(logits[s, k] - most)
    shift = most + log(total)
    for k in range(count):
        logs[first + k] = logits[s, k] - shift


@inner
def write_losses(
    loss: Loss,
    scales: Scales,
    targets: Targets,
    decisions: Decisions,
    samples: Array,
    outputs: Outputs,
    chances: Array,
    figures: Array,
) -> None:
    """Write the gradients of logits and values of a tile; add its decisions to the figures."""
    returns, ends = targets.returns, decisions.action_ends
    values, gradient = outputs.values, outputs.values_gradient
    if loss.kind == DIFFERENCES:
        _differences(targets, ends, samples, scales.policy, outputs, figures)
    elif loss.kind == GAIN:
        _gain(targets, ends, samples, scales.policy, outputs, chances, figures)
    else:
        _ppo(loss, scales, targets, ends, samples, outputs, chances, figures)
    for s in range(len(samples)):
        gradient[s] = 0
        if not np.isnan(returns[samples[s]]):
            error = float(values[s]) - returns[samples[s]]
            figures[VALUE] += scales.value * error * error
            gradient[s] = 2 * loss.vf_coef * scales.value * error


@inner
def _ppo(
    loss: Loss,
    scales: Scales,
    targets: Targets,
    ends: Array,
    samples: Array,
    outputs: Outputs,
    chances: Array,
    figures: Array,
) -> None:
    """Write the gradients of PPO; `chances` takes log-probabilities and probabilities."""
    share, logs, probabilities = scales.policy, chances[0], chances[1]
    logits, gradient = outputs.logits, outputs.logits_gradient
    played, before, advantages = targets.chosen, targets.log_probabilities, targets.advantages
    reference, low, high = targets.reference, 1 - loss.clip_range, 1 + loss.clip_range
    for s in range(len(samples)):
        n, first = samples[s], ends[samples[s]]
        chosen, count = played[n], ends[n + 1] - first
        write_logs(logits, s, count, logs, 0)
        entropy, divergence = 0.0, 0.0
        for k in range(count):
            probabilities[k] = exp(logs[k])
            entropy -= probabilities[k] * logs[k]
            if len(reference):
                divergence += probabilities[k] * (logs[k] - reference[first + k])
        change = logs[chosen] - before[n]
        ratio = exp(change)
        advantage = (advantages[n] - scales.mean) / scales.deviation
        clipped = advantage * min(max(ratio, low), high)
        slope = -advantage * ratio if advantage * ratio <= clipped else 0.0
        for k in range(count):
            total = slope * ((k == chosen) - probabilities[k])
            total += loss.ent_coef * probabilities[k] * (logs[k] + entropy)
            if len(reference):
                beyond = logs[k] - reference[first + k] - divergence
                total += loss.kl_coef * probabilities[k] * beyond
            gradient[s, k] = share * total
        figures[POLICY] -= share * min(advantage * ratio, clipped)
        figures[ENTROPY] += share * entropy
        figures[CHANGE] += share * (ratio - 1 - change)
        figures[CLIPPED] += share * (abs(ratio - 1) > loss.clip_range)
        figures[DIVERGENCE] += share * divergence


@inner
def _differences(
    targets: Targets, ends: Array, samples: Array, share: float, outputs: Outputs, figures: Array
) -> None:
    """Write the gradients of regression on differences."""
    labels, logits, gradient = targets.labels, outputs.logits, outputs.logits_gradient
    for s in range(len(samples)):
        first, mean = ends[samples[s]], 0.0
        count = ends[samples[s] + 1] - first
        for k in range(count):
            mean += (logits[s, k] - labels[first + k]) / count
        for k in range(count):
            error = logits[s, k] - labels[first + k] - mean
            gradient[s, k] = 2 * share * error
            figures[POLICY] += share * error * error


@inner
def _gain(
    targets: Targets,
    ends: Array,
    samples: Array,
    share: float,
    outputs: Outputs,
    chances: Array,
    figures: Array,
) -> None:
    """Write the gradients of the gain of all actions."""
    logs, probabilities, labels = chances[0], chances[1], targets.labels
    logits, gradient = outputs.logits, outputs.logits_gradient
    for s in range(len(samples)):
        first, mean, random = ends[samples[s]], 0.0, 0.0
        count = ends[samples[s] + 1] - first
        write_logs(logits, s, count, logs, 0)
        for k in range(count):
            probabilities[k] = exp(logs[k])
            mean += probabilities[k] * labels[first + k]
            random += labels[first + k] / count
        for k in range(count):
            gradient[s, k] = share * probabilities[k] * (mean - labels[first + k])
        figures[POLICY] -= share * (mean - random)
