"""What is allowed: the legal actions of a hand.

An action is legal if its tile is in the hand and its end is open. So each is two bits to look up:
one in the hand, one in a word of open ends (4 pip: plain, 4 pip + 1: double).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from fiveup_env.engine.state import PLAYING
from fiveup_env.jax.layout import LEADS, ON_DOUBLE, PIP, SETS, fitting, open_ends
from fiveup_env.jax.state import bit, drawn, entry, most_drawn, union
from fiveup_env.jax.values import RuleValues, pick
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW, PASS
from fiveup_env.rules.fields import DRAW_OPTIONAL
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from jax import Array

    from fiveup_env.jax.state import Game

_ALWAYS = TILE_COUNT  # a bit that every hand has, for draws and passes
_LEAD, _DRAW, _PASS = 2, 3, 6  # bits of the word of ends that are no ends
_HOLDS = np.where(SETS, ACTION_TILE, _ALWAYS).astype(np.uint32)
ENDS = np.where(LEADS, _LEAD, 4 * PIP + ON_DOUBLE).astype(np.uint32)
ENDS[DRAW], ENDS[PASS] = _DRAW, _PASS


def legal(rules: RuleValues, game: Game) -> Array:
    """Return whether each action is legal for the seat to move: bool[121]."""
    return legal_for(rules, game, entry(game.hands, game.turn))


def legal_for(rules: RuleValues, game: Game, hand: Array) -> Array:
    """Return whether each action would be legal with a hand: bool[121]."""
    tiles, ends = _may_set(game, hand), _open_word(rules, game, hand)
    return (tiles >> _HOLDS) & (ends >> ENDS) & 1 == 1


def is_legal(rules: RuleValues, game: Game, action: Array) -> Array:
    """Return whether an action is legal; any integer may be given."""
    hand = entry(game.hands, game.turn)
    index = jnp.clip(action, 0, ACTION_COUNT - 1)
    holds, end = jnp.asarray(_HOLDS)[index], jnp.asarray(ENDS)[index]
    allowed = (_may_set(game, hand) >> holds) & (_open_word(rules, game, hand) >> end) & 1 == 1
    return allowed & (index == action)


def _may_set(game: Game, hand: Array) -> Array:
    """Return the tiles of a hand that may be set, and the bit that is always there."""
    forced = (game.forced_lead >= 0) & (union(game.played) == 0)
    tiles = jnp.where(forced, hand & bit(jnp.maximum(game.forced_lead, 0)), hand)
    return tiles | jnp.uint32(1 << _ALWAYS)


def _open_word(rules: RuleValues, game: Game, hand: Array) -> Array:
    """Return the open ends, or that a tile may be led; with optional draws, draw or pass."""
    begun = union(game.played) != 0
    plain, double = open_ends(game)
    word = jnp.where(begun, plain | double << 1, jnp.uint32(1 << _LEAD))
    if not rules.is_static or rules.draw == DRAW_OPTIONAL:
        may_draw = drawn(rules, game) < most_drawn(rules)
        may_play = ~begun | (hand & fitting(plain | double) != 0)
        stuck = jnp.where(may_play, jnp.uint32(0), jnp.uint32(1 << _PASS))
        choice = jnp.where(may_draw, jnp.uint32(1 << _DRAW), stuck)
        word |= pick(rules.draw == DRAW_OPTIONAL, choice, jnp.uint32(0))
    return jnp.where(game.phase == PLAYING, word, jnp.uint32(0))
