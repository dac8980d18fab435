"""What it brings: points, and what the end of a hand brings (RULES.md, sections 1, 3 and 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from fiveup_env.jax.layout import pips_of
from fiveup_env.jax.state import SEATS, by_side
from fiveup_env.jax.values import RuleValues, divide, pick
from fiveup_env.rules.fields import ARMANINO, PAY_DIFFERENCE, ROUND_ALL, ROUND_HAND, SUBTRACT_OWN

if TYPE_CHECKING:
    from jax import Array

_MANY = 999  # more pips than there are


def gained(rules: RuleValues, scores: Array, points: Array) -> Array:
    """Return the points that count: none past an exact target."""
    past = (points > 0) & (scores + points > rules.target)
    return pick(rules.exact_target == 1, jnp.where(past, 0, points), points)


def end_fives(rules: RuleValues, hands: Array, side: Array, went_out: Array) -> Array:
    """Return each side's points for the end of a hand, in fives; `side` went out, or it is a block.

    Args:
        rules: The rules.
        hands: The hands at the end, uint32[5].
        side: The side that made the last move.
        went_out: Whether it went out.
    """

    def rounded(pips: Any) -> Any:
        return divide(pips + (rules.multiple - 1) // 2, rules.multiple)

    is_side = rules.sides > SEATS
    in_hands = pips_of(hands)
    pips = by_side(rules, in_hands)
    by_itself = by_side(rules, rounded(in_hands))
    fives = pick(rules.round_per == ROUND_HAND, by_itself, jnp.where(is_side, rounded(pips), 0))

    everything, fewest = jnp.sum(pips), jnp.min(jnp.where(is_side, pips, _MANY))
    lowest = is_side & (pips == fewest)
    tied = jnp.sum(lowest, dtype=jnp.int32)
    paid = jnp.where(went_out, side == SEATS, lowest)  # one side, unless a block is tied
    others = pick(
        rules.round_per == ROUND_ALL,
        rounded(jnp.sum(jnp.where(paid, 0, pips))),
        jnp.sum(jnp.where(paid, 0, fives)),
    )
    armanino = (rules.hand_end == ARMANINO) & (rules.sides == 3)
    by_difference = armanino | (rules.block_pays == PAY_DIFFERENCE)
    alone = pick(by_difference, rounded(everything - 2 * fewest), others)
    half = divide(jnp.max(pips) + rules.multiple - 1, 2 * rules.multiple)
    splits = (rules.sides == 3) & (rules.hand_end != ARMANINO)
    shared = pick(splits, jnp.where(tied == 2, half, 0), 0)
    by_block = jnp.where(tied == 1, alone, shared)
    points = jnp.where(paid, jnp.where(went_out, others, by_block), 0)

    rest = is_side & ~paid  # of three, Armanino pays the second, too
    low = jnp.min(jnp.where(rest, pips, _MANY))
    gap = jnp.maximum(jnp.max(jnp.where(rest, pips, 0)) - low, 0)
    second = jnp.where(went_out & rest & (pips == low), rounded(gap), 0)
    points = pick(armanino, points + second, points)
    return pick(rules.hand_end == SUBTRACT_OWN, -fives, points)
