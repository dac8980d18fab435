"""The ladder and trained policies in JAX play what the library's own play."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="the games in JAX (no JAX)")

import jax

from fiveup_env import Rules
from fiveup_env.encoders import get_encoder, place_of, row_size, rows_of
from fiveup_env.engine.chance import scramble
from fiveup_env.errors import AgentError
from fiveup_env.jax import ladder, networks, values_of
from fiveup_env.jax.evidence import chance_piece, chances, no_evidence, noted
from fiveup_env.jax.features import features
from fiveup_env.learning.networks import Network
from fiveup_env.opponents.heuristics.features import SCRATCH
from fiveup_env.opponents.heuristics.ladder import LADDER, choose_all, weights_of
from fiveup_env.opponents.networks.compiled import Weights, memory_for, write_all, write_values
from fiveup_env.opponents.networks.compiled import weights_of as weights_of_network
from fiveup_env.opponents.networks.lookahead import FEATURE_COUNT
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.rules.actions import ACTION_COUNT
from tests.jax.compare import EVERY_RULES, GAMES, Pair
from tests.support import random_views

HALF_WAY = 2e-4  # the share of entries that lie half way between two steps, at most


@pytest.mark.parametrize(
    "rung", [pytest.param(rung, marks=[pytest.mark.slow] * (rung != "greedy")) for rung in LADDER]
)
def test_a_rung_plays_what_it_plays_in_the_library(rung: str) -> None:
    def act(values: Any, game: Any, key: Any) -> Any:
        return ladder.agent(rung, values)(game, key)

    act, pair, rng = jax.jit(jax.vmap(act)), Pair(EVERY_RULES, GAMES, 3), np.random.default_rng(1)
    key = np.uint64(7)
    words = [int(scramble(key + np.uint64(i))) for i in range(GAMES)]
    keys = np.array([[word >> 32, word & 0xFFFFFFFF] for word in words], np.uint32)
    expected = np.empty(GAMES, np.int64)
    for _ in range(20):
        views = pair.batch.views()
        choose_all(views, key, weights_of(rung), np.zeros(1, SCRATCH), expected)
        np.testing.assert_array_equal(act(pair.values, pair.games, keys), expected)
        pair.step(pair.batch.random_actions(rng))


def test_a_name_that_is_not_a_rung_is_refused() -> None:
    with pytest.raises(AgentError, match="rung"):
        ladder.agent("best", values_of(Rules.preset()))


def test_a_plain_network_computes_what_it_computes_in_compiled_code() -> None:
    network, views = Network("plain", 9, 3), random_views(40, 13)
    network.vector[:] = np.random.default_rng(4).normal(0, 0.3, len(network.vector))
    weights = weights_of_network(network.tensors(), network.factors)
    expected, values = np.full((40, ACTION_COUNT), -np.inf, np.float32), np.empty(40, np.float32)
    memory, rows = memory_for(weights), rows_of(get_encoder("flat"), views, scaled=False)
    write_all(views, weights, memory, expected)
    write_values(views, weights, memory, values)
    features = np.zeros((40, ACTION_COUNT, FEATURE_COUNT), np.int8)  # which it does not read
    logits, valued = networks.forward(Weights(*map(jax.numpy.asarray, weights)), rows, features)
    choices = (expected > -np.inf) & ((expected > -np.inf).sum(1, keepdims=True) > 1)
    np.testing.assert_allclose(np.asarray(logits)[choices], expected[choices], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(valued, values, rtol=1e-4, atol=1e-4)


def test_features_and_chances_are_those_of_a_row_and_a_policy_plays_alike_by_them() -> None:
    pair, weights = Pair(EVERY_RULES, GAMES, 3), networks.read_weights("student")
    encoder, agent = get_encoder("lookahead"), PolicyAgent("student")
    rows = np.zeros((GAMES, row_size(encoder)), np.int8)

    def look(values: Any, game: Any, evidence: Any) -> Any:
        hidden = chances(values, game, evidence)
        return (
            features(values, game, hidden),
            chance_piece(values, game, hidden),
            networks.choose(values, weights, game, evidence),
        )

    looked, note = jax.jit(jax.vmap(look)), jax.jit(jax.vmap(noted))
    evidence = np.repeat(no_evidence()[None], GAMES, 0)
    rng, wrong, compared = np.random.default_rng(2), 0, 0
    for _ in range(40):
        views, actions, before = pair.batch.views(), pair.batch.random_actions(rng), pair.games
        encoder.encode(views, rows)
        seen, pieces, chosen = looked(pair.values, before, evidence)
        for mine, piece in ((seen, "features"), (pieces, "chances")):
            expected = rows[:, place_of(encoder, piece)[1]]
            differences = np.asarray(mine, int).reshape(expected.shape) - expected
            assert np.abs(differences).max() <= 1
            wrong += int(np.count_nonzero(differences))
            compared += int(np.count_nonzero(expected))
        np.testing.assert_array_equal(chosen, agent(views, np.random.default_rng(0)))
        pair.step(actions)
        evidence = note(pair.values, evidence, before, actions, pair.games)
    assert compared > 50_000
    assert wrong < HALF_WAY * compared
