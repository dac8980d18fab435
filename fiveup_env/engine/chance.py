"""Chance: the deal of a hand and the lot for its leader, both from the seed of the game.

Hand k of seed s has the same deal and the same lot whatever was played before it. Every random
number is computed from a key and a counter, so there is no generator with a state to keep.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.engine.state import ONE, tile_count
from fiveup_env.errors import SeedError, shown
from fiveup_env.native import Struct, Word, inlined, inner, signed
from fiveup_env.rules.tiles import TILE_COUNT

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
HAND_STEP = np.uint64(0xD1B54A32D192ED03)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31, _S32 = (np.uint64(shift) for shift in (11, 27, 30, 31, 32))


@inlined
def scramble(word: Word) -> Word:
    """Return 64 well-mixed bits for 64 bits, one to one (SplitMix64's finaliser)."""
    word = (word ^ (word >> _S30)) * MIX_1
    word = (word ^ (word >> _S27)) * MIX_2
    return word ^ (word >> _S31)


@inlined
def fraction(word: Word) -> float:
    """Return 64 bits as a number from 0 to below 1."""
    return float(word >> _S11) * 2.0**-53


@inlined
def chance_below(key: Word, counter: int, bound: int) -> int:
    """Return number `counter` of the stream of `key`, from 0 to `bound` - 1 (bias < 1e-8)."""
    word = scramble(key + np.uint64(counter + 1) * GOLDEN)
    return signed(((word >> _S32) * np.uint64(bound)) >> _S32)


@inner
def deal(game: Struct) -> int:
    """Deal the hand with the game's seed and hand number, and return the seat drawn by lot."""
    public, rules, order = game.public, game.public.rules, game.order
    tiles = tile_count(rules)
    key = scramble(scramble(game.seed) + np.uint64(public.hand_number + 1) * HAND_STEP)
    for i in range(tiles):
        order[i] = i
    for i in range(tiles - 1, 0, -1):
        j = chance_below(key, i, i + 1)
        order[i], order[j] = order[j], order[i]
    public.boneyard = tiles - rules.players * rules.hand_size
    k = public.boneyard
    for seat in range(rules.players):
        hand = np.uint32(0)
        for _ in range(rules.hand_size):
            hand |= ONE << np.uint32(order[k])
            order[k] = -1
            k += 1
        game.hands[seat] = hand
    for i in range(tiles, TILE_COUNT):
        order[i] = -1
    return chance_below(key, 0, rules.players)


def checked_seed(seed: object) -> int:
    """Return a seed as an int; raise SeedError if it is not an unsigned 64-bit integer."""
    number = whole(seed, 0, 2**64 - 1)
    if number is None:
        raise SeedError(f"a seed is a whole number from 0 to 2**64 - 1, not {shown(seed)}")
    return number
