"""Random generators for agents, which tell nothing and change nothing.

The state of a generator gives back the numbers that it was seeded with, and deals are made of such
numbers. So whoever asks an agent hands it a generator of its own, whose seed is a one-way function
of everything that fixes it, and deals never come from a generator that an agent is handed.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np


def keyed_rng(domain: str, *key: int | str) -> np.random.Generator:
    """Return the generator of a key; another domain or another key gives an unrelated one.

    The key cannot be computed from the generator. A key that is one of few can still be found by
    trying them all: a deal that nobody may know needs a seed that nobody can guess.
    """
    parts = [part if isinstance(part, str) else int(part) for part in key]
    digest = blake2b(repr([domain, *parts]).encode(), digest_size=32).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))
