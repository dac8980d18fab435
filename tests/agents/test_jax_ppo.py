"""The learner in JAX credits every seat with its own rewards, and saves what it has learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax", reason="the games in JAX (no JAX)")

import jax
import jax.numpy as jnp

from agents.learn import jax_ppo as learner
from fiveup_env import Batch, get_encoder
from fiveup_env.encoders import place_of, row_size
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.actions import ACTION_COUNT


def test_a_seat_is_credited_until_its_own_next_decision() -> None:
    seats = jnp.array([0, 1, 0, 2, 0, 1])[:, None]
    rewards = np.zeros((6, 1, 4))
    rewards[0, 0] = [1, -1, 0, 0]  # for seat 0 at once; seat 1 has not decided yet
    rewards[1, 0] = [2, 3, 0, 0]
    rewards[3, 0] = [5, 7, 11, 13]  # the end of the hand
    values = jnp.array([0.5, 0.25, 0.125, 0.0, 1.0, 1.0])[:, None]
    ended = jnp.array([False, False, False, True, False, False])[:, None]
    gains, known = learner.advantages(values, seats, jnp.asarray(rewards), ended)
    assert known[:, 0].tolist() == [True, True, True, True, False, False]
    last = 5 - 0.125
    first = 1 + 2 + 0.125 - 0.5 + learner.LAMBDA * last
    assert gains[:, 0].tolist() == pytest.approx([first, 3 + 7 - 0.25, last, 11, 0, 0])


@pytest.mark.slow
def test_the_saved_policy_chooses_what_the_network_in_jax_does(tmp_path: Path) -> None:
    weights = learner.new_weights(jax.random.key(3))
    weights = type(weights)(*(3 * weight for weight in weights))
    learner.save(weights, tmp_path / "policy", {"reward": "margin", "horizon": "hand"})
    agent, batch = make_agent(f"policy:{tmp_path / 'policy'}"), Batch(500, seed=2)
    encoder = get_encoder("lookahead")
    rows = np.zeros((500, row_size(encoder)), np.int8)
    batch.reset()
    for _ in range(20):
        views = batch.views()
        encoder.encode(views, rows)
        looks, entries = np.split(rows, [place_of(encoder, "features")[1].stop], 1)
        looks = looks.reshape(500, ACTION_COUNT, -1)
        given = map(jnp.asarray, (entries, looks, batch.action_mask > 0))
        actions = agent(views, np.random.default_rng(0))
        assert (np.asarray(learner.network(weights, *given)[0].argmax(1)) == actions).all()
        batch.step(actions)
