"""The ladder and trained policies in JAX play what the library's own play."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="the games in JAX (no JAX)")

import jax
import jax.numpy as jnp

from fiveup_env import Batch, Rules
from fiveup_env.encoders import get_encoder, place_of, row_size
from fiveup_env.engine.chance import scramble
from fiveup_env.errors import AgentError
from fiveup_env.jax import (
    init_stream,
    ladder,
    networks,
    stack,
    step,
    values_of,
)
from fiveup_env.jax.evidence import evidence_pieces, no_evidence, noted
from fiveup_env.jax.features import features
from fiveup_env.jax.words import as_seed, stream_key
from fiveup_env.opponents.heuristics.features import SCRATCH
from fiveup_env.opponents.heuristics.ladder import LADDER, choose_all, weights_of
from fiveup_env.opponents.networks.lookahead import FEATURE_COUNT
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.rules.actions import ACTION_COUNT
from tests.jax.compare import EVERY_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GAMES, STEPS = 2 * len(EVERY_RULES), 40
HALF_WAY = 2e-4  # the share of features that lie half way between two steps, at most


class Pair:
    """The same games in a batch and in JAX, played by the same actions."""

    def __init__(self, rules: Sequence[Rules], games: int, seed: int) -> None:
        self.games = games
        self.batch = Batch(games, rules=list(rules), seed=seed)
        self.batch.reset()
        self.values = stack([rules[k % len(rules)] for k in range(games)])
        index = jnp.arange(games, dtype=jnp.uint32)

        def start(values: Any, index: Any) -> Any:
            return init_stream(values, stream_key(as_seed(seed), index)), no_evidence()

        def advance(values: Any, state: Any, action: Any) -> Any:
            game, evidence = state
            after, _ = step(values, game, action, restart=True)
            return after, noted(values, evidence, game, action, after)

        self.state = jax.jit(jax.vmap(start))(self.values, index)
        self._advance = jax.jit(jax.vmap(advance))

    def play(self, seed: int, steps: int = STEPS) -> Iterator[np.ndarray]:
        """Play random actions; yield the views before each."""
        rng = np.random.default_rng(seed)
        for _ in range(steps):
            yield self.batch.views()
            actions = self.batch.random_actions(rng)
            self.batch.step(actions)
            self.state = self._advance(self.values, self.state, jnp.asarray(actions))


@pytest.fixture(scope="module")
def pair() -> Pair:
    return Pair(EVERY_RULES, GAMES, 3)


@pytest.mark.parametrize("rung", LADDER)
def test_a_rung_plays_what_it_plays_in_the_library(pair: Pair, rung: str) -> None:
    def act(values: Any, game: Any, key: Any) -> Any:
        return ladder.agent(rung, values)(game, key)

    act = jax.jit(jax.vmap(act))
    key = np.uint64(7)
    words = [int(scramble(key + np.uint64(i))) for i in range(GAMES)]
    keys = np.array([[word >> 32, word & 0xFFFFFFFF] for word in words], np.uint32)
    expected = np.empty(GAMES, np.int64)
    for views in pair.play(1, 20):
        choose_all(views, key, weights_of(rung), np.zeros(1, SCRATCH), expected)
        np.testing.assert_array_equal(act(pair.values, pair.state[0], keys), expected)


def test_a_rung_that_is_none_is_refused() -> None:
    with pytest.raises(AgentError, match="rung"):
        ladder.agent("best", values_of(Rules.preset()))


def test_features_and_evidence_are_those_of_a_row(pair: Pair) -> None:
    encoder = get_encoder("lookahead")
    rows = np.zeros((GAMES, row_size(encoder)), np.int8)
    looked, noticed = jax.jit(jax.vmap(features)), jax.jit(jax.vmap(evidence_pieces))
    wrong = compared = 0
    for views in pair.play(2):
        encoder.encode(views, rows)
        game, evidence = pair.state
        expected = rows[:, place_of(encoder, "passed_over")[1].start :]
        np.testing.assert_array_equal(noticed(pair.values, game, evidence), expected)
        found = np.asarray(looked(pair.values, game), int)
        expected = rows[:, place_of(encoder, "features")[1]]
        differences = found - expected.reshape(-1, ACTION_COUNT, FEATURE_COUNT)
        assert np.abs(differences).max() <= 1
        wrong += int(np.count_nonzero(differences))
        compared += int(np.count_nonzero(expected))
    assert compared > 50_000
    assert wrong < HALF_WAY * compared


@pytest.mark.parametrize("players", [4, pytest.param(2, marks=pytest.mark.slow)])
def test_a_shipped_policy_plays_what_compiled_code_plays(players: int) -> None:
    rules = Rules.preset("five_up", players)
    pair, name = Pair([rules], 250, 5), "student"
    weights = networks.read_weights(name)
    act = jax.jit(jax.vmap(partial(networks.choose, values_of(rules), weights)))
    agent, rng = PolicyAgent(name), np.random.default_rng(0)
    for views in pair.play(3, 20):
        np.testing.assert_array_equal(act(*pair.state), agent(views, rng))
