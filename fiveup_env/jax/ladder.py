"""The ladder of heuristics in JAX: the very moves of `opponents.heuristics.ladder`.

The ladder adds up numbers of 64 bits. Here they are whole numbers of 2**-40ths, each in two int32,
so sums are exact, and what differs by less than EQUAL is as equal as it is there.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jax.numpy as jnp
import numpy as np

from fiveup_env.engine.chance import GOLDEN
from fiveup_env.errors import AgentError, unknown
from fiveup_env.jax.features import (
    Look,
    Others,
    chance_at,
    for_plays,
    look,
    none_table,
    others_of,
    unseen_by,
)
from fiveup_env.jax.layout import fives_of
from fiveup_env.jax.legality import legal
from fiveup_env.jax.rows import totals_after
from fiveup_env.jax.state import Game, entry, plies, widened
from fiveup_env.jax.values import RuleValues, pick
from fiveup_env.jax.words import Word, add, high_product, multiply, scramble, word
from fiveup_env.opponents.heuristics.features import EQUAL, FEATURE_NAMES, PIPS_A_POINT
from fiveup_env.opponents.heuristics.ladder import LADDER, weights_of
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_END, ACTION_PIP, ACTION_TILE, DRAW, PASS
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable

    from jax import Array

_BITS: Final = 40  # after the point
_LOW: Final = 20  # of them in the lower word
_EQUAL: Final = int(EQUAL * 2**_BITS)
_ACTIONS = np.arange(ACTION_COUNT)
# The order in which the engine lists legal actions: by their ends, and on an end by their tiles.
_LISTED = np.lexsort((ACTION_TILE, ACTION_PIP, ACTION_END))


class Value(NamedTuple):
    """A number in two int32, for sums: `high * 2**-20 + low * 2**-40`."""

    high: Any
    low: Any


def agent(name: str, rules: RuleValues) -> Callable[[Game, Array], Array]:
    """Return a rung of the ladder: a function of a game and a key that returns an action.

    Args:
        name: `greedy`, `defensive`, `positional`, `counter` or `partner`.
        rules: The rules of the games.

    Returns:
        A function of one game and a key, uint32[2], by which equal plays are chosen. It uses what
        the seat to move may know, and returns its action (int32).

    Raises:
        AgentError: If there is no such rung.
    """
    if name not in LADDER:
        raise AgentError(unknown("rung of the ladder", name, LADDER))
    return lambda game, key: _best(rules, widened(game), name, (key[0], key[1]))


def _best(rules: RuleValues, game: Game, name: str, key: Word) -> Array:
    allowed = legal(rules, game)
    plays = allowed & (_ACTIONS < DRAW)
    if name == "greedy":
        points = jnp.where(plays, fives_of(rules, totals_after(game)), -1)
        ties = plays & (points == points.max())
    else:
        hand = entry(game.hands, game.turn)
        others = others_of(rules, game, hand, unseen_by(rules, game, hand))

        def value(action: Array) -> Value:
            return _value(rules, others, look(rules, game, others, action), name)

        ties = _highest(plays, for_plays(rules, game, hand, value))
    draws = jnp.where(allowed[DRAW], DRAW, PASS)
    return jnp.where(plays.any(), _one_of(ties, game, key), draws).astype(jnp.int32)


def _one_of(ties: Array, game: Game, key: Word) -> Array:
    """Return one of some actions at random: of those listed, the last that the lot falls on."""
    rank = jnp.zeros(ACTION_COUNT, jnp.int32).at[_LISTED].set(jnp.cumsum(ties[_LISTED]))
    counter = (plies(game) * (PASS + 1) + _ACTIONS + 1).astype(jnp.uint32)
    steps = multiply((jnp.zeros_like(counter), counter), word(GOLDEN))
    drawn = high_product(scramble(add(key, steps))[0], rank.astype(jnp.uint32))
    falls = ties & (drawn == 0)
    last = jnp.max(jnp.where(falls, rank, 0))
    return jnp.argmax(falls & (rank == last))


def _highest(plays: Array, values: Value) -> Array:
    """Return which plays have the highest value, or one that is equal to it."""
    high, low = values.high + (values.low >> _LOW), values.low & (1 << _LOW) - 1
    top = jnp.max(jnp.where(plays, high, jnp.iinfo(jnp.int32).min))
    rest = jnp.max(jnp.where(plays & (high == top), low, -1))
    behind = jnp.minimum(top - high, 2) << _LOW
    return plays & (behind + rest - low <= _EQUAL)


@cache
def _tables(name: str) -> dict[str, Value]:
    """Return the contribution of every number of a look to an action's value."""
    weights = dict(zip(FEATURE_NAMES, weights_of(name), strict=True))
    numbers = np.arange(2 * TILE_COUNT + 1)
    none = none_table().reshape(-1)
    mine, theirs = np.ogrid[: TILE_COUNT + 1, : TILE_COUNT + 1]
    features = {
        **dict.fromkeys(("points", "follow", "double"), numbers),
        "pips": numbers / PIPS_A_POINT,
        "control": (mine / np.maximum(1, mine + theirs)).reshape(-1),
        **dict.fromkeys(("reply", "feed"), 1 - none),
        **dict.fromkeys(("starve", "starve_last"), none),
    }
    tables = {}
    for feature, weight in weights.items():
        if weight:
            whole = np.rint(features[feature] * weight * 2.0**_BITS).astype(np.int64)
            tables[feature] = Value(
                (whole >> _LOW).astype(np.int32), (whole & (1 << _LOW) - 1).astype(np.int32)
            )
    return tables


def _value(rules: RuleValues, others: Others, seen: Look, name: str) -> Value:
    """Return the value of a play."""
    tables = _tables(name)
    at_end = {"points": seen.points, "pips": seen.pips, "double": seen.double.astype(jnp.int32)}
    with_more: dict[str, Callable[[Array], Array]] = {
        "follow": lambda table: table[seen.follow],
        "control": lambda table: table[seen.mine * (TILE_COUNT + 1) + seen.theirs],
        "reply": lambda table: chance_at(table, others.following, seen.reply).sum(),
        "feed": lambda table: chance_at(table, others.partner, seen.feed).sum(),
        "starve": lambda table: chance_at(table, others.following, seen.stuck),
        "starve_last": lambda table: chance_at(table, others.last, seen.stuck_last),
    }
    is_there = {"feed": rules.sides < rules.players, "starve_last": rules.players > 2}

    def word_of(column: str) -> Array:
        total = jnp.zeros((), jnp.int32)
        for feature, table in tables.items():
            numbers = jnp.asarray(getattr(table, column))
            if feature in at_end:
                total += numbers[at_end[feature]]
            else:
                term = jnp.where(seen.goes_on, with_more[feature](numbers), 0)
                total += pick(is_there.get(feature, True), term, 0)
        return total

    return Value(word_of("high"), word_of("low"))
