"""What a seat may know: the rows of `flat`; and what is hidden from it, for critics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from fiveup_env.encoders.flat import DIGIT_BITS, DIGITS, FLAT_PIECES, LARGEST
from fiveup_env.encoders.truth import TRUTH_PIECES
from fiveup_env.engine.state import CLOSED, PLAYING
from fiveup_env.jax.layout import ADDS, ON_DOUBLE, PIP, SETS, fives_of, nibbles, one_side
from fiveup_env.jax.legality import legal_for
from fiveup_env.jax.state import (
    SEATS,
    Game,
    by_seat,
    count,
    drawn,
    draws,
    entry,
    most_drawn,
    plies,
    widened,
)
from fiveup_env.jax.values import RuleValues, divide, pick
from fiveup_env.rules.fields import CHOICES, MAX_MULTIPLE, MAX_PLAYERS, MIN_PLAYERS
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jax import Array

    from fiveup_env.encoders.pieces import Piece

_TILES = np.arange(TILE_COUNT)
_CLOSES = np.where(ON_DOUBLE & SETS, 2 * PIP, 0).astype(np.int32)  # if one side is free
_DIGIT = (1 << DIGIT_BITS) - 1


def observe(rules: RuleValues, game: Game, seat: Any = None) -> Array:
    """Return the row of `flat` for a seat, or for the seat to move: int8[557]."""
    game = widened(game)
    seat = game.turn if seat is None else jnp.asarray(seat).astype(jnp.int32)
    hand = entry(game.hands, seat)
    left = rules.boneyard - drawn(rules, game)
    seat_draws = draws(rules, game)
    modulo = game.total - divide(game.total, rules.multiple) * rules.multiple
    to_go = rules.target - by_seat(rules, game.scores)

    def by_place(values: Array) -> Array:
        return turned(rules, seat, values)

    def place_of(other: Array) -> Array:
        return jnp.where(other < seat, other - seat + rules.players, other - seat)

    lacks = game.lack_ply >= 0
    pieces = {
        "hand": _bits(hand),
        "played": _bits(by_place(game.played)),
        "plain_ends": nibbles(game.plain),
        "doubles": nibbles(game.double)[:, None] == np.arange(CLOSED + 1),
        "spinner": game.spinner == np.arange(PIP_COUNT),
        "total": jnp.minimum(game.total, LARGEST),
        "total_modulo": modulo == np.arange(MAX_MULTIPLE),
        "sizes": by_place(count(game.hands)),
        "boneyard": left,
        "drawable": jnp.maximum(most_drawn(rules) - drawn(rules, game), 0),
        "draws": by_place(seat_draws),
        "lacks": by_place(lacks),
        "lacks_age": by_place(jnp.where(lacks, plies(game) - game.lack_ply, 0)),
        "lacks_draws": by_place(jnp.where(lacks, seat_draws[:, None] - game.lack_draws, 0)),
        "turn": (place_of(game.turn) == SEATS) & (game.phase == PLAYING),
        "lead": place_of(game.lead) == SEATS,
        "passes": game.passes,
        "to_go": by_place(_digits(_in_units(rules, to_go))),
        "forced_lead": game.forced_lead == _TILES,
        **_rules_pieces(rules),
        "plays": jnp.where(seat == game.turn, _plays(rules, game, hand), 0),
    }
    return _row(FLAT_PIECES, pieces)


def truth(rules: RuleValues, game: Game, seat: Any = None) -> Array:
    """Return what is hidden from a seat, or from the seat to move: int8[168].

    For critics only, never part of an observation.
    """
    seat = (game.turn if seat is None else jnp.asarray(seat)).astype(jnp.int32)
    place = _TILES - drawn(rules, game)
    at = jnp.where((place >= 0) & (rules.boneyard > _TILES), 1 + place, 0)
    places = jnp.sum(jnp.where(game.order == _TILES[:, None], at, 0), axis=1)
    hands = _bits(turned(rules, seat, game.hands))
    return _row(TRUTH_PIECES, {"hands": hands, "boneyard_place": places})


def _row(pieces: Sequence[Piece], values: dict[str, Any]) -> Array:
    """Return the values of some pieces as one row."""
    return jnp.concatenate(
        [jnp.asarray(values[piece.name]).astype(jnp.int8).reshape(piece.size) for piece in pieces]
    )


def turned(rules: RuleValues, seat: Array, values: Array) -> Array:
    """Return values by seat in order from the observer; 0 for absent seats."""
    ring = seat + SEATS
    ring = jnp.where(ring >= rules.players, ring - rules.players, ring)
    is_there = (rules.players > SEATS).reshape(MAX_PLAYERS, *[1] * (values.ndim - 1))
    return jnp.where(is_there, values.at[ring].get(mode="promise_in_bounds"), 0)


def _bits(masks: Array) -> Array:
    """Return the bits of masks of tiles, along a new last axis."""
    return masks[..., None] >> _TILES.astype(np.uint32) & 1


def _digits(number: Array) -> Array:
    """Return the digits of numbers, the highest first, along a new last axis."""
    shifts = DIGIT_BITS * np.arange(DIGITS)[::-1]
    digits = number[..., None] >> shifts
    return jnp.where(shifts == shifts[0], jnp.clip(digits, -LARGEST - 1, LARGEST), digits & _DIGIT)


def _in_units(rules: RuleValues, points: Any) -> Array:
    """Return the least number of units that make up these points."""
    return pick(rules.unit == 1, points, (points + rules.unit - 1) // rules.unit)


def _rules_pieces(rules: RuleValues) -> dict[str, Any]:
    """Return the pieces that say by which rules the game is played."""

    def one_of(field: str) -> Array:
        return jnp.arange(len(CHOICES[field])) == getattr(rules, field)

    return {
        "players": jnp.arange(MIN_PLAYERS, MAX_PLAYERS + 1) == rules.players,
        "teams": rules.sides < rules.players,
        "spinners": one_of("spinners"),
        "draw_optional": rules.draw,
        "reserve": rules.reserve,
        "hand_end": one_of("hand_end"),
        "round_per": one_of("round_per"),
        "block_difference": rules.block_pays,
        "leader_rotates": rules.leader,
        "lead_highest_double": rules.lead_tile,
        "unit": rules.unit,
        "immediate": rules.game_end,
        "exact_target": rules.exact_target,
        "multiple": rules.multiple,
        "max_pip": rules.max_pip,
        "hand_size": rules.hand_size,
        "target": _digits(_in_units(rules, jnp.asarray(rules.target, jnp.int32))),
    }


def totals_after(layout: Any) -> Array:
    """Return the total of all open ends after every action: int32[121].

    `layout` has `double` and `total`, as a widened game has. Illegal actions may have any.
    """
    closes = jnp.where(one_side(layout) >> (4 * PIP) & 1 == 1, _CLOSES, 0)
    return jnp.maximum(layout.total + ADDS - closes, 0)


def _plays(rules: RuleValues, game: Game, hand: Array) -> Array:
    """Return, for every action, 0 if it is illegal, else 1 and what the total would score."""
    fives = jnp.where(SETS, fives_of(rules, totals_after(game)), 0)
    return jnp.where(legal_for(rules, game, hand), 1 + fives, 0)
