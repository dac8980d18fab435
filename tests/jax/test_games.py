"""The games in JAX are those of the engine, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax", reason="the games in JAX (no JAX)")

import jax
import jax.numpy as jnp

from fiveup_env import Batch, Game
from fiveup_env.jax import FiveUp, RuleValues
from fiveup_env.jax.words import as_seed
from fiveup_env.rules.fields import RULES
from tests.jax.compare import checked
from tests.jax.soak import soak

SEEDS = (0, 7, 2**32 - 1, 2**32, 2**63, 2**64 - 1)


def test_every_field_of_the_rules_is_known() -> None:
    assert set(RuleValues._fields) == set(RULES.names or ())


def test_by_every_rule_and_reward_a_batch_and_its_twin_play_the_same() -> None:
    found = checked()
    assert found.difference is None
    assert found.moves >= 50_000
    assert min(found.ends, found.cut_off) > 100


@pytest.mark.slow
def test_three_million_moves_are_those_of_a_batch() -> None:
    assert soak(3_000_000, 1).difference is None


@pytest.mark.parametrize("players", [2, 4])
def test_a_seed_names_the_deals_of_game(players: int) -> None:
    init = jax.jit(FiveUp(players=players).init)
    for seed in SEEDS:
        pair = jnp.array([seed >> 32, seed & 0xFFFFFFFF], jnp.uint32)
        game = Game(players=players, seed=seed)
        state = init(pair)
        assert state.game.hands[:players].tolist() == game.state()["hands"][0, :players].tolist()
        assert int(state.current_player) == game.turn
        if seed < 2**32:
            assert (init(jax.random.key(seed)).observation == state.observation).all()
            assert (init(jnp.uint32(seed)).observation == state.observation).all()
        assert (as_seed(seed) == pair).all()


@pytest.mark.parametrize("named", [False, True])
def test_streams_are_those_of_a_batch(named: bool) -> None:
    env = FiveUp(players=2, episode="hand", restart=True)
    batch = Batch(16, players=2, episode="hand", seed=9)
    index = jnp.arange(16)
    if named:
        batch.reset(seed=list(range(16)))
        state = jax.vmap(env.init)(index, index)
    else:
        batch.reset()
        state = jax.vmap(env.init_stream, (None, 0))(9, index)
    step = jax.jit(jax.vmap(env.step))
    ended = np.zeros(16, bool)
    while not ended.all():
        np.testing.assert_array_equal(state.observation, batch.observation)
        actions = batch.action_mask.argmax(1)
        batch.step(actions)
        state = step(state, jnp.asarray(actions))
        ended |= batch.terminated
