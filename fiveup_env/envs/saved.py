"""Saved states: some arrays as bytes, with a digest that tells a damaged state from a sound one."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

DIGEST_SIZE: Final = 16


def pack(kind: str, arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the bytes that `unpack` reads; `kind` says what they are the state of."""
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]  # (no array is called `file`)
    return _digest(kind, content.getvalue()) + content.getvalue()


def unpack(kind: str, state: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of a state, or raise an OptionError if it is damaged or of another kind."""
    if not isinstance(state, (bytes, bytearray, memoryview)):
        raise OptionError(f"not the saved state of a {kind}: it must be bytes, not {type(state)}")
    digest, content = bytes(state[:DIGEST_SIZE]), bytes(state[DIGEST_SIZE:])
    if digest != _digest(kind, content):
        raise OptionError(f"not the saved state of a {kind}, or a damaged one")
    with np.load(io.BytesIO(content), allow_pickle=False) as saved:
        return dict(saved)


def _digest(kind: str, content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_SIZE, person=kind.encode()[:16]).digest()
