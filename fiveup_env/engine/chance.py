"""TODO."""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.compiled import Struct, Word, compiled, inlined, signed
from fiveup_env.engine.state import ONE
from fiveup_env.errors import SeedError
from fiveup_env.rules.tiles import TILE_COUNT

# --- Chance: hand k of seed s is the same deal and the same lot, whatever was played before.

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HAND_STEP = np.uint64(0xD1B54A32D192ED03)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = (np.uint64(shift) for shift in (27, 30, 31, 32))


@inlined
def scramble(word: Word) -> Word:
    """SplitMix64's finaliser: 64 bits in, 64 well-mixed bits out, one to one."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@inlined
def chance_below(key: Word, counter: int, bound: int) -> int:
    """A number below `bound`, the `counter`-th of the stream that `key` names (bias < 1e-8)."""
    word = scramble(key + np.uint64(counter + 1) * _GOLDEN)
    return signed(((word >> _S32) * np.uint64(bound)) >> _S32)


@compiled
def deal(game: Struct) -> int:
    """Deal this hand of the game's seed; the answer is the lot, a seat."""
    public, rules, order = game.public, game.public.rules, game.order
    tiles = (rules.max_pip + 1) * (rules.max_pip + 2) // 2
    key = scramble(scramble(game.seed) + np.uint64(public.hand_number + 1) * _HAND_STEP)
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
    """A seed, or a SeedError where it is no whole number of 64 bits."""
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or not 0 <= seed < 1 << 64:
        raise SeedError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}")
    return int(seed)
