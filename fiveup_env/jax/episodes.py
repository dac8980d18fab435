"""Episodes and rewards; docs/understand/rewards.md explains them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from fiveup_env.engine.state import GAME_OVER, HAND_OVER, NOBODY, NOT_ENDED
from fiveup_env.envs.episodes import CUT_OFF, ENDED, Episodes
from fiveup_env.jax.legality import is_legal
from fiveup_env.jax.play import begin_hand, leaders, play
from fiveup_env.jax.state import SEATS, Game, by_seat, select
from fiveup_env.jax.values import RuleValues, pick
from fiveup_env.jax.words import stream_seed
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT

if TYPE_CHECKING:
    from jax import Array

PARTS: Final = 8  # a batch is dealt to in parts of one in this many games
_LOSSES = np.array([0, 0, *(np.float32(-1) / np.float32(n - 1) for n in range(2, 6))], np.float32)


class StepResult(NamedTuple):
    """The rewards of a step, and whether it ended the episode."""

    rewards: Array  # float32[5], by seat; 0 for absent seats
    terminated: Array  # bool: whether the episode has ended
    truncated: Array  # bool: whether it was cut off instead, after `max_hands`
    final: Game  # the game as the move left it, before the next hand or episode was dealt


def init(rules: RuleValues, seed: Array, stream: Array | None = None, episode: Any = 0) -> Game:
    """Return the first hand of the game with a seed.

    Args:
        rules: The rules.
        seed: The seed, uint32[2]; see `words.as_seed`.
        stream: The key of the stream that names the next episodes, uint32[2].
        episode: The number of this episode in its stream.
    """
    nothing, zero = jnp.zeros(MAX_PLAYERS, jnp.uint32), jnp.uint32(0)
    lacks, byte = jnp.zeros((MAX_PLAYERS, PIP_COUNT), jnp.int8), jnp.zeros((), jnp.int8)
    return begin_hand(
        rules,
        Game(
            seed=seed,
            stream=seed if stream is None else stream,
            episode=jnp.asarray(episode).astype(jnp.uint32),
            hand_number=jnp.zeros((), jnp.int32),
            scores=jnp.zeros(MAX_PLAYERS, jnp.int32),
            hands=nothing,
            played=nothing,
            plain=zero,
            double=zero,
            order=jnp.zeros(TILE_COUNT, jnp.int8),
            lack_ply=lacks,
            lack_draws=lacks,
            **dict.fromkeys(Game._fields[Game._fields.index("total") :], byte),
        ),
    )


def init_stream(rules: RuleValues, key: Array, episode: Any = 0) -> Game:
    """Return the first hand of an episode of a stream; `key` is that of `words.stream_key`."""
    return init(rules, stream_seed(key, episode), key, episode)


def step(
    rules: RuleValues,
    game: Game,
    action: Array,
    options: Episodes = Episodes(),  # noqa: B008  (frozen)
    *,
    restart: bool = False,
    parts: int = PARTS,
) -> tuple[Game, StepResult]:
    """Make a move, and deal the next hand where one ended.

    Args:
        rules: The rules.
        game: The game.
        action: Any integer. One that is illegal ends the episode, whatever `options.illegal` says:
            compiled code raises nothing.
        options: What an episode is and what it rewards; static.
        restart: Whether an episode that ends is followed by the next of its stream; otherwise it
            stays at its end, and further steps change nothing and reward nothing. Static.
        parts: See `dealing.deal_where`; static.

    Returns:
        The game at the next decision, and the rewards and the ending.
    """
    action = jnp.asarray(action).astype(jnp.int32)
    allowed = is_legal(rules, game, action)
    moved = play(rules, game, jnp.where(allowed, action, 0))
    ending = _ending(moved, options)
    rewards = _rewards(rules, game, moved, ending, options)
    # A refused move ends the episode where it is.
    moved = select(allowed, moved, game)
    ending = jnp.where(allowed, ending, ENDED)
    forfeit = jnp.where(game.turn == SEATS, jnp.float32(options.illegal_reward), jnp.float32(0))
    rewards = jnp.where(allowed, rewards, forfeit)
    # An episode that was over before stays as it is.
    was_over = game.ending != 0
    ending = jnp.where(was_over, game.ending, ending).astype(jnp.int8)
    rewards = jnp.where(was_over, 0, rewards)
    final = select(was_over, game, moved)._replace(ending=ending)
    result = StepResult(rewards, ending == ENDED, ending == CUT_OFF, final)

    over = ending != 0
    deals = (final.phase == HAND_OVER) & ~over
    upcoming = final._replace(hand_number=final.hand_number + 1)
    if restart:
        upcoming = select(over, _next_episode(final), upcoming)
        deals |= over
    upcoming = begin_hand(rules, upcoming, needed=deals, parts=parts)
    return select(deals, upcoming, final), result


def _ending(game: Game, options: Episodes) -> Array:
    """Return the state of an episode after a legal move: 0, ENDED or CUT_OFF."""
    ended = game.phase == GAME_OVER
    if options.episode == "hand":
        ended |= game.phase == HAND_OVER
    ending = jnp.where(ended, ENDED, 0)
    if options.max_hands:
        last = (game.phase == HAND_OVER) & (game.hand_number + 1 == options.max_hands)
        ending = jnp.where(last & ~ended, CUT_OFF, ending)
    return ending


def _next_episode(game: Game) -> Game:
    """Return the next episode of a game's stream, before its first hand is dealt."""
    episode = game.episode + jnp.uint32(1)
    return game._replace(
        seed=stream_seed(game.stream, episode),
        episode=episode,
        hand_number=jnp.zeros_like(game.hand_number),
        scores=jnp.zeros_like(game.scores),
        ended=jnp.full_like(game.ended, NOT_ENDED),
        ending=jnp.zeros_like(game.ending),
    )


