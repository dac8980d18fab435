"""The seeds of the games that an interface plays on its own.

A game whose seed somebody names plays that seed: `Game(seed=7)`, `env.reset(seed=7)`. All that
follows comes from a stream: the later episodes of an environment, the games of a batch, parallel
environments. A stream is named by a seed and an index, and hashes them together with the number of
the episode into a seed whose highest bit is set. So neighbouring seeds, indices and episodes have
nothing in common, and the seeds below `FIRST_OF_STREAMS` are for deals that are named: no stream
reaches them, so whatever is evaluated on them was never trained on.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.chance import fraction, scramble
from fiveup_env.native import Doubles, Int64s, Word, Words, compiled, inlined

FIRST_OF_STREAMS: Final = 1 << 63

_HIGHEST_BIT = np.uint64(FIRST_OF_STREAMS)
CHANCE_STEP = np.uint64(0x9E6C63D0876A9A47)
INDEX_STEP = np.uint64(0xA0761D6478BD642F)
EPISODE_STEP = np.uint64(0xE7037ED1A0B428DB)


@inlined
def stream_key(seed: Word, index: int) -> Word:
    """Return the key of a stream, distinct for all indices of a seed and all seeds at an index."""
    return scramble(scramble(np.uint64(seed)) + np.uint64(index + 1) * INDEX_STEP)


@inlined
def stream_seed(key: Word, episode: int) -> Word:
    """Return the seed of an episode of a stream."""
    return scramble(key + np.uint64(episode + 1) * EPISODE_STEP) | _HIGHEST_BIT


@compiled
def fill_keys(seeds: Words, first: int, keys: Words) -> None:
    """Write the keys of streams: the i-th of the i-th seed and the index `first` + i."""
    for i in range(len(keys)):
        keys[i] = stream_key(seeds[i], first + i)


@compiled
def fill_seeds(keys: Words, episodes: Int64s, seeds: Words) -> None:
    """Write the seed of an episode of each stream."""
    for i in range(len(keys)):
        seeds[i] = stream_seed(keys[i], episodes[i])


@compiled
def fill_chances(keys: Words, episodes: Int64s, place: int, chances: Doubles) -> None:
    """Write a number from 0 to 1 for an episode of each stream, another one for each `place`."""
    for i in range(len(keys)):
        word = scramble(stream_seed(keys[i], episodes[i]) + np.uint64(place + 1) * CHANCE_STEP)
        chances[i] = fraction(word)


class Stream:
    """The seeds of an interface that plays one episode after another."""

    def __init__(self, seed: int, index: int = 0) -> None:
        """Start the stream that a seed and an index name."""
        self._key, self._episode = np.zeros(1, np.uint64), np.zeros(1, np.int64)
        fill_keys(np.array([seed], np.uint64), index, self._key)

    def next(self) -> int:
        """Return the seed of the next episode."""
        seeds = np.zeros(1, np.uint64)
        fill_seeds(self._key, self._episode, seeds)
        self._episode += 1
        return int(seeds[0])


def derived_seed(seed: int, *path: int) -> int:
    """Return the seed of a part of something, hashed from its seed and the path to the part."""
    for index in path:
        seed = Stream(seed, index).next()
    return seed
