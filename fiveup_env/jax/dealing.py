"""What is dealt: the tiles and the lot of `engine.chance`, for all games or for those in need."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import custom_batching, lax

from fiveup_env.engine.chance import GOLDEN, HAND_STEP
from fiveup_env.jax.state import SEATS, bit
from fiveup_env.jax.words import add, hashed, high_product, scramble, word
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from jax import Array

    from fiveup_env.jax.values import RuleValues

_PLACES = np.arange(TILE_COUNT, dtype=np.int32)
_BOUNDS = (_PLACES + 1).astype(np.uint32)
_STEPS = [word((counter + 1) * int(GOLDEN) % 2**64) for counter in range(TILE_COUNT)]
_COUNTERS = np.array([high for high, _ in _STEPS]), np.array([low for _, low in _STEPS])


class Dealt(NamedTuple):
    """A hand that has been dealt."""

    hands: Array  # uint32[5]
    order: Array  # int8[28]: the boneyard's tiles in the order drawn, then -1
    lot: Array  # int32: the seat drawn by lot


def deal(rules: RuleValues, seed: Array, hand_number: Array) -> Dealt:
    """Deal the hand with a seed, uint32[2], and a number."""
    partners, lot = _swaps(rules, seed, hand_number)
    tiles = _shuffled(rules, lax.optimization_barrier(partners))
    return Dealt(*_handed_out(rules, tiles), lot)


def deal_where(
    needed: Any, parts: int, rules: RuleValues, seed: Array, hand_number: Array
) -> Dealt:
    """Deal a hand; where none is needed, the result may be anything.

    Under `jax.vmap` only the games in need are dealt to, in parts of one in `parts` of all games. A
    game needs a deal once in some twenty moves, so one part is mostly enough. With `parts` 0, all
    are dealt to, always.
    """
    if not parts:
        return deal(rules, seed, hand_number)
    if rules.is_static:
        return _dealer(rules, parts)(needed, seed, hand_number)
    return _dealer(None, parts)(needed, seed, hand_number, rules)


def _swaps(rules: RuleValues, seed: Array, hand_number: Array) -> tuple[Array, Array]:
    """Return the place that each place is swapped with, and the lot."""
    key = lax.optimization_barrier(hashed(scramble((seed[0], seed[1])), HAND_STEP, hand_number))
    numbers = scramble(add(key, _COUNTERS))[0]
    lot = high_product(numbers[0], jnp.asarray(rules.players, jnp.uint32))
    return high_product(numbers, _BOUNDS).astype(jnp.int32), lot.astype(jnp.int32)


def _shuffled(rules: RuleValues, partners: Array) -> Array:
    """Return the tile at each place, after the swaps from the last place down to the second.

    The tile that ends up at a place is found by following it back through the swaps. That writes
    nothing, and all places are followed at once.
    """
    tile = partners
    for step in range(1, rules.tiles if rules.is_static else TILE_COUNT):
        follows = (tile == partners[step]) & (step > _PLACES)
        tile = jnp.where(follows if rules.is_static else follows & (step < rules.tiles), step, tile)
    return tile


def _handed_out(rules: RuleValues, tiles: Array) -> tuple[Array, Array]:
    """Return the hands and the boneyard of shuffled tiles: the boneyard comes first."""
    place = _PLACES - rules.boneyard
    seats = SEATS[:, None]
    own = (place >= seats * rules.hand_size) & (place < (seats + 1) * rules.hand_size)
    own &= seats < rules.players
    hands = jnp.sum(jnp.where(own, bit(tiles), jnp.uint32(0)), axis=1, dtype=jnp.uint32)
    return hands, jnp.where(place < 0, tiles, -1).astype(jnp.int8)


@cache
def _dealer(static: RuleValues | None, parts: int) -> Any:
    """Return `deal` with an argument more, `needed`; rules that are not static are the last."""

    def rules_of(given: tuple[RuleValues, ...]) -> RuleValues:
        return given[0] if static is None else static

    def dealt(needed: Array, seed: Array, number: Array, *given: RuleValues) -> Dealt:
        del needed
        return deal(rules_of(given), seed, number)

    def batched(size: int, is_batched: Any, *arguments: Any) -> tuple[Dealt, Dealt]:
        def spread(value: Array, has_games: bool) -> Array:  # noqa: FBT001
            return value if has_games else jnp.broadcast_to(value, (size, *jnp.shape(value)))

        needed, *rest = jax.tree.map(spread, arguments, tuple(is_batched))
        return _deal_in_parts(parts, rules_of, needed, rest), Dealt(True, True, True)

    dealer = custom_batching.custom_vmap(dealt)
    dealer.def_vmap(batched)
    return dealer


def _deal_in_parts(parts: int, rules_of: Any, needed: Array, arguments: list[Any]) -> Dealt:
    """Deal to those games of a batch that need it, a part of the batch at a time."""
    size = len(needed)
    part = -(-size // parts)
    rank = jnp.cumsum(needed, dtype=jnp.int32)  # 1 for the first game in need
    most = rank[-1]

    def zeros(like: Any) -> Array:
        """Return zeros that are shared out among devices as the games are."""
        return jnp.zeros(like.shape, like.dtype) + jnp.zeros_like(most).astype(like.dtype)

    def deal_next(loop: tuple[Array, Dealt]) -> tuple[Array, Dealt]:
        done, results = loop

        def staged(stage: Any, *values: Any) -> Any:
            """Compute a stage in a branch: XLA for CPUs would work out each swap 28 times."""
            function = jax.vmap(lambda given, *values: stage(rules_of(given), *values))

            def nothing(*values: Any) -> Any:
                return jax.tree.map(zeros, jax.eval_shape(function, *values))

            return lax.cond(done < most, function, nothing, tuple(given), *values)

        games = jnp.searchsorted(rank, done + 1 + jnp.arange(part), method="scan_unrolled")
        games = lax.optimization_barrier(jnp.minimum(games, size - 1))
        seed, number, *given = jax.tree.map(lambda values: values[games], arguments)
        partners, lot = staged(_swaps, seed, number)
        tiles = staged(_shuffled, partners)
        hands, order = staged(_handed_out, tiles)
        dealt = Dealt(hands, order, lot)
        own = needed & (rank > done) & (rank <= done + part)
        index = jnp.where(own, rank - done - 1, 0)

        def spread(new: Array, old: Array) -> Array:
            return jnp.where(own.reshape(-1, *[1] * (old.ndim - 1)), new[index], old)

        return done + part, jax.tree.map(spread, dealt, results)

    nothing = Dealt(
        zeros(jax.ShapeDtypeStruct((size, len(SEATS)), jnp.uint32)),
        zeros(jax.ShapeDtypeStruct((size, TILE_COUNT), jnp.int8)),
        zeros(jax.ShapeDtypeStruct((size,), jnp.int32)),
    )
    first = jnp.zeros_like(most), nothing
    return lax.while_loop(lambda loop: loop[0] < most, deal_next, first)[1]
