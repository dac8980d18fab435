"""Saved states: some arrays as bytes, with a digest that tells a damaged state from a sound one."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

DIGEST_SIZE: Final = 16
# What NumPy and JSON raise for content that is something else, whatever its digest says.
UNREADABLE: Final = (
    *(ValueError, LookupError, TypeError, AttributeError, EOFError, RecursionError, MemoryError),
    *(NotImplementedError, RuntimeError, OSError, zipfile.BadZipFile, zlib.error),
)


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
        raise damaged(kind)
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as saved:
            return {name: np.asarray(saved[name]) for name in saved.files}
    except UNREADABLE:
        raise damaged(kind) from None


def array_in(
    kind: str, arrays: Mapping[str, np.ndarray], name: str, like: np.ndarray
) -> np.ndarray:
    """Return a saved array, or raise an OptionError if it has another type or size than `like`."""
    array = arrays.get(name)
    if array is None or (array.shape, array.dtype) != (like.shape, like.dtype):
        raise OptionError(f"the saved state of a {kind} has no {name} of the size of this one")
    return array


def json_in(kind: str, arrays: Mapping[str, np.ndarray], name: str) -> dict[str, Any]:
    """Return a dict that was saved as JSON, or raise an OptionError if there is none."""
    try:
        content = json.loads(arrays[name].tobytes())
    except UNREADABLE:
        raise damaged(kind) from None
    if not isinstance(content, dict):
        raise damaged(kind)
    return content


def damaged(kind: str) -> OptionError:
    """Return the error for a state that `pack` cannot have made."""
    return OptionError(f"not the saved state of a {kind}, or a damaged one")


def _digest(kind: str, content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_SIZE, person=kind.encode()[:16]).digest()
