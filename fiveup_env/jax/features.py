"""The heuristics' features of every play, as `opponents.heuristics` computes them.

Only legal plays are looked at, PLAYS_AT_ONCE at a time. What a play leaves is looked at once, as a
`Look` of whole numbers, from which the ladder's values follow. The features of a row of `lookahead`
are expected by the chances of hidden tiles (`evidence`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from fiveup_env.engine.scoring import FIVES
from fiveup_env.jax.layout import attach, fitting, fives_of, open_ends
from fiveup_env.jax.legality import ENDS, legal_for
from fiveup_env.jax.rows import totals_after
from fiveup_env.jax.state import SEATS, Game, count, draws, entry, next_seat, union, widened
from fiveup_env.jax.values import RuleValues, pick
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES, MOST_FIVES, PIPS_A_POINT
from fiveup_env.opponents.networks.lookahead import MOST, STEPS
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW, FIRST_PLAIN
from fiveup_env.rules.fields import DRAW_UNTIL_PLAYABLE, MAX_PLAYERS
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT, TILE_PIPS, TILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from jax import Array

PLAYS_AT_ONCE: Final = 16
_ACTIONS = np.arange(ACTION_COUNT, dtype=np.int32)
_LATER = slice(TILE_COUNT, DRAW)  # the actions that set a tile on an end: doubles first
_DOUBLES = FIRST_PLAIN - TILE_COUNT  # how many of them
MASKS = np.uint32(1) << np.arange(TILE_COUNT, dtype=np.uint32)  # of each tile
_BEFORE = np.tri(TILE_COUNT, k=-1, dtype=np.bool_)  # whether a tile comes before each tile
_BY_TILE = np.argsort([*ACTION_TILE[TILE_COUNT:FIRST_PLAIN], *ACTION_TILE[FIRST_PLAIN:DRAW:4]])
_PIPS = np.where(_ACTIONS < DRAW, TILE_PIPS[ACTION_TILE], 0).astype(np.int32)
_IS_DOUBLE = np.array([a < DRAW and TILES[ACTION_TILE[a]].is_double for a in range(ACTION_COUNT)])


class Look(NamedTuple):
    """The features of a play: its score and what it leaves, as whole numbers."""

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
    best: Array  # int32[28]: the most that each tile can score afterwards, -1 if it does not fit


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


class Neighbours(NamedTuple):
    """The seats that a play is looked at for."""

    following: Array
    last: Array
    partner: Array


def neighbours_of(rules: RuleValues, game: Game) -> Neighbours:
    """Return the seats next to the seat to move, and its partner's."""
    last = jnp.where(game.turn > 0, game.turn - 1, rules.players - 1)
    partner = game.turn + rules.sides
    partner = jnp.where(partner >= rules.players, partner - rules.players, partner)
    return Neighbours(next_seat(rules, game.turn), last, partner)


def lacked_by(rules: RuleValues, game: Game, seat: Array) -> Array:
    """Return the tiles that a seat was shown to lack and cannot have drawn since."""
    certain = (game.lack_ply >= 0) & (game.lack_draws == draws(rules, game)[:, None])
    certain &= pick(rules.draw == DRAW_UNTIL_PLAYABLE, True, False)
    shifts = 4 * np.arange(PIP_COUNT, dtype=np.uint32)
    lacked = jnp.sum(jnp.where(certain, jnp.uint32(1) << shifts, 0), axis=1, dtype=jnp.uint32)
    return fitting(entry(lacked, seat))


def others_of(rules: RuleValues, game: Game, hand: Array, unseen: Array) -> Others:
    """Return the knowledge of the seat to move about the other hands, for a widened game."""

    def may_hold(seat: Array) -> tuple[Array, Array]:
        return unseen & ~lacked_by(rules, game, seat), count(entry(game.hands, seat))

    seats = neighbours_of(rules, game)
    return Others(
        may_hold(seats.following), may_hold(seats.last), may_hold(seats.partner), hand, unseen
    )


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
    return by_tile(points, jnp.max)


def by_tile(values: Array, joined: Callable[..., Array]) -> Array:
    """Return the values of tiles from those of setting them on each end, 93 actions."""
    plain = joined(values[_DOUBLES:].reshape(-1, 4), axis=1)
    return jnp.concatenate([values[:_DOUBLES], plain])[_BY_TILE]


