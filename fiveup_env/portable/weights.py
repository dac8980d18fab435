"""A policy as one block of numbers: a head that says what it is, and its weights in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.encoders.flat import FLAT_SIZE, write_rows
from fiveup_env.engine.compiled import Array, compiled, inlined, signed
from fiveup_env.engine.legality import list_legal
from fiveup_env.learning import networks as learning
from fiveup_env.learning.decisions import empty_decisions, write_decision
from fiveup_env.learning.gradients import evaluate, memory_for
from fiveup_env.learning.networks import GUIDED, KINDS, PLAIN, WORTH_COUNT, Shape, weight_count
from fiveup_env.learning.runs import PLAIN_COLUMNS
from fiveup_env.opponents.networks.compiled import (
    ENTRIES,
    MOST_DEPTH,
    MOST_WIDTH,
    Weights,
)
from fiveup_env.opponents.networks.files import settings_in
from fiveup_env.opponents.networks.lookahead import FEATURE_COUNT
from fiveup_env.opponents.networks.policy import NETWORK_ERROR, PolicyAgent
from fiveup_env.opponents.search.network_search import reward_of
from fiveup_env.opponents.search.units import AIMS
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = 504_602  # the first number of a block
POINTS, CHANCES = range(2)  # what a search from the policy aims at
AIM_NAMES: Final = ("hand", "game")
# The numbers of the head. With `values`, logits are values, as expert iteration learns them.
HEAD: Final = ("format", "width", "depth", "aim", "values", "network")
_FORMAT, _WIDTH, _DEPTH, _AIM, _VALUES, _NETWORK = range(len(HEAD))


def pack(path: str | Path) -> bytes:
    """Return a policy as compiled code reads it, by its name or its folder."""
    policy = PolicyAgent(str(path))
    width, depth = policy.weights.first.shape[1], len(policy.weights.inner)
    aim = AIM_NAMES.index(AIMS[reward_of(policy.about)])
    values = settings_in(policy.about).get("learner") == "expert"
    parts = (np.array([FORMAT, width, depth, aim, values, GUIDED]), *policy.weights)
    return b"".join(part.astype("<f4").tobytes() for part in parts)


@compiled
def weights_fit(block: Array) -> bool:
    """Return whether a block holds the weights that its head says."""
    if len(block) < len(HEAD) or block[_FORMAT] != FORMAT:
        return False
    width, depth = block[_WIDTH], block[_DEPTH]
    if not (1 <= width <= MOST_WIDTH and 1 <= depth <= MOST_DEPTH):
        return False
    if not (POINTS <= block[_AIM] <= CHANCES and 0 <= block[_VALUES] <= 1):
        return False
    if not 0 <= block[_NETWORK] < len(KINDS):
        return False
    return bool(len(block) == len(HEAD) + weight_count(shape_in(block)))


@inlined
def shape_in(block: Array) -> Shape:
    """Return the shape of a policy's network."""
    kind = int(block[_NETWORK])
    features = FEATURE_COUNT if kind == GUIDED else 0
    entries = ENTRIES if kind == GUIDED else FLAT_SIZE
    return Shape(kind, int(block[_WIDTH]), int(block[_DEPTH]), entries, features)


@inlined
def copy(numbers: Array, to: Array) -> None:
    """Copy numbers one by one; to assign an array needs what no other machine has."""
    for k in range(len(numbers)):
        to[k] = numbers[k]


@compiled
def write_block(vector: Array, shape: Shape, factors: Array, aim: int, block: Array) -> None:
    """Write a network that learns as a policy."""
    block[_FORMAT], block[_WIDTH], block[_DEPTH] = FORMAT, shape.width, shape.depth
    block[_AIM], block[_VALUES], block[_NETWORK] = aim, 0, shape.kind
    written = block[len(HEAD) :]
    copy(vector, written)
    weights, packed = learning.weights_in(vector, shape), learning.weights_in(written, shape)
    for i in range(len(factors)):
        for j in range(shape.width):
            packed.first[i, j] = weights.first[i, j] * factors[i]
    guide = packed.guide.reshape((shape.width, shape.features))
    for j in range(shape.width):
        for name in range(shape.features):
            guide[j, name] = weights.guide[name, j]


@inlined
def is_plain(block: Array) -> bool:
    """Return whether a policy's network is plain."""
    return bool(block[_NETWORK] == PLAIN)


@compiled
def write_plain_logits(views: Array, block: Array, logits: Array) -> None:
    """Write the logits of a plain network for one view, those of allowed actions alone."""
    shape, actions = shape_in(block), np.empty(ACTION_COUNT, np.int64)
    weights = learning.weights_in(block[len(HEAD) :], shape)
    rows = np.empty((1, FLAT_SIZE), np.int8)
    write_rows(views, rows)
    count = list_legal(views[0].public, views[0].hand, actions)
    decisions = empty_decisions(1, FLAT_SIZE + 1, ACTION_COUNT, 0)
    write_decision(decisions, 0, rows, 0, PLAIN_COLUMNS, actions[:count])
    logs, values = np.empty(ACTION_COUNT, np.float32), np.empty(1, np.float32)
    ones, samples = np.ones(FLAT_SIZE, np.float32), np.zeros(1, np.int64)
    evaluate(weights, ones, decisions, samples, memory_for(weights), logs, values)
    for k in range(count):
        logits[0, actions[k]] = logs[k]


@inlined
def aim_of(block: Array) -> int:
    """Return the aim of a search from a policy."""
    return signed(block[_AIM] > 0)


@inlined
def has_values(block: Array) -> bool:
    """Return whether the logits of a policy are values."""
    return bool(block[_VALUES] > 0)


@inlined
def unit_in(block: Array) -> float:
    """Return the difference of logits that counts as one in a policy's probabilities."""
    return NETWORK_ERROR if has_values(block) else 1.0


@compiled
def weights_in(block: Array) -> Any:
    """Return the weights in a block that fits, sharing its memory."""
    width, depth = int(block[_WIDTH]), int(block[_DEPTH])
    at = len(HEAD)
    first, at = _next(block, at, ENTRIES * width)
    first_bias, at = _next(block, at, width)
    norms, at = _next(block, at, depth * 2 * width)
    inner, at = _next(block, at, depth * width * width)
    inner_bias, at = _next(block, at, depth * width)
    outer, at = _next(block, at, depth * width * width)
    outer_bias, at = _next(block, at, depth * width)
    norm, at = _next(block, at, 2 * width)
    head, at = _next(block, at, ACTION_COUNT * width)
    head_bias, at = _next(block, at, ACTION_COUNT)
    guide, at = _next(block, at, width * FEATURE_COUNT)
    guide_bias, at = _next(block, at, FEATURE_COUNT)
    worth, at = _next(block, at, WORTH_COUNT)
    value, at = _next(block, at, width)
    value_bias, at = _next(block, at, 1)
    return Weights(
        first.reshape((ENTRIES, width)),
        first_bias,
        norms.reshape((depth, 2, width)),
        inner.reshape((depth, width, width)),
        inner_bias.reshape((depth, width)),
        outer.reshape((depth, width, width)),
        outer_bias.reshape((depth, width)),
        norm.reshape((2, width)),
        head.reshape((ACTION_COUNT, width)),
        head_bias,
        guide.reshape((width, FEATURE_COUNT)),
        guide_bias,
        worth,
        value,
        value_bias,
    )


@inlined
def _next(block: Array, at: int, count: int) -> tuple[Array, int]:
    return block[at : at + count], at + count
