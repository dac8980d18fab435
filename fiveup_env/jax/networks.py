"""Networks in JAX: policies of ours, played where the games are.

`Weights` are those that compiled code reads, as arrays of JAX, so that they can be learnt, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from fiveup_env.encoders.flat import FLAT_SIZE, USUAL_POINTS
from fiveup_env.jax.evidence import chance_piece, chances
from fiveup_env.jax.features import features
from fiveup_env.jax.legality import legal
from fiveup_env.jax.rows import observe
from fiveup_env.opponents.networks.compiled import NORM_EPSILON, Weights
from fiveup_env.opponents.networks.files import policy_folder
from fiveup_env.opponents.networks.lookahead import STEPS
from fiveup_env.opponents.networks.policy import load_compiled
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from jax import Array

    from fiveup_env.jax.state import Game
    from fiveup_env.jax.values import RuleValues

_PLAYS = slice(FLAT_SIZE - ACTION_COUNT, FLAT_SIZE)


def read_weights(name: str) -> Weights:
    """Return the weights of a shipped policy, or of a policy's folder.

    Raises:
        PolicyError: If there is no such policy, or its shape is not supported.
    """
    weights, _ = load_compiled(policy_folder(name))
    return Weights(*map(jnp.asarray, weights))


def choose(rules: RuleValues, weights: Weights, game: Game, evidence: Array) -> Array:
    """Return the action with the highest logit for the seat to move: int32.

    `evidence` is what `evidence.noted` returned.
    """
    hidden = chances(rules, game, evidence)
    entries = jnp.concatenate([observe(rules, game), chance_piece(rules, game, hidden)])
    logits, _ = forward(weights, entries, features(rules, game, hidden))
    return jnp.argmax(jnp.where(legal(rules, game), logits, -jnp.inf)).astype(jnp.int32)


def forward(weights: Weights, entries: Array, features: Array) -> tuple[Array, Array]:
    """Return the logits of all actions, legal or not, and the value.

    Args:
        weights: The weights.
        entries: A row of `flat` and where the hidden tiles are, int8[..., 669]; or the first of
            these alone, if that is not known. A plain network reads a row of `flat` alone.
        features: The features of every action, int8[..., 121, 9].

    Returns:
        float32[..., 121] and float32[...].
    """
    numbers = entries[..., : len(weights.first)].astype(jnp.float32)
    state = _product(numbers, weights.first[: numbers.shape[-1]]) + weights.first_bias
    for layer in range(len(weights.inner)):
        if len(weights.norm):
            inner = _product(_normed(state, weights.norms[layer]), weights.inner[layer])
            inner = jax.nn.relu(inner + weights.inner_bias[layer])
            state += _product(inner, weights.outer[layer]) + weights.outer_bias[layer]
        else:
            state = _product(jax.nn.relu(state), weights.inner[layer]) + weights.inner_bias[layer]
    state = _normed(state, weights.norm) if len(weights.norm) else jax.nn.relu(state)
    plays = jnp.clip(entries[..., _PLAYS].astype(jnp.int32), 0, USUAL_POINTS + 1)
    logits = _product(state, weights.head.T) + weights.head_bias + weights.worth[plays]
    guide = _product(state, weights.guide) + weights.guide_bias
    steps = features[..., : len(weights.guide_bias)].astype(jnp.float32) * (1 / STEPS)
    logits += jnp.sum(steps * guide[..., None, :], -1)
    return logits, _product(state, weights.value[0]) + weights.value_bias[0]


def _product(numbers: Array, matrix: Any) -> Array:
    return jnp.matmul(numbers, matrix, precision=lax.Precision.HIGHEST)


def _normed(numbers: Array, norm: Array) -> Array:
    """Return the layer norm of some numbers."""
    numbers = numbers - numbers.mean(-1, keepdims=True)
    scale = 1 / jnp.sqrt((numbers**2).mean(-1, keepdims=True) + NORM_EPSILON)
    return numbers * scale * norm[0] + norm[1]
