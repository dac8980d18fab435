"""The heuristics' features of every play, as `opponents.heuristics.features` computes them.

Only legal plays are looked at, PLAYS_AT_ONCE at a time. What a play leaves is looked at once, as a
`Look` of whole numbers, from which both the features and the ladder's values follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from fiveup_env.engine.scoring import FIVES
from fiveup_env.jax.layout import attach, fitting, fives_of, open_ends
from fiveup_env.jax.legality import ENDS, legal
from fiveup_env.jax.rows import totals_after
from fiveup_env.jax.state import Game, count, draws, entry, next_seat, union, widened
from fiveup_env.jax.values import RuleValues, pick
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES, MOST_FIVES, PIPS_A_POINT
from fiveup_env.opponents.networks.lookahead import MOST, STEPS
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW, FIRST_PLAIN
from fiveup_env.rules.fields import DRAW_UNTIL_PLAYABLE
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT, TILE_PIPS, TILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from jax import Array

PLAYS_AT_ONCE: Final = 16
_ACTIONS = np.arange(ACTION_COUNT, dtype=np.int32)
_LATER = slice(TILE_COUNT, DRAW)  # the actions that set a tile on an end: doubles first
_DOUBLES = FIRST_PLAIN - TILE_COUNT  # how many of them
MASKS = np.uint32(1) << np.arange(TILE_COUNT, dtype=np.uint32)  # of each tile
_BY_TILE = np.argsort([*ACTION_TILE[TILE_COUNT:FIRST_PLAIN], *ACTION_TILE[FIRST_PLAIN:DRAW:4]])
_PIPS = np.where(_ACTIONS < DRAW, TILE_PIPS[ACTION_TILE], 0).astype(np.int32)
_IS_DOUBLE = np.array([a < DRAW and TILES[ACTION_TILE[a]].is_double for a in range(ACTION_COUNT)])


class Look(NamedTuple):
    """What a play scores and leaves: whole numbers."""

    points: Array  # what it scores, on the cribbage scale
    pips: Array  # what leaves the hand
    double: Array  # whether that is a double
    goes_on: Array  # whether a tile is left in the hand: without one, all the rest is 0
    follow: Array  # the most that another tile of the hand would score afterwards
    mine: Array  # how many tiles of the hand fit afterwards ...
    theirs: Array  # ... and how many unseen tiles
    reply: Array  # int32[most]: how many tiles the next seat may hold that score 1, 2, ... or more
    feed: Array  # int32[most]: likewise the partner
    stuck: Array  # how many of the tiles that the next seat may hold fit ...
    stuck_last: Array  # ... and likewise the seat before


class Others(NamedTuple):
    """What is known of the hands that a play is looked at for; each is (tiles, size)."""

    following: tuple[Array, Array]
    last: tuple[Array, Array]
    partner: tuple[Array, Array]
    hand: Array
    unseen: Array


def none_table() -> np.ndarray:
    """Return the chance that a hand has none of the wanted tiles: float64[29, 29, 29].

    By the hand's size, the tiles that it may hold, and how many of them are wanted.
    """
    size, tiles, wanted = np.ogrid[: TILE_COUNT + 1, : TILE_COUNT + 1, : TILE_COUNT + 1]
    none = np.ones((TILE_COUNT + 1,) * 3)
    for k in range(TILE_COUNT):
        factor = np.maximum(0, tiles - wanted - k) / np.maximum(1, tiles - k)
        none = np.where(k < size, none * factor, none)
    return none


def chance_at(table: Array, others: tuple[Array, Array], wanted: Array) -> Array:
    """Look up a table that is laid out like `none_table`, flat, for one seat's hand."""
    tiles, size = others
    row = (size * (TILE_COUNT + 1) + count(tiles)) * (TILE_COUNT + 1)
    return table[row + wanted]


_NONE = none_table().reshape(-1)
_NONE_STEPS = np.rint(_NONE * STEPS).astype(np.int32)


def others_of(rules: RuleValues, game: Game) -> Others:
    """Return what the seat to move knows of the other hands, for a widened game."""
    hand = entry(game.hands, game.turn)
    unseen = unseen_by(rules, game, hand)
    certain = (game.lack_ply >= 0) & (game.lack_draws == draws(rules, game)[:, None])
    certain &= pick(rules.draw == DRAW_UNTIL_PLAYABLE, True, False)
    shifts = 4 * np.arange(PIP_COUNT, dtype=np.uint32)
    lacked = jnp.sum(jnp.where(certain, jnp.uint32(1) << shifts, 0), axis=1, dtype=jnp.uint32)

    def may_hold(seat: Array) -> tuple[Array, Array]:
        return unseen & ~fitting(entry(lacked, seat)), count(entry(game.hands, seat))

    before = jnp.where(game.turn > 0, game.turn - 1, rules.players - 1)
    partner = game.turn + rules.sides
    partner = jnp.where(partner >= rules.players, partner - rules.players, partner)
    following = next_seat(rules, game.turn)
    return Others(may_hold(following), may_hold(before), may_hold(partner), hand, unseen)


def unseen_by(rules: RuleValues, game: Game, hand: Array) -> Array:
    """Return the tiles that a seat with this hand does not see."""
    every = (jnp.uint32(1) << jnp.asarray(rules.tiles, jnp.uint32)) - jnp.uint32(1)
    return every & ~(hand | union(game.played))


def most_fives(rules: RuleValues) -> int:
    """Return a bound on the points of a play."""
    most = FIVES[rules.multiple].max() if rules.is_static else MOST_FIVES - 1
    return min(int(most), MOST_FIVES - 1)


