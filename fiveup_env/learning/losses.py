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

from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.engine.exponentials import exp, log

if TYPE_CHECKING:
    from fiveup_env.learning.decisions import Decisions
    from fiveup_env.learning.heads import Outputs

PPO, DIFFERENCES, GAIN = range(3)
POLICY, VALUE, ENTROPY, CHANGE, CLIPPED, DIVERGENCE = range(6)
FIGURES: Final = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "reference_kl")
LEAST_DEVIATION: Final = 1e-8


class Targets(NamedTuple):
    """What decisions are learnt from; the arrays that a loss does not read are empty.

    The first four have an entry for every decision, the others one for every legal action.
    """

    chosen: np.ndarray  # which of its legal actions was played
    log_probabilities: np.ndarray  # of that action, when it was played
    advantages: np.ndarray
    returns: np.ndarray  # NaN where it is not known
    labels: np.ndarray
    reference: np.ndarray  # the log-probabilities of the reference policy


class Loss(NamedTuple):
    """A loss and its weights."""

    kind: int
    vf_coef: float
    clip_range: float = 0.0
    ent_coef: float = 0.0
    kl_coef: float = 0.0
    normalize_advantage: bool = False


class Scales(NamedTuple):
    """What depends on all decisions of a minibatch."""

    policy: float  # the share of a decision, or of an action, in the loss
    value: float
    mean: float  # of the advantages
    deviation: float


@compiled
def scales_of(loss: Loss, targets: Targets, decisions: Decisions, samples: Array) -> Scales:
    """Return what the loss of a decision depends on beside that decision."""
    known, actions, total = 0, 0, 0.0
    for n in samples:
        known += not np.isnan(targets.returns[n])
        actions += decisions.action_ends[n + 1] - decisions.action_ends[n]
    mean, deviation = 0.0, 1.0
    if loss.normalize_advantage:
        for n in samples:
            total += targets.advantages[n]
        mean, total = total / len(samples), 0.0
        for n in samples:
            error = targets.advantages[n] - mean
            total += error * error
        deviation = np.sqrt(total / (len(samples) - 1)) + LEAST_DEVIATION
    parts = actions if loss.kind == DIFFERENCES else len(samples)
    return Scales(1 / parts, 1 / max(1, known), mean, deviation)


@compiled
def write_logs(logits: Array, count: int, logs: Array) -> None:
    """Write the log-probabilities of a decision's actions."""
    most = float(logits[0])
    for k in range(1, count):
        most = max(most, float(logits[k]))
    total = 0.0
    for k in range(count):
        total += exp(logits[k] - most)
    shift = most + log(total)
    for k in range(count):
        logs[k] = logits[k] - shift


@compiled
def write_loss(
    loss: Loss,
    scales: Scales,
    targets: Targets,
    decisions: Decisions,
    n: int,
    outputs: Outputs,
    logs: Array,
    figures: Array,
) -> None:
    """Write the gradients of a decision's logits and value; add its share to the figures."""
    first = decisions.action_ends[n]
    count = decisions.action_ends[n + 1] - first
    if loss.kind == DIFFERENCES:
        figures[POLICY] += _differences(targets, first, count, scales.policy, outputs)
    else:
        write_logs(outputs.logits, count, logs)
        if loss.kind == GAIN:
            figures[POLICY] += _gain(targets, first, count, scales.policy, logs, outputs)
        else:
            _ppo(loss, scales, targets, n, first, count, logs, outputs, figures)
    outputs.value_gradient[0] = 0
    if not np.isnan(targets.returns[n]):
        error = float(outputs.value[0]) - targets.returns[n]
        figures[VALUE] += scales.value * error * error
        outputs.value_gradient[0] = 2 * loss.vf_coef * scales.value * error


@compiled
def _ppo(
    loss: Loss,
    scales: Scales,
    targets: Targets,
    n: int,
    first: int,
    count: int,
    logs: Array,
    outputs: Outputs,
    figures: Array,
) -> None:
    share, chosen = scales.policy, targets.chosen[n]
    change = logs[chosen] - targets.log_probabilities[n]
    ratio = exp(change)
    advantage = (targets.advantages[n] - scales.mean) / scales.deviation
    clipped = advantage * min(max(ratio, 1 - loss.clip_range), 1 + loss.clip_range)
    slope = -advantage * ratio if advantage * ratio <= clipped else 0.0
    entropy, divergence = 0.0, 0.0
    for k in range(count):
        entropy -= exp(logs[k]) * logs[k]
        if len(targets.reference):
            divergence += exp(logs[k]) * (logs[k] - targets.reference[first + k])
    for k in range(count):
        probability = exp(logs[k])
        total = slope * ((k == chosen) - probability)
        total += loss.ent_coef * probability * (logs[k] + entropy)
        if len(targets.reference):
            beyond = logs[k] - targets.reference[first + k] - divergence
            total += loss.kl_coef * probability * beyond
        outputs.logits_gradient[k] = share * total
    figures[POLICY] -= share * min(advantage * ratio, clipped)
    figures[ENTROPY] += share * entropy
    figures[CHANGE] += share * (ratio - 1 - change)
    figures[CLIPPED] += share * (abs(ratio - 1) > loss.clip_range)
    figures[DIVERGENCE] += share * divergence


@compiled
def _differences(targets: Targets, first: int, count: int, share: float, outputs: Outputs) -> float:
    """Write the gradients of regression on differences, and return a decision's loss."""
    mean, total = 0.0, 0.0
    for k in range(count):
        mean += (outputs.logits[k] - targets.labels[first + k]) / count
    for k in range(count):
        error = outputs.logits[k] - targets.labels[first + k] - mean
        outputs.logits_gradient[k] = 2 * share * error
        total += share * error * error
    return total


@compiled
def _gain(
    targets: Targets, first: int, count: int, share: float, logs: Array, outputs: Outputs
) -> float:
    """Write the gradients of the gain of all actions, and return a decision's loss."""
    mean, chance, gain = 0.0, 0.0, 0.0
    for k in range(count):
        chance += targets.labels[first + k] / count
        mean += exp(logs[k]) * targets.labels[first + k]
    for k in range(count):
        outputs.logits_gradient[k] = -share * exp(logs[k]) * (targets.labels[first + k] - mean)
    gain = mean - chance
    return -share * gain
