"""What must hold of functions in JAX: under every transformation, and for any input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="the games in JAX (no JAX)")

import jax
import jax.numpy as jnp

from fiveup_env import Batch
from fiveup_env.errors import EncoderError, OptionError, RulesError, SeatError, SeedError
from fiveup_env.jax import FiveUp
from fiveup_env.jax.words import stream_key, stream_seed

ENV = FiveUp(players=3, restart=True, episode="hand", reward="margin", illegal_reward=-3.0)
STEP, OBSERVE = jax.jit(jax.vmap(ENV.step)), jax.jit(ENV.observe)
START = jax.jit(jax.vmap(ENV.init_stream, (None, 0)))


def lowest(state: Any) -> Any:
    """The legal action with the lowest number."""
    return jnp.argmax(state.legal_action_mask, -1)


def started(games: int) -> Any:
    return START(3, jnp.arange(games))


def played(state: Any, steps: int) -> Any:
    for _ in range(steps):
        state = STEP(state, lowest(state))
    return state


def same(a: Any, b: Any) -> bool:
    return bool(jax.tree.all(jax.tree.map(lambda x, y: bool((x == y).all()), a, b)))


def scanned(state: Any) -> Any:
    return jax.lax.scan(lambda s, _: (jax.vmap(ENV.step)(s, lowest(s)), None), state, None, 9)[0]


def nested(state: Any) -> Any:
    split: Callable[[Any], Any] = lambda x: x.reshape(4, 8, *x.shape[1:])  # noqa: E731
    state = jax.tree.map(split, state)
    for _ in range(9):
        state = jax.jit(jax.vmap(jax.vmap(ENV.step)))(state, lowest(state))
    return jax.tree.map(lambda x: x.reshape(32, *x.shape[2:]), state)


def mapped(state: Any) -> Any:
    step = jax.jit(
        lambda s: jax.lax.map(lambda game: ENV.step(game, lowest(game)), s, batch_size=8)
    )
    for _ in range(9):
        state = step(state)
    return state


def donated(state: Any) -> Any:
    step = jax.jit(lambda s: jax.vmap(ENV.step)(s, lowest(s)), donate_argnums=0)
    state = jax.tree.map(jnp.copy, state)
    for _ in range(9):
        state = step(state)
    return state


def one_by_one(state: Any) -> Any:
    step = jax.jit(ENV.step)
    ones = [jax.tree.map(lambda x, i=i: x[i], state) for i in range(4)]
    for _ in range(9):
        ones = [step(game, lowest(game)) for game in ones]
    rest = jax.tree.map(lambda x: x[4:], played(state, 9))
    return jax.tree.map(lambda *xs: jnp.concatenate([jnp.stack(xs[:4]), xs[4]]), *ones, rest)


@pytest.mark.slow
@pytest.mark.parametrize("transform", [one_by_one, donated, scanned, nested, mapped])
def test_every_transformation_plays_the_same_games(transform: Any) -> None:
    state = started(32)
    with jax.debug_nans(True):
        assert same(transform(state), played(state, 9))


@pytest.mark.slow
@pytest.mark.parametrize("parts", [0, 3, 100])
def test_games_are_the_same_in_whatever_parts_they_are_dealt_to(parts: int) -> None:
    env = FiveUp(players=3, restart=True, episode="hand", reward="margin", deal_parts=parts)
    step, state = jax.jit(jax.vmap(env.step)), started(32)
    for _ in range(30):
        state = step(state, lowest(state))
    assert same(state, played(started(32), 30))


@pytest.mark.parametrize("named", [False, True])
def test_streams_are_those_of_a_batch(named: bool) -> None:
    batch = Batch(32, players=3, episode="hand", reward="margin", seed=3)
    batch.reset(list(range(32)) if named else None)
    state = jax.jit(jax.vmap(ENV.init))(jnp.arange(32), jnp.arange(32)) if named else started(32)
    ended = np.zeros(32, bool)
    while not ended.all():
        np.testing.assert_array_equal(state.observation, batch.observation)
        batch.step(batch.action_mask.argmax(1))
        state = STEP(state, lowest(state))
        ended |= batch.terminated


def test_hidden_tiles_change_no_row_of_another_seat() -> None:
    state = played(started(32), 6)
    rng = np.random.default_rng(1)
    for i in range(0, 32, 4):
        game_there = jax.tree.map(lambda x, i=i: np.asarray(x[i]), state.game)
        seat = int(game_there.turn)
        hands, order = game_there.hands.copy(), game_there.order.copy()
        others = [s for s in range(3) if s != seat]
        drawn = sum(
            int(h | p).bit_count() for h, p in zip(game_there.hands, game_there.played, strict=True)
        )
        first = drawn - 3 * ENV.rules.hand_size
        rest = order[first : ENV.rules.boneyard_size].tolist()
        sizes = [int(hands[s]).bit_count() for s in others]
        hidden = rest + [t for s in others for t in range(28) if hands[s] >> t & 1]
        rng.shuffle(hidden)
        order[first : ENV.rules.boneyard_size] = hidden[: len(rest)]
        at = len(rest)
        for s, size in zip(others, sizes, strict=True):
            hands[s] = sum(1 << t for t in hidden[at : at + size])
            at += size
        changed = jax.tree.map(lambda x, i=i: x[i], state)
        game = changed.game._replace(hands=jnp.asarray(hands), order=jnp.asarray(order))
        twin = replace(changed, game=game)
        assert (OBSERVE(twin, seat) == OBSERVE(changed, seat)).all()
        assert (OBSERVE(changed, seat) == changed.observation).all()


def test_no_deal_comes_twice() -> None:
    index, episodes = jnp.arange(64), jnp.arange(200)
    keys = jax.vmap(stream_key, (None, 0))(jnp.array([0, 5], jnp.uint32), index)
    seeds = jax.vmap(jax.vmap(stream_seed, (None, 0)), (0, None))(keys, episodes)
    assert len(np.unique(np.asarray(seeds).reshape(-1, 2), axis=0)) == 64 * 200


@pytest.mark.parametrize("action", [-(2**31), -1, 119, 120, 121, 2**31 - 1])
def test_an_illegal_action_ends_the_episode(action: int) -> None:
    before = started(32)
    state = STEP(before, jnp.full(32, action, jnp.int32))
    assert state.terminated.all()
    assert not state.truncated.any()
    own = jnp.arange(3) == before.current_player[:, None]
    assert (state.rewards == jnp.where(own, -3.0, 0.0)).all()


@pytest.mark.slow
def test_an_episode_that_is_over_stays_as_it_is() -> None:
    stays = FiveUp(players=3, episode="hand", reward="margin")
    step, state = jax.jit(stays.step), stays.init(0)
    while not state.terminated:
        state = step(state, lowest(state))
    again = step(state, 0)
    assert not again.rewards.any()
    assert again.terminated
    assert again.legal_action_mask.all()
    assert same(again.game, state.game)


def test_values_have_no_more_than_32_bits() -> None:
    kinds = {str(x.dtype) for x in jax.tree.leaves(started(32))}
    assert kinds == {"int8", "int32", "uint32", "float32", "bool"}


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (RulesError, {"rules": "seven_up"}),
        (RulesError, {"hand_size": 8}),
        (SeatError, {"players": 6}),
        (EncoderError, {"encoder": "tokens"}),
        (OptionError, {"reward": "gold"}),
        (OptionError, {"restart": 1}),
        (OptionError, {"deal_parts": -1}),
        (TypeError, {"hand_sise": 8}),
    ],
)
def test_what_cannot_be_played_is_refused_before_tracing(error: Any, options: Any) -> None:
    with pytest.raises(error):
        FiveUp(**options)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", np.zeros(3, np.uint32)])
def test_a_seed_that_is_none_is_refused(seed: Any) -> None:
    with pytest.raises(SeedError):
        ENV.init(seed)