def tiles_where(condition: Array) -> Array:
    """Return the mask of the tiles for which a condition holds, bool[..., 28]."""
    return jnp.sum(jnp.where(condition, MASKS, jnp.uint32(0)), axis=-1, dtype=jnp.uint32)


def look(rules: RuleValues, game: Game, others: Others, action: Array) -> Look:
    """Return the features of a play, for a widened game."""
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
        best=best,
    )


def for_plays(rules: RuleValues, game: Game, hand: Array, made: Callable[[Array], Any]) -> Any:
    """Return what `made` makes of every legal play, by action; 0 for all other actions.

    Args:
        rules: The rules.
        game: A widened game.
        hand: The tiles of the seat to move, or those that it might have.
        made: A function of an action that returns a pytree of arrays.
    """
    plays = legal_for(rules, game, hand) & (_ACTIONS < DRAW)
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


def features(rules: RuleValues, game: Game, chances: Array) -> Array:
    """Return the features of every legal play as `lookahead` encodes them: int8[121, 9].

    Expectations that lie half way between two steps may be rounded to the other one.

    Args:
        rules: The rules.
        game: The game.
        chances: Where the hidden tiles are, as `evidence.chances` returns it: float32[6, 28].
    """
    game = widened(game)
    hand = entry(game.hands, game.turn)
    others = others_of(rules, game, hand, unseen_by(rules, game, hand))
    hands = Neighbours(
        *(
            Hand(jnp.sum(jnp.where((seat == SEATS)[:, None], chances[:MAX_PLAYERS], 0), 0), size)
            for seat, (_, size) in zip(neighbours_of(rules, game), others[:3], strict=True)
        )
    )

    def steps(action: Array) -> Array:
        return _steps(rules, hands, look(rules, game, others, action))

    return for_plays(rules, game, hand, steps)


class Hand(NamedTuple):
    """The knowledge of a hand that is not seen."""

    chances: Array  # float32[28], of each tile
    size: Array


def _none_of(hand: Hand, wanted: Array, before: Array) -> Array:
    """Return the factors, one for each tile, of the chance that a hand has no wanted tile.

    `before[tile, other]` is whether another tile has been counted by then.
    """
    chances = jnp.where(wanted, hand.chances, 0)
    places = hand.size - before.astype(jnp.float32) @ chances
    held = chances * hand.size / jnp.maximum(jnp.maximum(chances, places), 1e-30)
    return jnp.where(chances > 0, 1 - jnp.minimum(held, 1), 1)


def _stuck(hand: Hand, best: Array) -> Array:
    """Return the chance that no tile of a hand fits."""
    return _none_of(hand, best >= 0, _BEFORE).prod()


def _expected(rules: RuleValues, hand: Hand, best: Array) -> Array:
    """Return the points that a hand's best play is expected to score."""
    before = (best > best[:, None]) | ((best == best[:, None]) & _BEFORE)
    none = _none_of(hand, best > 0, before)
    fives = 1 + np.arange(most_fives(rules), dtype=np.int32)
    return (1 - jnp.where(best >= fives[:, None], none, 1).prod(1)).sum()


def _steps(rules: RuleValues, hands: Neighbours, seen: Look) -> Array:
    """Return the features that a look has, as they are encoded."""
    partners = rules.sides < rules.players
    at_end = {
        "points": seen.points,
        "pips": seen.pips / PIPS_A_POINT,
        "double": seen.double,
    }
    with_more = {
        "follow": seen.follow,
        "control": seen.mine / jnp.maximum(1, seen.mine + seen.theirs),
        "reply": _expected(rules, hands.following, seen.best),
        "feed": pick(partners, _expected(rules, hands.partner, seen.best), 0),
        "starve": _stuck(hands.following, seen.best),
        "starve_last": pick(rules.players > 2, _stuck(hands.last, seen.best), 0),
    }
    every = at_end | {name: jnp.where(seen.goes_on, n, 0) for name, n in with_more.items()}
    row = jnp.stack([jnp.asarray(every[name], jnp.float32) for name in FEATURE_NAMES])
    return jnp.minimum(jnp.rint(row * STEPS), MOST).astype(jnp.int8)