def bests(rules: RuleValues, layout: Any) -> Array:
    """Return the most that each tile can score on a layout, -1 if it fits nowhere: int32[28].

    `layout` has `plain`, `double` and `total`, as a widened game has.
    """
    plain, double = open_ends(layout)
    is_open = (plain | double << 1) >> ENDS[_LATER] & 1 == 1
    points = fives_of(rules, totals_after(layout)[_LATER])
    points = jnp.where(is_open, jnp.minimum(points, MOST_FIVES - 1), -1)
    return jnp.concatenate([points[:_DOUBLES], points[_DOUBLES:].reshape(-1, 4).max(1)])[_BY_TILE]


def tiles_where(condition: Array) -> Array:
    """Return the mask of the tiles for which a condition holds, bool[..., 28]."""
    return jnp.sum(jnp.where(condition, MASKS, jnp.uint32(0)), axis=-1, dtype=jnp.uint32)


def look(rules: RuleValues, game: Game, others: Others, action: Array) -> Look:
    """Return what a play scores and leaves, for a widened game."""
    placed = attach(rules, game, action)
    kept = others.hand & ~placed.tile
    best = bests(rules, placed)
    fives = 1 + np.arange(most_fives(rules), dtype=np.int32)
    scoring = tiles_where(best >= fives[:, None])
    fit = tiles_where(best >= 0)
    tile_is_kept = kept & MASKS != 0
    return Look(
        points=fives_of(rules, placed.total),
        pips=jnp.asarray(_PIPS)[action],
        double=jnp.asarray(_IS_DOUBLE)[action],
        goes_on=kept != 0,
        follow=jnp.max(jnp.where(tile_is_kept, jnp.maximum(best, 0), 0)),
        mine=count(kept & fit),
        theirs=count(others.unseen & fit),
        reply=count(scoring & others.following[0]),
        feed=count(scoring & others.partner[0]),
        stuck=count(fit & others.following[0]),
        stuck_last=count(fit & others.last[0]),
    )


def for_plays(rules: RuleValues, game: Game, made: Callable[[Array], Any]) -> Any:
    """Return what `made` makes of every legal play, by action; 0 for all other actions.

    Args:
        rules: The rules.
        game: A widened game.
        made: A function of an action that returns a pytree of arrays.
    """
    plays = legal(rules, game) & (_ACTIONS < DRAW)
    number = jnp.cumsum(plays) - 1
    nothing = jax.tree.map(
        lambda made: jnp.zeros((ACTION_COUNT, *made.shape), made.dtype),
        jax.eval_shape(made, jnp.zeros((), jnp.int32)),
    )

    def some(carry: tuple[Array, Any]) -> tuple[Array, Any]:
        start, before = carry
        slots = start + np.arange(PLAYS_AT_ONCE, dtype=np.int32)
        chosen = jnp.where(plays & (number == slots[:, None]), _ACTIONS, 0).sum(1)
        results = jax.vmap(made)(chosen)
        slot = number - start
        here = plays & (slot >= 0) & (slot < PLAYS_AT_ONCE)
        slot = jnp.clip(slot, 0, PLAYS_AT_ONCE - 1)

        def put(old: Array, new: Array) -> Array:
            where = here.reshape(-1, *[1] * (new.ndim - 1))
            return jnp.where(where, new.at[slot].get(mode="promise_in_bounds"), old)

        return start + PLAYS_AT_ONCE, jax.tree.map(put, before, results)

    start = jnp.zeros((), jnp.int32)
    return lax.while_loop(lambda carry: carry[0] <= number[-1], some, (start, nothing))[1]


def features(rules: RuleValues, game: Game) -> Array:
    """Return the features of every legal play as `lookahead` encodes them: int8[121, 9].

    Expectations that lie half way between two steps may be rounded to the other one.
    """
    game = widened(game)
    others = others_of(rules, game)

    def steps(action: Array) -> Array:
        return _steps(rules, others, look(rules, game, others, action))

    return for_plays(rules, game, steps)


def _steps(rules: RuleValues, others: Others, seen: Look) -> Array:
    """Return the features that a look has, as they are encoded."""
    some, steps = jnp.asarray(1 - _NONE, jnp.float32), jnp.asarray(_NONE_STEPS)
    partners = rules.sides < rules.players
    at_end = {
        "points": seen.points * STEPS,
        "pips": jnp.rint(seen.pips * (STEPS / PIPS_A_POINT)),
        "double": seen.double * STEPS,
    }
    with_more = {
        "follow": seen.follow * STEPS,
        "control": jnp.rint(seen.mine * STEPS / jnp.maximum(1, seen.mine + seen.theirs)),
        "reply": jnp.rint(chance_at(some, others.following, seen.reply).sum() * STEPS),
        "feed": jnp.rint(chance_at(some, others.partner, seen.feed).sum() * STEPS),
        "starve": chance_at(steps, others.following, seen.stuck),
        "starve_last": chance_at(steps, others.last, seen.stuck_last),
    }
    with_more["feed"] = pick(partners, with_more["feed"], 0)
    with_more["starve_last"] = pick(rules.players > 2, with_more["starve_last"], 0)
    every = at_end | {name: jnp.where(seen.goes_on, n, 0) for name, n in with_more.items()}
    row = jnp.stack([jnp.asarray(every[name]).astype(jnp.int32) for name in FEATURE_NAMES])
    return jnp.minimum(row, MOST).astype(jnp.int8)
