"""Pgx: many games at once, compiled for all cores of the CPU, reset automatically."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import pgx
from _timing import report  # type: ignore[import-not-found]
from pgx.experimental import auto_reset

if TYPE_CHECKING:
    from collections.abc import Callable

BATCHES = (1024, 4096)  # the faster one is reported
STEPS = 32  # of every game in one call


def player(name: str, batch: int) -> Callable[[], int]:
    """Return a function that plays `STEPS` more steps of every game and returns their number."""
    env = pgx.make(name)
    step = jax.vmap(auto_reset(env.step, env.init))

    def one(carry: Any, key: Any) -> tuple[Any, None]:
        state, seen = carry
        chance, fresh = jax.random.split(key)
        mask = state.legal_action_mask
        action = jnp.where(mask, jax.random.uniform(chance, mask.shape), -1.0).argmax(axis=-1)
        state = step(state, action, jax.random.split(fresh, batch))
        # The observation is part of the result because it would not be computed otherwise.
        return (state, seen + state.observation.sum(dtype=jnp.int32)), None

    @jax.jit  # type: ignore[untyped-decorator]
    def advance(carry: Any, key: Any) -> tuple[Any, Any]:
        key, now = jax.random.split(key)
        return jax.lax.scan(one, carry, jax.random.split(now, STEPS))[0], key

    key = jax.random.key(1)
    carry = jax.jit(jax.vmap(env.init))(jax.random.split(key, batch)), jnp.int32(0)

    def play() -> int:
        nonlocal carry, key
        carry, key = jax.block_until_ready(advance(carry, key))
        return batch * STEPS

    return play


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    for name in ("leduc_holdem", "connect_four"):
        report("pgx", name, [player(name, batch) for batch in BATCHES])
