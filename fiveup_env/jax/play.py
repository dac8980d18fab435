"""What happens next: moves, forced draws and passes, and the beginning of a hand.

Nothing loops. At most one seat draws after a move, because whoever draws and finds nothing has
emptied the boneyard; and the passes are the distance to the next seat that can play.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from fiveup_env.engine.state import (
    BLOCKED,
    DOMINO,
    GAME_OVER,
    HAND_OVER,
    NOBODY,
    NOT_ENDED,
    PLAYING,
    TARGET,
)
from fiveup_env.jax.dealing import deal_where
from fiveup_env.jax.layout import attach, fitting, fives_of, open_ends
from fiveup_env.jax.scoring import end_fives, gained
from fiveup_env.jax.state import (
    SEATS,
    Game,
    bit,
    drawn,
    draws,
    entry,
    most_drawn,
    narrowed,
    next_seat,
    plies,
    side_of,
    union,
    widened,
)
from fiveup_env.jax.values import RuleValues, pick
from fiveup_env.rules.actions import DRAW, PASS
from fiveup_env.rules.fields import (
    DRAW_OPTIONAL,
    DRAW_UNTIL_PLAYABLE,
    IMMEDIATE,
    LEAD_HIGHEST_DOUBLE,
    LEAD_ROTATE,
)
from fiveup_env.rules.tiles import LEAD_ORDER, PIP_COUNT, TILE_COUNT

if TYPE_CHECKING:
    from jax import Array

_FAR = 99  # further than any seat or tile


def begin_hand(rules: RuleValues, game: Game, *, needed: Any = True, parts: int = 0) -> Game:
    """Deal and begin the hand of the game's seed and hand number.

    Args:
        rules: The rules.
        game: A game between two hands; if `ended` is NOT_ENDED, this is its first.
        needed: Whether the result is needed; see `deal_where`.
        parts: See `deal_where`.
    """
    game = widened(game)
    hands, order, lot = deal_where(needed, parts, rules, game.seed, game.hand_number)
    rotated = next_seat(rules, game.lead)
    went_out = jnp.where(game.ended == DOMINO, game.turn, NOBODY)
    lead = pick(rules.leader == LEAD_ROTATE, rotated, went_out)
    by_lot = (game.ended == NOT_ENDED) | (lead == NOBODY)
    forced = jnp.full((), -1, jnp.int32)
    if not rules.is_static or rules.lead_tile == LEAD_HIGHEST_DOUBLE:
        dealt = union(hands) >> LEAD_ORDER.astype(np.uint32) & 1
        tile = jnp.asarray(LEAD_ORDER, jnp.int32)[jnp.argmax(dealt)]
        holder = jnp.argmax(hands >> tile.astype(jnp.uint32) & 1).astype(jnp.int32)
        forces = rules.lead_tile == LEAD_HIGHEST_DOUBLE
        lot = pick(forces, holder, lot)
        forced = jnp.where(by_lot & forces, tile, -1)
    lead = jnp.where(by_lot, lot, lead)
    zero, never = jnp.uint32(0), jnp.full((len(SEATS), PIP_COUNT), -1, jnp.int8)
    return narrowed(
        game._replace(
            hands=hands,
            order=order,
            played=jnp.zeros_like(game.played),
            plain=zero,
            double=zero,
            lack_ply=never,
            lack_draws=never,
            total=0,
            spinner=-1,
            turn=lead,
            lead=lead,
            forced_lead=forced,
            passes=0,
            phase=PLAYING,
            ended=NOT_ENDED,
            winner=NOBODY,
        )
    )


def play(rules: RuleValues, game: Game, action: Array) -> Game:
    """Make a legal move, and the forced draws and passes up to the next decision."""
    before = widened(game)
    seat, side = before.turn, side_of(rules, before.turn)
    own, sets = seat == SEATS, action < DRAW
    placed = attach(rules, before, action)
    tile = jnp.where(own, placed.tile, jnp.uint32(0))
    fives = jnp.where(sets, fives_of(rules, placed.total), 0)
    points = gained(rules, entry(before.scores, side), fives * rules.unit)
    after = before._replace(
        hands=before.hands & ~tile,
        played=before.played | tile,
        plain=placed.plain,
        double=placed.double,
        spinner=placed.spinner,
        total=placed.total,
        scores=before.scores + jnp.where(side == SEATS, points, 0),
    )
    reached = (points > 0) & (entry(after.scores, side) >= rules.target)
    reached = pick(rules.game_end == IMMEDIATE, reached, False)
    went_out = sets & (entry(after.hands, seat) == 0) & jnp.logical_not(reached)
    goes_on = sets & ~went_out & jnp.logical_not(reached)
    after, blocked = _go_round(rules, after, action, goes_on)
    after = _end_hand(rules, after, side, _Ends(reached, went_out, blocked))
    return narrowed(after)


def _go_round(rules: RuleValues, game: Game, action: Array, goes_on: Array) -> tuple[Game, Array]:
    """Draw, pass, and give the turn to the next seat that can play; return whether none can.

    `goes_on` is whether a tile was set that ended nothing. A blocked hand of forced passes ends
    with the turn where the passes began: behind the mover.
    """
    seat, upcoming = game.turn, next_seat(rules, game.turn)
    optional, until_playable = rules.draw == DRAW_OPTIONAL, rules.draw == DRAW_UNTIL_PLAYABLE
    plain, double = open_ends(game)
    ends = plain | double
    fits = fitting(ends)
    can_play, is_next = game.hands & fits != 0, upcoming == SEATS

    stuck = goes_on & until_playable & ~jnp.any(can_play & is_next)
    taken, draws_tile = _draws(rules, game, fits, action, stuck)
    drawer = pick(optional, seat, upcoming)
    hands = game.hands | jnp.where(drawer == SEATS, taken, jnp.uint32(0))

    ahead = SEATS - seat - 1  # how far each seat is from the next one; the mover is last
    away = jnp.where(ahead < 0, ahead + rules.players, ahead)
    is_there = rules.players > SEATS
    stops = (can_play | (draws_tile & is_next)) & is_there
    passed = jnp.minimum(jnp.min(jnp.where(stops, away, _FAR)), rules.players)
    passed = pick(until_playable, jnp.where(goes_on, passed, 0), 0)
    chose_pass = pick(optional, action == PASS, False)
    passes = jnp.where(action < DRAW, passed, game.passes + jnp.where(chose_pass, 1, 0))
    blocked = (passes == rules.players) & (goes_on | chose_pass)

    turn = upcoming + passed
    turn = jnp.where(turn >= rules.players, turn - rules.players, turn)
    passes_on = goes_on | (chose_pass & ~blocked)
    after = game._replace(hands=hands, passes=passes, turn=jnp.where(passes_on, turn, seat))

    lacks = goes_on & is_there & ((away < passed) | (draws_tile & is_next))
    lacks = pick(optional, chose_pass & (seat == SEATS), lacks)
    pips = ends >> (4 * np.arange(PIP_COUNT, dtype=np.uint32)) & 1 == 1
    shown = lacks[:, None] & pips
    after = after._replace(
        lack_ply=jnp.where(shown, plies(after), game.lack_ply),
        lack_draws=jnp.where(shown, draws(rules, after)[:, None], game.lack_draws),
    )
    return after, blocked


def _draws(
    rules: RuleValues, game: Game, fits: Array, action: Array, stuck: Array
) -> tuple[Array, Array]:
    """Return the tiles that are drawn now, and whether forced draws found a tile that fits."""
    places = np.arange(rules.boneyard if rules.is_static else TILE_COUNT)
    first, limit = drawn(rules, game), most_drawn(rules)
    tiles = bit(game.order[: len(places)] & 31)
    may = (places >= first) & (places < limit)
    fit = jnp.where(may & (tiles & fits != 0), places, _FAR)
    first_fit = jnp.min(fit, initial=_FAR)
    forced = jnp.where(stuck, first_fit, -1)
    chosen = jnp.where(action == DRAW, first, -1)
    last = pick(rules.draw == DRAW_OPTIONAL, chosen, forced)
    taken = jnp.sum(jnp.where(may & (places <= last), tiles, jnp.uint32(0)), dtype=jnp.uint32)
    return taken, stuck & (first_fit < _FAR)


class _Ends(NamedTuple):
    """What may have ended the hand; at most one of them is true."""

    reached: Any
    went_out: Any
    blocked: Any


def _end_hand(rules: RuleValues, game: Game, side: Array, ends: _Ends) -> Game:
    """Score the end of the hand if it has ended, and end the game if a side has won."""
    over = ends.went_out | ends.blocked
    points = end_fives(rules, game.hands, side, ends.went_out) * rules.unit
    points = jnp.where(over & (rules.sides > SEATS), gained(rules, game.scores, points), 0)
    scores = game.scores + points
    best, top, alone = leaders(rules, scores)
    won = over & alone & (best >= rules.target)
    winner = jnp.where(ends.reached, side, jnp.where(won, top, NOBODY))
    phase = jnp.where(over, HAND_OVER, PLAYING)
    ended = jnp.where(ends.went_out, DOMINO, jnp.where(ends.blocked, BLOCKED, NOT_ENDED))
    return game._replace(
        scores=scores,
        winner=winner,
        phase=jnp.where(ends.reached | won, GAME_OVER, phase),
        ended=jnp.where(ends.reached, TARGET, ended),
    )


def leaders(rules: RuleValues, scores: Array) -> tuple[Array, Array, Array]:
    """Return the highest score, the first side that has it, and whether it is alone."""
    is_side = rules.sides > SEATS
    best = jnp.max(jnp.where(is_side, scores, jnp.iinfo(jnp.int32).min))
    top = is_side & (scores == best)
    return best, jnp.argmax(top).astype(jnp.int32), jnp.sum(top, dtype=jnp.int32) == 1
