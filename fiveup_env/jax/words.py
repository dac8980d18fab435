"""Words of 64 bits as pairs of uint32, the high one first; seeds and streams made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from fiveup_env.engine.chance import MIX_1, MIX_2, checked_seed
from fiveup_env.envs.streams import EPISODE_STEP, FIRST_OF_STREAMS, INDEX_STEP
from fiveup_env.errors import SeedError

if TYPE_CHECKING:
    from jax import Array

Word: TypeAlias = Any  # (high, low), each of uint32

_HALF = np.uint32(0xFFFF)
_HIGHEST_BIT = np.uint32(FIRST_OF_STREAMS >> 32)


def word(number: Any) -> tuple[np.uint32, np.uint32]:
    """Return an unsigned integer of 64 bits as a pair."""
    return np.uint32(int(number) >> 32), np.uint32(int(number) & 0xFFFFFFFF)


_MIXES = word(MIX_1), word(MIX_2)


def add(a: Word, b: Word) -> Word:
    """Return a + b, modulo 2**64."""
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]).astype(jnp.uint32), low


def multiply(a: Word, b: Word) -> Word:
    """Return a * b, modulo 2**64."""
    return high_product(a[1], b[1]) + a[0] * b[1] + a[1] * b[0], a[1] * b[1]


def high_product(a: Any, b: Any) -> Array:
    """Return the high word of the product of two uint32, by their halves."""
    a, b = jnp.asarray(a, jnp.uint32), jnp.asarray(b, jnp.uint32)
    a_high, a_low, b_high, b_low = a >> 16, a & _HALF, b >> 16, b & _HALF
    inner, outer = a_high * b_low, a_low * b_high
    carry = (a_low * b_low >> 16) + (inner & _HALF) + (outer & _HALF)
    return a_high * b_high + (inner >> 16) + (outer >> 16) + (carry >> 16)


def _mix(a: Word, shift: int) -> Word:
    """Return a ^ a >> shift."""
    return a[0] ^ a[0] >> shift, a[1] ^ (a[1] >> shift | a[0] << 32 - shift)


def scramble(a: Word) -> Word:
    """Return the same as `engine.chance.scramble`."""
    return _mix(multiply(_mix(multiply(_mix(a, 30), _MIXES[0]), 27), _MIXES[1]), 31)


def hashed(key: Word, step: Any, number: Any) -> Word:
    """Return the hash of a key and a number: `scramble(key + (number + 1) * step)`."""
    counter = jnp.uint32(0), jnp.asarray(number).astype(jnp.uint32) + jnp.uint32(1)
    return scramble(add((key[0], key[1]), multiply(counter, word(step))))


def stream_key(seed: Array, index: Any) -> Array:
    """Return the key of a stream, uint32[2]: what `envs.streams.stream_key` does."""
    return jnp.stack(hashed(scramble((seed[0], seed[1])), INDEX_STEP, index))


def stream_seed(key: Array, episode: Any) -> Array:
    """Return the seed of an episode of a stream, uint32[2]."""
    high, low = hashed((key[0], key[1]), EPISODE_STEP, episode)
    return jnp.stack([high | _HIGHEST_BIT, low])


def as_seed(seed: Any) -> Array:
    """Return a seed, or a JAX key, as uint32[2].

    Args:
        seed: A whole number from 0 to 2**64 - 1; a scalar array of integers; a pair of uint32, the
            high word first; or a JAX key of two words, so that `jax.random.key(7)` is the seed 7.

    Raises:
        SeedError: If it is something else.
    """
    if not isinstance(seed, (jax.Array, np.ndarray)):
        return jnp.array(word(checked_seed(seed)), jnp.uint32)
    if jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
        seed = jax.random.key_data(jnp.asarray(seed))
    if seed.shape == () and jnp.issubdtype(seed.dtype, jnp.integer):
        seed = jnp.asarray(seed).astype(jnp.uint32)
        return jnp.stack([jnp.zeros_like(seed), seed])
    if seed.shape != (2,) or seed.dtype != jnp.uint32:
        raise SeedError(
            f"a seed in JAX is an integer, two uint32 or a key of two words, not an array of "
            f"{seed.dtype} of shape {seed.shape}; use jax.vmap for many games"
        )
    return jnp.asarray(seed)
