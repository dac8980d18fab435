"""The layout: what an action sets where, and what it leaves open.

The numbers of an action are packed into one word, because looking up one word is faster than five.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import jax.numpy as jnp
import numpy as np

from fiveup_env.engine.layout import DOUBLE_OF, TILE_HIGH, TILE_LOW
from fiveup_env.engine.state import CLOSED, ONE_SIDE, TWO_SIDES
from fiveup_env.jax.state import count
from fiveup_env.jax.values import RuleValues, divide, pick
from fiveup_env.rules.actions import (
    ACTION_COUNT,
    ACTION_END,
    ACTION_OUTWARD,
    ACTION_PIP,
    ACTION_SHOWS,
    ACTION_TILE,
    DOUBLE_END,
    DRAW,
)
from fiveup_env.rules.fields import SPIN_ALL, SPIN_FIRST
from fiveup_env.rules.tiles import PIP_COUNT, SUITS, TILE_COUNT, TILE_PIPS

if TYPE_CHECKING:
    from jax import Array

    from fiveup_env.jax.state import Game

# By action; of draws and passes, only whether they set a tile means anything.
SETS = np.arange(ACTION_COUNT) < DRAW
LEADS = np.arange(ACTION_COUNT) < TILE_COUNT
PIP = np.maximum(ACTION_PIP, 0).astype(np.uint32)
ON_DOUBLE = ACTION_END == DOUBLE_END
_TILE = np.where(SETS, ACTION_TILE, 0)
_DOUBLE = np.where(SETS, DOUBLE_OF[_TILE], -1).astype(np.int32)  # the pip of the double it sets
# What it adds to the total, apart from what a double counts whose last free side it covers.
ADDS = np.where(ON_DOUBLE, ACTION_SHOWS, ACTION_SHOWS - ACTION_PIP).astype(np.int32)
ADDS = np.where(LEADS, TILE_PIPS[_TILE], np.where(SETS, ADDS, 0))

_NO_DOUBLE, _LOWEST = 7, PIP_COUNT + 1  # _LOWEST makes every entry of ADDS positive
_PACKED = (
    _TILE.astype(np.uint32)
    | PIP << 5
    | ON_DOUBLE.astype(np.uint32) << 8
    | np.where(_DOUBLE < 0, _NO_DOUBLE, _DOUBLE).astype(np.uint32) << 9
    | (ADDS + _LOWEST).astype(np.uint32) << 12
)


def _plain_changes() -> np.ndarray:
    """Return the change of the word of plain ends by every action (uint32, modulo 2**32)."""
    changes = np.zeros(ACTION_COUNT, np.int64)
    for action in np.flatnonzero(SETS & (_DOUBLE < 0)):
        tile = ACTION_TILE[action]
        ends = (TILE_HIGH[tile], TILE_LOW[tile]) if LEADS[action] else (ACTION_OUTWARD[action],)
        changes[action] = sum(1 << 4 * int(pip) for pip in ends)
    on_plain = SETS & ~LEADS & ~ON_DOUBLE
    changes[on_plain] -= 1 << 4 * PIP[on_plain].astype(np.int64)
    return (changes % 2**32).astype(np.uint32)


_PLAIN_CHANGES = _plain_changes()
ONES = np.uint32(sum(1 << 4 * pip for pip in range(PIP_COUNT)))  # one bit for each pip
_NIBBLES = 4 * np.arange(PIP_COUNT, dtype=np.uint32)
_PIP_BITS = [  # the tiles whose pips have a bit
    np.uint32(sum(1 << t for t in range(TILE_COUNT) if TILE_PIPS[t] >> b & 1)) for b in range(4)
]


class Placed(NamedTuple):
    """The layout after an action."""

    tile: Array  # uint32: the mask of the tile that is set; 0 for a draw or a pass
    plain: Array
    double: Array
    spinner: Array
    total: Array


def attach(rules: RuleValues, game: Game, action: Array) -> Placed:
    """Return the layout of a widened game after a legal action."""
    packed = jnp.asarray(_PACKED)[action]
    sets = action < DRAW
    pip, on_double = (packed >> 5 & 7).astype(jnp.int32), (packed >> 8 & 1 == 1) & sets
    double = (packed >> 9 & 7).astype(jnp.int32)
    adds = (packed >> 12).astype(jnp.int32) - _LOWEST
    at = (pip * 4).astype(jnp.uint32)
    last_side = on_double & (one_side(game) >> at & 1 == 1)
    spins = pick(
        rules.spinners == SPIN_ALL,
        True,
        pick(rules.spinners == SPIN_FIRST, game.spinner == pip, False),
    )
    # A tile on a double takes its state one further, but from one free side to closed, two further
    # on, if it does not spin.
    closes = last_side & jnp.logical_not(spins)
    further = jnp.where(closes, jnp.uint32(CLOSED - ONE_SIDE), jnp.uint32(1))
    state = jnp.where(action < TILE_COUNT, jnp.uint32(TWO_SIDES), jnp.uint32(ONE_SIDE))
    sets_double = double != _NO_DOUBLE
    return Placed(
        tile=jnp.where(sets, jnp.uint32(1) << (packed & 31), jnp.uint32(0)),
        plain=game.plain + jnp.asarray(_PLAIN_CHANGES)[action],
        double=game.double
        + jnp.where(on_double, further << at, jnp.uint32(0))
        + jnp.where(sets_double, state << (double * 4).astype(jnp.uint32), jnp.uint32(0)),
        spinner=jnp.where((game.spinner < 0) & sets_double, double, game.spinner),
        total=game.total + adds - jnp.where(last_side, 2 * pip, 0),
    )


def open_ends(game: Game) -> tuple[Array, Array]:
    """Return the open plain ends and the open doubles: a bit for each pip, four bits apart."""
    plain = (game.plain | game.plain >> 1 | game.plain >> 2) & ONES
    return plain, (game.double + 3 * ONES) >> 2 & ONES  # open: from TWO_SIDES to ONE_CROSS


def one_side(game: Game) -> Array:
    """Return the doubles with one free side: a bit for each pip, four bits apart."""
    return game.double >> 1 & ~game.double & ONES


def fitting(ends: Array) -> Array:
    """Return the tiles with a pip of some open ends, which are a bit for each pip."""
    tiles = jnp.uint32(0)
    for pip in range(PIP_COUNT):
        tiles |= jnp.where(ends >> 4 * pip & 1 == 1, SUITS[pip], jnp.uint32(0))
    return tiles


def nibbles(word: Array) -> Array:
    """Return the four bits of each pip: int32[7]."""
    return (word >> _NIBBLES & 15).astype(jnp.int32)


def pips_of(hands: Array) -> Array:
    """Return the pips in each hand."""
    pips = jnp.zeros(hands.shape, jnp.int32)
    for power, tiles in enumerate(_PIP_BITS):
        pips += count(hands & tiles) << power
    return pips


def fives_of(rules: RuleValues, total: Array) -> Array:
    """Return the points of a total on the cribbage scale."""
    fives = divide(total, rules.multiple)
    return jnp.where(fives * rules.multiple == total, fives, 0)
