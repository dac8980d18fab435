"""Where the hidden tiles are, as `opponents.heuristics.hidden` infers it from the others' plays.

A game does not keep the order of its plays, so what each tells is noted as it is made:

    game, result = step(rules, before, action)
    evidence = noted(rules, evidence, before, action, game)

Evidence is public: the odds of each tile, by seat (float32[5, 28]). `chances` is what the seat to
move makes of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from fiveup_env.jax.features import (
    MASKS,
    by_tile,
    chance_at,
    for_plays,
    lacked_by,
    look,
    none_table,
    others_of,
    unseen_by,
)
from fiveup_env.jax.legality import legal_for
from fiveup_env.jax.rows import turned
from fiveup_env.jax.state import SEATS, Game, count, drawn, draws, entry, plies, union, widened
from fiveup_env.jax.values import pick
from fiveup_env.opponents.heuristics.features import PIPS_A_POINT
from fiveup_env.opponents.heuristics.hidden import LAPSE, MODEL, ROUNDS
from fiveup_env.opponents.networks.lookahead import CERTAIN
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW
from fiveup_env.rules.fields import DRAW_OPTIONAL, MAX_PLAYERS
from fiveup_env.rules.tiles import BEFORE_IN_LEAD_ORDER, SUITS, TILE_COUNT

if TYPE_CHECKING:
    from jax import Array

    from fiveup_env.jax.values import RuleValues

_TILES = np.arange(TILE_COUNT, dtype=np.uint32)
_ACTIONS = np.arange(ACTION_COUNT)
_TILE = np.where(_ACTIONS < DRAW, ACTION_TILE, 0)
_NONE = none_table().reshape(-1).astype(np.float32)
_HAS_PIP = (np.array(SUITS)[:, None] >> _TILES & 1).astype(np.float32)  # by pip and tile


def no_evidence() -> Array:
    """Return the evidence before the first play of a game."""
    return jnp.ones((MAX_PLAYERS, TILE_COUNT), jnp.float32)


def noted(rules: RuleValues, evidence: Array, before: Game, action: Any, after: Game) -> Array:
    """Return the evidence after a step, which may have ended a hand or been refused."""
    before, after = widened(before), widened(after)
    action = jnp.clip(jnp.asarray(action).astype(jnp.int32), 0, ACTION_COUNT - 1)
    is_bound = pick(rules.draw == DRAW_OPTIONAL, False, _lacks_now(before))
    mover = (before.turn == SEATS) & (union(after.played) != union(before.played))
    tells = mover & ~is_bound & (count(before.hands) > 1)
    odds = jnp.where(tells[:, None], evidence * _telling(rules, before, action), evidence)
    # What a seat lacks and may hold, it has drawn.
    fitted = (after.lack_ply == plies(after)).astype(jnp.float32) @ _HAS_PIP > 0
    odds = jnp.where(fitted, 1, odds)
    drew = draws(rules, after) - draws(rules, before)
    held = count(after.hands) - drew
    bound = (after.turn == SEATS) & (drew > 0)
    kept = drew - pick(rules.draw == DRAW_OPTIONAL, False, bound)
    mixed = (kept[:, None] + held[:, None] * odds) / jnp.maximum(1, kept + held)[:, None]
    odds = jnp.where(kept[:, None] > 0, mixed, odds)
    return jnp.where(union(after.played) == 0, 1, odds).astype(jnp.float32)


def _lacks_now(game: Game) -> Array:
    """Return whether each seat lacked the open pips when the last tile was set: bool[5]."""
    return (game.lack_ply == plies(game)).any(1)


def _telling(rules: RuleValues, game: Game, action: Array) -> Array:
    """Return by what a play multiplies the odds of every tile in the mover's hand: float32[28]."""
    outside = unseen_by(rules, game, jnp.uint32(0))
    others = others_of(rules, game, outside, outside)
    some = jnp.asarray(1 - _NONE)

    def worth(option: Array) -> Array:
        rest = ~jnp.asarray(MASKS[_TILE])[option]
        following, partner = (
            (tiles & rest, size) for tiles, size in (others.following, others.partner)
        )
        seen = look(rules, game, others._replace(following=following, partner=partner), option)
        feed = chance_at(some, partner, seen.feed).sum()
        later = (
            MODEL["reply"] * chance_at(some, following, seen.reply).sum()
            + MODEL["starve"] * chance_at(jnp.asarray(_NONE), following, seen.stuck)
            + MODEL["feed"] * pick(rules.sides < rules.players, feed, 0)
        )
        return (
            MODEL["points"] * seen.points
            + MODEL["pips"] / PIPS_A_POINT * seen.pips
            + MODEL["double"] * seen.double
            + jnp.where(seen.goes_on, later, 0)
        )

    values = for_plays(rules, game, outside, worth)
    may = legal_for(rules, game, outside) & (_ACTIONS < DRAW)
    own = jnp.asarray(_TILE)[action]
    made = jnp.sum(jnp.where(action == _ACTIONS, values, 0))
    ratios = jnp.where(may, jnp.exp(values - made), 0)
    instead = ratios[:TILE_COUNT] + by_tile(ratios[TILE_COUNT:DRAW], jnp.sum)
    share = LAPSE + (1 - LAPSE) / (1 + instead)
    tells = (outside & ~lacked_by(rules, game, game.turn)) & MASKS != 0
    return jnp.where(tells & (own != _TILES), share, 1)


