"""TODO."""

from __future__ import annotations

import numpy as np

from fiveup_env.belief.counting import count_ways, full
from fiveup_env.belief.evidence import impossible, read_view, tile_bit
from fiveup_env.belief.structs import BELIEF, BONEYARD
from fiveup_env.engine.compiled import Array, Mask, Struct, Word, compiled, inlined
from fiveup_env.rules.tiles import TILE_COUNT

# --- Marginals


@compiled
def fill_marginals(view: Struct, belief: Struct, shares: Array) -> bool:
    """Write into zeros how probable each tile is in each hand and in the boneyard.

    The answer is whether any world agrees; the belief is only lent.
    """
    read_view(view, belief)
    ways = count_ways(belief)
    total = ways[0, full(belief)]
    if total == 0:
        return False
    reached = np.zeros_like(ways)
    reached[0, full(belief)] = 1
    t = 0
    for tile in range(TILE_COUNT):
        bit = tile_bit(tile)
        if view.hand & bit:
            shares[view.seat, tile] = 1
        if belief.free & bit:
            for g in range(belief.group_count):
                if belief.groups[g].admits & bit:
                    share = _reach(belief, belief.groups[g], bit, ways, reached, t) / total
                    if belief.hidden & bit:
                        _share_out(belief, belief.groups[g], tile, share, shares)
            t += 1
    return True


@inlined
def _reach(belief: Struct, group: Struct, bit: Mask, ways: Array, reached: Array, t: int) -> Word:
    """In how many ways the t-th tile goes to a group; note in how many each state is reached."""
    number = np.uint64(0)
    for half in range(0, belief.states, belief.rooms):
        half_after = 0 if group.answers & bit else half
        for block in range(0, belief.rooms, group.span):
            for rooms in range(block + group.stride, block + group.span):
                state, after = half + rooms, half_after + rooms - group.stride
                number += reached[t, state] * ways[t + 1, after]
                reached[t + 1, after] += reached[t, state]
    return number


@inlined
def _share_out(belief: Struct, group: Struct, tile: int, share: float, shares: Array) -> None:
    """Share a probability out to those who hold a group's places."""
    for i in range(group.first, group.first + group.room):
        shares[belief.holder[belief.places[i]], tile] += share / group.room


def marginals(view: np.ndarray) -> np.ndarray:
    """How probably each tile is now in each seat's hand (rows 0 to 4) or in the boneyard (row 5).

    The column of a tile that has been played is zero.
    """
    shares = np.zeros((BONEYARD + 1, TILE_COUNT))
    if not fill_marginals_at(view, 0, np.zeros(1, BELIEF), shares):
        raise impossible(view)
    return shares


@compiled
def fill_marginals_at(views: Array, i: int, belief: Array, shares: Array) -> bool:
    """Write the marginals of a view."""
    return fill_marginals(views[i], belief[0], shares)
