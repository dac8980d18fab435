"""What a state is: one game as arrays, and what follows from them.

Sets of tiles are bits of a uint32. The layout is two words with four bits for each pip: how many
plain ends show it, and the state of its double. What follows from other fields (the sizes of hands,
draws, plies) is not stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from fiveup_env.jax.values import RuleValues, pick
from fiveup_env.rules.fields import MAX_PLAYERS

if TYPE_CHECKING:
    from jax import Array

SEATS = np.arange(MAX_PLAYERS, dtype=np.int32)


class Game(NamedTuple):
    """One game, hidden tiles included. Names and numbers are those of the engine's GAME struct."""

    seed: Array  # uint32[2], the high word first
    stream: Array  # uint32[2]: the key of the stream that names the next episodes
    episode: Array  # uint32: the number of the episode in its stream
    hand_number: Array  # int32
    scores: Array  # int32[5], by side
    hands: Array  # uint32[5], by seat
    played: Array  # uint32[5]: the tiles that each seat has set
    plain: Array  # uint32, four bits for each pip: the number of plain ends that show it
    double: Array  # uint32, four bits for each pip: the state of its double
    order: Array  # int8[28]: the boneyard's tiles in the order drawn, then -1
    lack_ply: Array  # int8[5, 7]: when a seat was last shown to lack a pip (-1: never) ...
    lack_draws: Array  # int8[5, 7]: ... and the seat's draws by then
    total: Any  # this and the rest: int8; the total of all open ends, modulo 256
    spinner: Any  # the pip of the first double, or -1
    turn: Any
    lead: Any
    forced_lead: Any  # the tile that must be led, or -1
    passes: Any  # in a row
    phase: Any
    ended: Any  # how the hand, or the hand before this one, ended
    winner: Any  # the side that won the game, or -1
    ending: Any  # of the episode: 0 in progress, ENDED or CUT_OFF


_SMALL = Game._fields[Game._fields.index("total") :]


def widened(game: Game) -> Game:
    """Return a game with its single bytes as int32, to calculate with."""
    wide = {name: getattr(game, name).astype(jnp.int32) for name in _SMALL}
    return game._replace(**wide | {"total": wide["total"] & 255})


def narrowed(game: Game) -> Game:
    """Return a game with its bytes as int8, as it is kept."""
    names = (*_SMALL, "lack_ply", "lack_draws")
    return game._replace(**{n: jnp.asarray(getattr(game, n)).astype(jnp.int8) for n in names})


def select(condition: Any, yes: Any, no: Any) -> Any:
    """Return one of two pytrees."""
    return (
        jnp.where(condition, yes, no)
        if not isinstance(yes, tuple)
        else type(yes)(*(select(condition, a, b) for a, b in zip(yes, no, strict=True)))
    )


def bit(number: Any) -> Array:
    """Return the mask of a tile, which must not be negative."""
    return jnp.uint32(1) << jnp.asarray(number).astype(jnp.uint32)


def count(mask: Any) -> Array:
    """Return the number of tiles of a mask."""
    return lax.population_count(mask).astype(jnp.int32)


def union(masks: Array) -> Array:
    """Return the tiles of all seats' masks."""
    return masks[0] | masks[1] | masks[2] | masks[3] | masks[4]


def entry(values: Array, index: Any) -> Array:
    """Return `values[index]` of five; a sum, because that is fused with what surrounds it."""
    return jnp.sum(jnp.where(index == SEATS, values, 0), dtype=values.dtype)


def plies(game: Game) -> Array:
    """Return the number of tiles set."""
    return count(union(game.played))


def draws(rules: RuleValues, game: Game) -> Array:
    """Return the number of tiles that each seat has drawn; what it says of absent seats is void."""
    return count(game.hands) + count(game.played) - rules.hand_size


def drawn(rules: RuleValues, game: Game) -> Array:
    """Return the number of tiles drawn by all seats."""
    return count(union(game.hands | game.played)) - rules.players * rules.hand_size


def most_drawn(rules: RuleValues) -> Any:
    """Return the number of tiles that may be drawn in a hand."""
    return jnp.maximum(rules.boneyard - rules.reserve, 0)


def next_seat(rules: RuleValues, seat: Any) -> Array:
    """Return the seat whose turn comes after a seat's."""
    return jnp.where(seat + 1 < rules.players, seat + 1, 0)


def side_of(rules: RuleValues, seat: Any) -> Array:
    """Return the side of a seat."""
    return jnp.where(seat >= rules.sides, seat - rules.sides, seat)


def by_side(rules: RuleValues, values: Array) -> Array:
    """Return the sums of each side's seats, for values by seat; 0 beyond the sides."""
    partners = jnp.concatenate([values[2:], jnp.zeros_like(values[:2])])
    both = pick(rules.sides < rules.players, values + partners, values)
    return jnp.where(rules.sides > SEATS, both, 0)


def by_seat(rules: RuleValues, values: Array) -> Array:
    """Return each seat's value, for values by side; 0 beyond the players."""
    shared = jnp.concatenate([values[:2], values[:2], values[4:]])
    both = pick(rules.sides < rules.players, shared, values)
    return jnp.where(rules.players > SEATS, both, 0)