def _rewards(
    rules: RuleValues, before: Game, after: Game, ending: Array, options: Episodes
) -> Array:
    """Return the rewards of all seats for a legal move: float32[5]."""
    if options.reward == "win":
        winner = after.winner.astype(jnp.int32)
        if options.episode == "hand":
            _, top, alone = leaders(rules, after.scores)
            winner = jnp.where(alone, top, NOBODY)
        loss = jnp.asarray(_LOSSES)[rules.sides]
        rewards = jnp.where(winner == SEATS, jnp.float32(1), loss)
        rewards = jnp.where((ending == ENDED) & (winner != NOBODY), rewards, jnp.float32(0))
        return by_seat(rules, rewards)
    points = (after.scores - before.scores).astype(jnp.float32)
    if options.reward == "margin":
        total = jnp.sum(jnp.where(rules.sides > SEATS, points, 0))
        points = points - _mean_of_others(rules, total - points)
    return by_seat(rules, points)


def _mean_of_others(rules: RuleValues, total: Array) -> Array:
    """Return `total / (sides - 1)`, correctly rounded, for whole numbers below 2**20.

    XLA divides by multiplying with 1/3 where it sees fit, and is then one bit off for some numbers.
    So thirds are worked out as 24 bits of an integer quotient.
    """
    size = jnp.abs(total).astype(jnp.uint32)
    shift = lax.clz(jnp.maximum(size, jnp.uint32(1))) - jnp.uint32(7)
    shift = jnp.where(size << shift < jnp.uint32(3 << 23), shift + jnp.uint32(1), shift)
    quotient = ((size << shift) + jnp.uint32(1)) // jnp.uint32(3)  # to the nearest
    power = lax.bitcast_convert_type((127 - shift.astype(jnp.int32)) << 23, jnp.float32)
    third = jnp.sign(total) * quotient.astype(jnp.float32) * power
    part = pick(rules.sides == 2, 1.0, pick(rules.sides == 3, 0.5, 0.25))
    return pick(rules.sides == 4, third, total * part)
