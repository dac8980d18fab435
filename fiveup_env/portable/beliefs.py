"""Beliefs for other languages: the number of worlds, and where each tile may be."""

from __future__ import annotations

import numpy as np
from numba import carray

from fiveup_env.belief.counting import DIGITS, fill_count
from fiveup_env.belief.marginals import fill_marginals
from fiveup_env.belief.structs import BELIEF, BONEYARD
from fiveup_env.engine.state import VIEW
from fiveup_env.engine.valid import first_unsound_view
from fiveup_env.native import Array
from fiveup_env.portable.calls import BAD_VIEW, NO_WORLD, OK, entry, reads, writes
from fiveup_env.rules.tiles import TILE_COUNT

WORDS_OUT = 4  # digits of 32 bits that hold any number of worlds


@entry(view=reads(VIEW), digits=writes(np.uint32))
def count_worlds(view: Array, digits: Array) -> int:
    """Write the exact number of worlds as 4 digits of 32 bits, the lowest first."""
    views, number = carray(view, 1), np.zeros(DIGITS, np.uint64)
    if first_unsound_view(views)[0] >= 0:
        return BAD_VIEW
    if not fill_count(views, np.zeros(1, BELIEF), number):
        return NO_WORLD
    digits = carray(digits, WORDS_OUT)
    for k in range(WORDS_OUT):
        digits[k] = number[k]
    return OK


@entry(view=reads(VIEW), shares=writes(np.float64))
def marginals(view: Array, shares: Array) -> int:
    """Write the probability of each of the 28 tiles to be in hands 0 to 4 and in the boneyard."""
    views, probabilities = carray(view, 1), np.zeros((BONEYARD + 1, TILE_COUNT))
    if first_unsound_view(views)[0] >= 0:
        return BAD_VIEW
    if not fill_marginals(views, np.zeros(1, BELIEF), probabilities):
        return NO_WORLD
    shares = carray(shares, (BONEYARD + 1, TILE_COUNT))
    for holder in range(BONEYARD + 1):
        for tile in range(TILE_COUNT):
            shares[holder, tile] = probabilities[holder, tile]
    return OK
