"""The number of worlds that are consistent with a view, by dynamic programming.

`ways[t, state]` is the number of ways in which the free tiles from the t-th on can fill the groups,
where `state` says how many places are left in each. It is summed up from the last tile to the
first. Within a group the order of the tiles is not counted here: any place is as good as another.
"""

from __future__ import annotations

from math import factorial, prod

import numpy as np

from fiveup_env.belief.evidence import impossible, read_view, tile_bit
from fiveup_env.belief.structs import BELIEF
from fiveup_env.engine.compiled import (
    Array,
    Mask,
    Struct,
    Word,
    bit_count,
    compiled,
    inlined,
    signed,
)
from fiveup_env.engine.view import as_view
from fiveup_env.rules.tiles import TILE_COUNT


@compiled
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
    view, belief = as_view(view), np.zeros(1, BELIEF)
    ways = int(count_ways_at(view, 0, belief))
    if not ways:
        raise impossible(view)
    public, groups, settled = view[0]["public"], belief["groups"][0], belief["settled"][0]
    ways *= prod(map(factorial, groups["size"][: belief[0]["group_count"]].tolist()))
    ways *= prod(settled["size"][: belief[0]["settled_count"]].tolist())
    players, hand_size = (int(public["rules"][name]) for name in ("players", "hand_size"))
    left = int(public["boneyard"] - public["drawn"])
    return ways // (factorial(hand_size) ** (players - 1) * factorial(left))


@compiled
def count_ways_at(views: Array, i: int, belief: Array) -> Word:
    """Return the number of ways for the i-th view; the belief is left filled."""
    read_view(views[i], belief[0])
    return count_ways(belief[0])[0, full(belief[0])]
