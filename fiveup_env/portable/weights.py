"""A policy as one block of numbers: a head that says what it is, and its weights in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.engine.compiled import Array, compiled, inlined, signed
from fiveup_env.opponents.networks.compiled import (
    ENTRIES,
    MOST_DEPTH,
    MOST_WIDTH,
    Weights,
    sizes_of,
)
from fiveup_env.opponents.networks.files import settings_in
from fiveup_env.opponents.networks.lookahead import FEATURE_COUNT
from fiveup_env.opponents.networks.policy import NETWORK_ERROR, PolicyAgent
from fiveup_env.opponents.search.network_search import reward_of
from fiveup_env.opponents.search.units import AIMS
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = 504_601  # the first number of a block
POINTS, CHANCES = range(2)  # what a search from the policy aims at
AIM_NAMES: Final = ("hand", "game")
# The numbers of the head. With `values`, logits are values, as expert iteration learns them.
HEAD: Final = ("format", "width", "depth", "aim", "values")
_FORMAT, _WIDTH, _DEPTH, _AIM, _VALUES = range(len(HEAD))
WORTH_COUNT: Final = sizes_of(1, 0)["worth"][0]


def pack(path: str | Path) -> bytes:
    """Return a policy as compiled code reads it, by its name or its folder."""
    policy = PolicyAgent(str(path))
    width, depth = policy.weights.first.shape[1], len(policy.weights.inner)
    aim = AIM_NAMES.index(AIMS[reward_of(policy.about)])
    values = settings_in(policy.about).get("learner") == "expert"
    parts = (np.array([FORMAT, width, depth, aim, values]), *policy.weights)
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
    return bool(len(block) == len(HEAD) + _count_of(int(width), int(depth)))


@inlined
def _count_of(width: int, depth: int) -> int:
    """Return how many weights a network has."""
    blocks = depth * (2 * width + 2 * (width + 1) * width)
    heads = (ACTION_COUNT + FEATURE_COUNT + 1) * (width + 1) + WORTH_COUNT
    return (ENTRIES + 1) * width + blocks + 2 * width + heads


@inlined
def aim_of(block: Array) -> int:
    """Return what a search from a policy aims at."""
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
