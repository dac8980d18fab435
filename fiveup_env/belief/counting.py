"""The number of worlds that are consistent with a view, by dynamic programming.

`ways[t, state]` is the number of ways in which the free tiles from the t-th on can fill the groups,
where `state` says how many places are left in each. It is summed up from the last tile to the
first. Within a group the order of the tiles is not counted here: any place is as good as another.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.belief.evidence import impossible, read_view, tile_bit
from fiveup_env.belief.structs import BELIEF, Beliefs
from fiveup_env.engine.state import Views
from fiveup_env.engine.view import as_view
from fiveup_env.native import (
    Array,
    Mask,
    Struct,
    Word,
    Words,
    bit_count,
    compiled,
    inlined,
    inner,
    signed,
)
from fiveup_env.rules.tiles import TILE_COUNT

DIGITS: Final = 8  # of a number of worlds, and of what it is computed from
_LOW: Final = np.uint64((1 << 32) - 1)


@inner
def count_ways(belief: Struct) -> Array:
    """Return `ways[t, state]` for every t and state."""
    t = signed(bit_count(belief.free))
    ways = np.zeros((t + 1, full(belief) + 1), np.uint64)
    ways[t, 0] = belief.states > 0
    for tile in range(TILE_COUNT - 1, -1, -1):
        bit = tile_bit(tile)
        if belief.free & bit:
            t -= 1
            for g in range(belief.group_count):
                if belief.groups[g].admits & bit:
                    _add_ways(belief, belief.groups[g], bit, ways, t)
    return ways


@inlined
def _add_ways(belief: Struct, group: Struct, bit: Mask, ways: Array, t: int) -> None:
    """Add to `ways[t]` the ways in which the t-th tile goes to a group."""
    for half in range(0, belief.states, belief.fillings):
        half_after = 0 if group.fitting & bit else half
        for block in range(0, belief.fillings, group.span):
            for filling in range(block + group.stride, block + group.span):
                ways[t, half + filling] += ways[t + 1, half_after + filling - group.stride]


@inlined
def full(belief: Struct) -> int:
    """Return the state in which all places of all groups are left."""
    return signed(max(belief.states, 1) - 1)


def count(view: np.ndarray) -> int:
    """Return the exact number of worlds that are consistent with a view.

    Two worlds differ if they differ in a dealt hand (as a set), in one of the tiles drawn, or in
    what is left of the boneyard (as a set).

    Args:
        view: An array of one VIEW struct.

    Raises:
        BeliefError: If there are none.
    """
    view, belief, digits = as_view(view), np.zeros(1, BELIEF), np.zeros(DIGITS, np.uint64)
    if not fill_count(view, belief, digits):
        raise impossible(view)
    return int(sum(int(digit) << 32 * k for k, digit in enumerate(digits)))


@inlined
def write_count(public: Struct, belief: Struct, ways: Word, digits: Array) -> None:
    """Write the number of worlds as digits of 32 bits, the lowest first.

    `ways` is `ways[0, full(belief)]`. Ways tell places apart by their groups alone, so each stands
    for every order in a group; worlds tell no places in a hand apart, nor in the boneyard.
    """
    rules = public.rules
    digits[:] = 0
    digits[0], digits[1] = ways & _LOW, ways >> np.uint64(32)
    for g in range(belief.group_count):
        for size in range(2, belief.groups[g].size + 1):
            _multiply(digits, size)
    for i in range(belief.settled_count):
        _multiply(digits, belief.settled[i].size)
    for size in range(2, rules.hand_size + 1):
        for _ in range(rules.players - 1):
            _divide(digits, size)
    for size in range(2, public.boneyard - public.drawn + 1):
        _divide(digits, size)


@inlined
def _multiply(digits: Array, factor: int) -> None:
    carry = np.uint64(0)
    for k in range(len(digits)):
        carry += digits[k] * np.uint64(factor)
        digits[k] = carry & _LOW
        carry >>= np.uint64(32)


@inlined
def _divide(digits: Array, divisor: int) -> None:
    rest = np.uint64(0)
    for k in range(len(digits) - 1, -1, -1):
        rest = rest << np.uint64(32) | digits[k]
        digits[k] = rest // np.uint64(divisor)
        rest %= np.uint64(divisor)


@compiled
def fill_count(views: Views, belief: Beliefs, digits: Words) -> bool:
    """Write the number of worlds of the first view; return whether there is any."""
    read_view(views[0], belief[0])
    ways = count_ways(belief[0])[0, full(belief[0])]
    write_count(views[0].public, belief[0], ways, digits)
    return bool(ways > 0)
