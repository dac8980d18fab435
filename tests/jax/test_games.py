"""The games in JAX are those of the engine, bit for bit."""

from __future__ import annotations

import pytest

pytest.importorskip("jax", reason="the games in JAX (no JAX)")

import jax
import jax.numpy as jnp

from fiveup_env import Game
from fiveup_env.jax import FiveUp, RuleValues
from fiveup_env.jax.words import as_seed
from fiveup_env.rules.fields import RULES
from tests.jax.compare import quickly_checked
from tests.jax.soak import soak


def test_every_field_of_the_rules_is_known() -> None:
    assert set(RuleValues._fields) == set(RULES.names or ())


def test_by_every_rule_a_batch_and_its_twin_play_the_same() -> None:
    parts = list(quickly_checked())
    assert [part.difference for part in parts] == [None, None]
    assert sum(part.moves for part in parts) >= 30_000
    assert min(sum(part.ends for part in parts), sum(part.cut_off for part in parts)) > 100


@pytest.mark.slow
def test_three_million_moves_are_those_of_a_batch() -> None:
    assert soak(3_000_000, 1).difference is None


def test_a_seed_or_a_key_names_the_deals_of_game() -> None:
    init = jax.jit(FiveUp(players=2).init)
    for seed in (0, 7, 2**32 - 1, 2**32, 2**63, 2**64 - 1):
        pair = jnp.array([seed >> 32, seed & 0xFFFFFFFF], jnp.uint32)
        game, state = Game(players=2, seed=seed), init(pair)
        assert state.game.hands[:2].tolist() == game.state()["hands"][0, :2].tolist()
        assert int(state.current_player) == game.turn
        names = [seed, *([jax.random.key(seed), jnp.uint32(seed)] if seed < 2**32 else [])]
        assert all((as_seed(name) == pair).all() for name in names)