def chances(rules: RuleValues, game: Game, evidence: Array) -> Array:
    """Return the chance of every tile to be in each hand that the seat to move does not see.

    Returns:
        float32[6, 28]: a row for each seat, its own one 0, and one for the boneyard.
    """
    game = widened(game)
    unseen = unseen_by(rules, game, entry(game.hands, game.turn)) & MASKS != 0
    is_other = (rules.players > SEATS) & (game.turn != SEATS)
    sizes = jnp.where(is_other, count(game.hands), 0)
    odds = jnp.concatenate([_prior(rules, game, sizes) * evidence, jnp.ones((1, TILE_COUNT))])
    sizes = jnp.append(sizes, rules.boneyard - drawn(rules, game)).astype(jnp.float32)
    odds = jnp.where((sizes > 0)[:, None] & unseen, odds, 0)

    def spread(scales: Array) -> Array:
        scaled = scales[:, None] * odds
        totals = scaled.sum(0)
        return jnp.where(totals > 0, scaled / jnp.where(totals > 0, totals, 1), 0)

    scales = jnp.ones(MAX_PLAYERS + 1, jnp.float32)
    for _ in range(ROUNDS - 1):
        sums = spread(scales).sum(1)
        scales = jnp.where(sums > 0, scales * sizes / jnp.where(sums > 0, sums, 1), scales)
    return spread(scales)


def _prior(rules: RuleValues, game: Game, sizes: Array) -> Array:
    """Return the odds of every tile in each seat's hand before any play: float32[5, 28].

    What a seat lacked, or nobody was dealt, it can only have drawn.
    """
    many = jnp.maximum(1, sizes)
    seat_draws = draws(rules, game)
    drew = jnp.where(game.lack_ply >= 0, seat_draws[:, None] - game.lack_draws, many[:, None])
    shares = (drew / many[:, None])[:, :, None] + (1 - _HAS_PIP) * TILE_COUNT
    prior = jnp.minimum(1, shares.min(1))
    undealt = jnp.asarray(BEFORE_IN_LEAD_ORDER)[jnp.maximum(0, game.forced_lead)] & MASKS != 0
    undealt &= game.forced_lead >= 0
    return jnp.where(undealt, jnp.minimum(prior, (seat_draws / many)[:, None]), prior)


def chance_piece(rules: RuleValues, game: Game, chances: Array) -> Array:
    """Return the chances as a row of `lookahead` has them: int8[112]."""
    others = turned(rules, game.turn, chances[:MAX_PLAYERS])[1:]
    return jnp.rint(others * CERTAIN).astype(jnp.int8).ravel()
