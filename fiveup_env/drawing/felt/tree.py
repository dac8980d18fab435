"""The tree of tiles on the table, rebuilt from the plays of one hand.

The engine keeps only what the open ends show, because nothing else matters to the game. A picture
must know which tile is attached to which. A play may come with the arm that was chosen for it; else
the end nearest to the lead is taken, then the oldest. Later plays change no earlier choice.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.layout import TILE_HIGH, TILE_LOW
from fiveup_env.native import Array, Struct, inlined, inner, signed
from fiveup_env.rules.actions import (
    ACTION_COUNT,
    ACTION_END,
    ACTION_PIP,
    ACTION_SHOWS,
    ACTION_TILE,
    PLAIN_END,
)
from fiveup_env.rules.fields import SPIN_ALL, SPIN_FIRST

# The kinds of places at which a tile may be attached: an exposed half, a long side of a double,
# and a short end of a spinner.
PLAIN, SIDE, CROSS = range(3)
MOST_PLACES: Final = 4
ANY_ARM: Final = -1  # in place of the number of an arm: no arm was chosen

# A tile on the table, by the number of its play. An arm is 4 * node + place.
NODE = np.dtype(
    [
        ("tile", np.int8),
        ("high", np.int8),
        ("low", np.int8),
        ("parent", np.int8),  # the tile that it is attached to, -1 for the lead ...
        ("place", np.int8),  # ... and the place there
        ("depth", np.int8),
        ("exact", np.int8),  # whether an arm of this tile was chosen: all its arms are then kept
        ("count", np.int8),  # of its places
        ("kinds", np.int8, (MOST_PLACES,)),
        ("pips", np.int8, (MOST_PLACES,)),
        ("children", np.int8, (MOST_PLACES,)),  # the tile attached to each place, or -1
    ],
    align=True,
)


@inner
def grow(actions: Array, arms: Array, spinners: int, nodes: Array) -> int:
    """Attach the tiles of some plays, the lead first; return how many fit before one does not."""
    first_double = -1
    for number in range(len(actions)):
        action = signed(actions[number])
        if not 0 <= action < ACTION_COUNT or ACTION_TILE[action] < 0:
            return number
        if (ACTION_PIP[action] < 0) != (number == 0):
            return number
        arm = -1 if number == 0 else _arm_for(nodes, number, action, signed(arms[number]))
        if number > 0 and arm < 0:
            return number
        node = nodes[number]
        node.tile = ACTION_TILE[action]
        node.high, node.low = TILE_HIGH[node.tile], TILE_LOW[node.tile]
        node.parent, node.place, node.depth, node.exact = -1, -1, 0, 0
        if number > 0:
            parent = nodes[arm // MOST_PLACES]
            node.parent, node.place = arm // MOST_PLACES, arm % MOST_PLACES
            node.depth = parent.depth + 1
            parent.children[node.place] = number
            if arms[number] != ANY_ARM:
                parent.exact = 1
        if node.high == node.low and first_double < 0:
            first_double = number
        spins = spinners == SPIN_ALL or (spinners == SPIN_FIRST and first_double == number)
        _open_places(node, signed(ACTION_SHOWS[action]), spins)
    return len(actions)


@inlined
def _open_places(node: Struct, shows: int, spins: bool) -> None:  # noqa: FBT001 - compiled
    """Write the places of a tile, except the one by which it is attached."""
    for place in range(MOST_PLACES):
        node.children[place] = -1
        node.kinds[place] = node.pips[place] = 0
    if node.high == node.low:
        sides = 2 if node.parent < 0 else 1
        node.count = sides + (2 if spins else 0)
        for place in range(node.count):
            node.kinds[place] = SIDE if place < sides else CROSS
            node.pips[place] = node.high
    elif node.parent < 0:
        node.count = 2
        node.pips[0], node.pips[1] = node.high, node.low
    else:
        node.count = 1
        node.pips[0] = shows


@inlined
def _arm_for(nodes: Array, number: int, action: int, chosen: int) -> int:
    """Return the arm for a play: that chosen if it fits, else the one nearest to the lead."""
    best, depth = -1, len(nodes) + 1
    for n in range(number):
        for place in range(nodes[n].count):
            plain = nodes[n].kinds[place] == PLAIN
            if nodes[n].pips[place] != ACTION_PIP[action]:
                continue
            if plain != (ACTION_END[action] == PLAIN_END) or not is_end(nodes[n], place, number):
                continue
            if MOST_PLACES * n + place == chosen:
                return chosen
            if nodes[n].depth < depth:
                best, depth = MOST_PLACES * n + place, signed(nodes[n].depth)
    return best if chosen == ANY_ARM else -1


@inlined
def is_free(node: Struct, place: int, plays: int) -> bool:
    """Return whether nothing is attached to a place after a number of plays."""
    return node.children[place] < 0 or node.children[place] >= plays


@inlined
def is_end(node: Struct, place: int, plays: int) -> bool:
    """Return whether a place is an open end: crosses are once both sides are covered."""
    if not is_free(node, place, plays):
        return False
    if node.kinds[place] == CROSS:
        for other in range(node.count):
            if node.kinds[other] == SIDE and is_free(node, other, plays):
                return False
    return True


@inlined
def counts_at(node: Struct, place: int, plays: int) -> int:
    """Return an open end's share of the total: the second free side of a double has none."""
    if node.kinds[place] == PLAIN:
        return signed(node.pips[place])
    if node.kinds[place] == CROSS or (place == 1 and is_free(node, 0, plays)):
        return 0
    return 2 * signed(node.pips[place])


@inlined
def are_alike(node: Struct, one: int, other: int) -> bool:
    """Return whether the rules see no difference between two places of a tile."""
    return node.kinds[one] == node.kinds[other] and node.pips[one] == node.pips[other]
