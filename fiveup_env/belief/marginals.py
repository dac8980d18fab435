"""The probability of each place for each tile, given a view.

The probability that a tile goes to a group is the number of ways to reach a state before it, times
the number of ways to continue after it, summed over the states and divided by the number of all
ways. The places of the group share it equally.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.belief.counting import count_ways, full
from fiveup_env.belief.evidence import impossible, read_view, tile_bit
from fiveup_env.belief.structs import BELIEF, BONEYARD, Beliefs
from fiveup_env.engine.state import PLAYING, Views
from fiveup_env.engine.view import as_views
from fiveup_env.native import Array, DoubleTables, Mask, Struct, Word, compiled, inlined, inner
from fiveup_env.rules.tiles import TILE_COUNT


@inner
def fill_marginals(views: Array, beliefs: Array, shares: Array) -> bool:
    """Write the probability of each tile to be in each hand and in the boneyard by the first view.

    Return whether any world is consistent with it. `shares` must hold zeros and is shaped as
    `marginals` returns it; the belief is scratch memory.
    """
    view, belief = views[0], beliefs[0]
    read_view(view, belief)
    ways = count_ways(belief)
    total = ways[0, full(belief)]
    if total == 0:
        return False
    reached = np.zeros_like(ways)
    reached[0, full(belief)] = 1
    for i in range(belief.settled_count):
        item = belief.settled[i]
        if belief.hidden & tile_bit(item.tile):
            shares[belief.holder[belief.places[item.first]], item.tile] = 1
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
    """Return the number of ways in which the t-th tile goes to a group.

    Add to `reached[t + 1]` the number of ways in which that leads to each state.
    """
    number = np.uint64(0)
    for half in range(0, belief.states, belief.fillings):
        half_after = 0 if group.fitting & bit else half
        for block in range(0, belief.fillings, group.span):
            for filling in range(block + group.stride, block + group.span):
                state, after = half + filling, half_after + filling - group.stride
                number += reached[t, state] * ways[t + 1, after]
                reached[t + 1, after] += reached[t, state]
    return number


@inlined
def _share_out(belief: Struct, group: Struct, tile: int, share: float, shares: Array) -> None:
    """Add a probability to the rows of those who hold the places of a group, in equal parts."""
    for i in range(group.first, group.first + group.size):
        shares[belief.holder[belief.places[i]], tile] += share / group.size


@compiled
def fill_all_marginals(views: Views, beliefs: Beliefs, shares: DoubleTables) -> int:
    """Write the probabilities of all views whose hand is in play, as `fill_marginals` does.

    Return the index of a view that no world is consistent with, which ends it, or -1.
    """
    for i in range(len(views)):
        playing = views[i].public.phase == PLAYING
        if playing and not fill_marginals(views[i : i + 1], beliefs, shares[i]):
            return i
    return -1


def marginals(views: np.ndarray) -> np.ndarray:
    """Return the probability of each tile to be in each hand or in the boneyard now.

    Args:
        views: An array of VIEW structs [N].

    Returns:
        Probabilities [N, 6, 28]: rows 0 to 4 are the seats, row 5 is the boneyard; columns are
        tiles, and that of a tile that has been played is 0. All are 0 where the hand is over.

    Raises:
        BeliefError: If no world is consistent with a view of a hand in play.
    """
    views = as_views(views)
    shares = np.zeros((len(views), BONEYARD + 1, TILE_COUNT))
    i = fill_all_marginals(views, np.zeros(1, BELIEF), shares)
    if i >= 0:
        raise impossible(views[i : i + 1])
    return shares
