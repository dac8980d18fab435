"""Worlds drawn at random, each consistent world with the same probability.

A random number below the number of all ways names one of them: from the first free tile to the
last, it says which group takes the tile. Within a group a place is then chosen at random.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.belief.counting import count_ways, full
from fiveup_env.belief.evidence import impossible, read_view, tile_bit
from fiveup_env.belief.structs import BELIEF, BONEYARD, WORLD, Beliefs, Worlds
from fiveup_env.engine.chance import chance_below, scramble
from fiveup_env.engine.state import GAME, ONE, Views
from fiveup_env.engine.view import as_view
from fiveup_env.native import Array, Struct, Word, compiled, inlined, inner, lowest_bit, signed
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT


@compiled
def fill_worlds(views: Views, belief: Beliefs, key: Word, worlds: Worlds) -> bool:
    """Fill the hands and orders of WORLD structs with worlds of the first view.

    Return whether any world is consistent with it. The worlds are independent, each with the same
    probability. The key names the random stream; the belief is scratch memory.
    """
    ways = count_worlds(views[0], belief[0])
    if ways[0, full(belief[0])] == 0:
        return False
    draw_worlds(belief[0], ways, key, 0, worlds)
    return True


@inner
def count_worlds(view: Struct, belief: Struct) -> Array:
    """Read a view into a belief, and return the ways that `draw_worlds` needs.

    They serve for any number of draws. None is consistent with the view if the last of them in the
    first row, `ways[0, full(belief)]`, is 0: then no world may be drawn.
    """
    read_view(view, belief)
    return count_ways(belief)


@inner
def draw_worlds(belief: Struct, ways: Array, key: Word, first: int, worlds: Array) -> None:
    """Fill structs with the worlds of the stream that a key names, from number `first` on."""
    left, places = np.zeros(TILE_COUNT, np.int8), np.zeros(TILE_COUNT, np.int8)
    for i in range(len(worlds)):
        stream = scramble(key + scramble(np.uint64(first + i + 1)))
        _start_world(belief, stream, left, places, worlds[i])
        _finish_world(belief, ways, stream, left, places, worlds[i])


@inlined
def _start_world(belief: Struct, key: Word, left: Array, places: Array, world: Struct) -> None:
    """Place the known and the settled tiles, and note that all other places are left."""
    for seat in range(MAX_PLAYERS):
        world.hands[seat] = belief.known.hands[seat]
    for i in range(TILE_COUNT):
        world.order[i] = belief.known.order[i]
        places[i] = belief.places[i]
    for i in range(belief.settled_count):
        item = belief.settled[i]
        _put(belief, item.tile, _take(places, item.first, item.size, key, i), world)
    for g in range(belief.group_count):
        left[g] = belief.groups[g].size


@inlined
def _finish_world(
    belief: Struct, ways: Array, key: Word, left: Array, places: Array, world: Struct
) -> None:
    """Place the free tiles as a random number below the number of all ways says."""
    state, t, free = full(belief), 0, belief.free
    number = _number_below(key, ways[0, state])
    while free:
        tile = lowest_bit(free)
        free &= free - ONE
        t += 1
        g, after = -1, state
        for choice in range(belief.group_count):  # pragma: no branch - the ways add up
            if left[choice] > 0 and belief.groups[choice].admits & tile_bit(tile):
                g, after = choice, _after(belief, belief.groups[choice], tile, state)
                if number < ways[t, after]:
                    break
                number -= ways[t, after]
        end = belief.groups[g].first + belief.groups[g].size
        _put(belief, tile, _take(places, end - left[g], left[g], key, TILE_COUNT + t), world)
        left[g] -= 1
        state = after


@inlined
def _after(belief: Struct, group: Struct, tile: int, state: int) -> int:
    """Return the state after a tile has gone to a group."""
    fitted = state >= belief.fillings and group.fitting & tile_bit(tile)
    return signed(state - group.stride - (belief.fillings if fitted else 0))


@inlined
def _take(places: Array, first: int, size: int, key: Word, counter: int) -> int:
    """Choose one of some places at random, swap it with the first of them, and return it."""
    chosen = first + chance_below(key, counter, size)
    places[first], places[chosen] = places[chosen], places[first]
    return signed(places[first])


@inlined
def _put(belief: Struct, tile: int, place: int, world: Struct) -> None:
    """Put a tile into a place, and into the hand that it came to unless it has been played."""
    if place < belief.boneyard:
        world.order[place] = tile
    holder = belief.holder[place]
    if holder != BONEYARD and belief.hidden & tile_bit(tile):
        world.hands[holder] |= tile_bit(tile)


@inlined
def _number_below(key: Word, bound: Word) -> Word:
    """Return a random number below a bound of up to 64 bits, each with the same probability."""
    word = scramble(key)
    while word < (np.uint64(0) - bound) % bound:
        word = scramble(word + np.uint64(1))
    return word % bound


def sample(view: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return worlds drawn independently and uniformly from all that are consistent with a view.

    Args:
        view: An array of one VIEW struct.
        n: The number of worlds.
        rng: The source of chance.

    Returns:
        An array of WORLD structs [n].

    Raises:
        BeliefError: If there are none.
    """
    view, worlds = as_view(view), np.zeros(n, WORLD)
    key = rng.integers(2**64 - 1, dtype=np.uint64, endpoint=True)
    if not fill_worlds(view, np.zeros(1, BELIEF), key, worlds):
        raise impossible(view)
    return worlds


def worlds_to_games(view: np.ndarray, worlds: np.ndarray) -> np.ndarray:
    """Return games that continue a view's game, one in each world.

    Args:
        view: An array of one VIEW struct.
        worlds: WORLD structs [n], as `sample` returns them.

    Returns:
        GAME structs [n], whose seeds are 0.
    """
    view = as_view(view)
    games = np.zeros(len(worlds), GAME)
    games["public"] = view["public"]
    games["hands"] = worlds["hands"]
    games["order"] = worlds["order"]
    return games
