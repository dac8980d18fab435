"""A batch that is shared out among devices plays what it plays on one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

jax = pytest.importorskip("jax", reason="the games in JAX (no JAX)")

SHARED = """
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

from fiveup_env.jax import FiveUp

env = FiveUp(players=4, episode="hand", reward="margin", restart=True)
step, shares = jax.vmap(env.step), PartitionSpec("games")
mesh = jax.make_mesh((jax.device_count(),), ("games",))
shared_step = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=shares, out_specs=shares))
step = jax.jit(step)
state = jax.jit(jax.vmap(env.init_stream, (None, 0)))(0, jnp.arange(64))
shared = jax.device_put(state, NamedSharding(mesh, shares))
for _ in range(60):
    state = step(state, state.legal_action_mask.argmax(-1))
    shared = shared_step(shared, shared.legal_action_mask.argmax(-1))
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), state, shared))
assert len(shared.observation.sharding.device_set) == 8
assert len(state.observation.sharding.device_set) == 1
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(jax, "shard_map"), reason="games on many devices (no jax.shard_map)"
)
def test_eight_devices_play_what_one_plays() -> None:
    eight = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    subprocess.run([sys.executable, "-c", SHARED], env=eight, check=True)
