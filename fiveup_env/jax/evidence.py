"""Evidence from the others' plays: the last two pieces of a row of `lookahead`.

A game does not keep the order of its plays, so each is noted as it is made:

    game, result = step(rules, before, action)
    evidence = noted(rules, evidence, before, action, game)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp

from fiveup_env.jax.features import MASKS, bests, unseen_by
from fiveup_env.jax.layout import fives_of
from fiveup_env.jax.rows import totals_after, turned
from fiveup_env.jax.state import SEATS, Game, draws, entry, union, widened
from fiveup_env.opponents.networks.lookahead import MOST
from fiveup_env.rules.actions import ACTION_COUNT, DRAW
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT, TILE_PIPS

if TYPE_CHECKING:
    from jax import Array

    from fiveup_env.jax.values import RuleValues


class Evidence(NamedTuple):
    """What each seat's plays since its last draw tell of each tile; public."""

    passed_over: Array  # int8[5, 28]: how often the seat set another tile where this one would fit
    forgone: Array  # int8[5, 28]: the most by which it would have scored more


def no_evidence() -> Evidence:
    """Return what is known before the first play of a game."""
    nothing = jnp.zeros((MAX_PLAYERS, TILE_COUNT), jnp.int8)
    return Evidence(nothing, nothing)


def noted(
    rules: RuleValues, evidence: Evidence, before: Game, action: Any, after: Game
) -> Evidence:
    """Return what is known after a step, which may have ended a hand or been refused."""
    before, after = widened(before), widened(after)
    action = jnp.clip(jnp.asarray(action).astype(jnp.int32), 0, ACTION_COUNT - 1)
    leads = union(before.played) == 0
    best = bests(rules, before)
    best = jnp.where(leads, fives_of(rules, jnp.asarray(TILE_PIPS, jnp.int32)), best)
    fits = jnp.where(leads, before.forced_lead < 0, best >= 0)
    sets = (action < DRAW) & (union(after.played) != union(before.played))
    here = (before.turn == SEATS)[:, None] & fits & sets
    scored = fives_of(rules, totals_after(before)[action])
    passed_over = evidence.passed_over + here
    forgone = jnp.where(here, best - scored, 0)
    forgone = jnp.clip(jnp.maximum(evidence.forgone, forgone), 0, MOST)
    has_drawn = draws(rules, after) != draws(rules, before)
    forgets = has_drawn | (union(after.played) == 0)
    return Evidence(
        *(
            jnp.where(forgets[:, None], 0, numbers).astype(jnp.int8)
            for numbers in (passed_over, forgone)
        )
    )


def evidence_pieces(rules: RuleValues, game: Game, evidence: Evidence) -> Array:
    """Return the evidence that the seat to move has: the last two pieces of a row, int8[224]."""
    game = widened(game)
    is_unseen = unseen_by(rules, game, entry(game.hands, game.turn)) & MASKS != 0
    pieces = (turned(rules, game.turn, piece)[1:] for piece in evidence)
    return jnp.stack([jnp.where(is_unseen, piece, 0) for piece in pieces]).astype(jnp.int8).ravel()
