"""A policy as one block of numbers: a head that says what it is, and its weights in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.encoders.flat import FLAT_SIZE
from fiveup_env.learning import networks as learning
from fiveup_env.learning.networks import GUIDED, KINDS, PLAIN, Shape, weight_count
from fiveup_env.native import Array, inlined, inner, signed, uncompiled
from fiveup_env.opponents.networks.compiled import (
    ENTRIES,
    MOST_DEPTH,
    MOST_WIDTH,
    Weights,
    is_plain,
)
from fiveup_env.opponents.networks.files import settings_in
from fiveup_env.opponents.networks.lookahead import FEATURE_COUNT
from fiveup_env.opponents.networks.policy import NETWORK_ERROR, PolicyAgent
from fiveup_env.opponents.search.network_search import reward_of
from fiveup_env.opponents.search.units import AIMS

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
    width, depth, kind = policy.weights.first.shape[1], len(policy.weights.inner), GUIDED
    if uncompiled(is_plain, policy.weights):
        depth, kind = depth + 1, PLAIN
    aim = AIM_NAMES.index(AIMS[reward_of(policy.about)])
    values = settings_in(policy.about).get("learner") == "expert"
    parts = (np.array([FORMAT, width, depth, aim, values, kind]), *policy.weights)
    return b"".join(part.astype("<f4").tobytes() for part in parts)


@inner
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


@inner
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


@inner
def weights_in(block: Array) -> Any:
    """Return the weights in a block that fits, sharing its memory."""
    shape = shape_in(block)
    weights = learning.weights_in(block[len(HEAD) :], shape)
    return Weights(
        weights.first,
        weights.first_bias,
        weights.norms,
        weights.inner,
        weights.inner_bias,
        weights.outer,
        weights.outer_bias,
        weights.norm,
        weights.head,
        weights.head_bias,
        weights.guide.reshape((shape.width, shape.features)),  # as `write_block` leaves it
        weights.guide_bias,
        weights.worth,
        weights.value,
        weights.value_bias,
    )
