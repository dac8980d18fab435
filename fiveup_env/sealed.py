"""Sealed bytes: some arrays and what is said about them, under a digest of every byte.

    DIGEST newline HEADER newline the content of all arrays

The header is a JSON object: `kind`, `about`, and the name, type and shape of every array. Reading
runs no code, and the digest tells damage; it says nothing of who made the bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.errors import InputError, shown
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fiveup_env.files import Json

DIGEST_SIZE: Final = 16
# The types that an array may have, by their names.
NUMBERS: Final = {np.dtype(code).str: np.dtype(code) for code in "?bhilqBHILQefd"}
# What the header of bytes that were sealed by somebody else may raise.
UNREADABLE: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)


class SealError(InputError):
    """Bytes that are damaged, or not what they should be."""


def seal(kind: str, arrays: Mapping[str, np.ndarray], about: Json) -> bytes:
    """Return the bytes from which `unseal` reads arrays of numbers and what is said about them."""
    held = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    header = json.dumps({"kind": kind, "about": about, "arrays": held}, allow_nan=False)
    content = b"".join([header.encode(), b"\n", *(array.tobytes() for array in arrays.values())])
    return _digest(content) + b"\n" + content


def unseal(kind: str, sealed: bytes) -> tuple[dict[str, np.ndarray], Json]:
    """Return the arrays and what is said about them.

    Raises SealError for bytes that are damaged or of another kind.
    """
    if not isinstance(sealed, (bytes, bytearray, memoryview)):
        raise SealError(f"{kind}: sealed bytes are needed, not {shown(sealed)}")
    digest, _, content = bytes(sealed).partition(b"\n")
    if digest != _digest(content):
        raise SealError(f"not a {kind}, or a damaged one: the content does not match its digest")
    header, _, body = content.partition(b"\n")
    try:
        head = parse_json(header)
        if head["kind"] != kind:
            raise SealError(f"a {kind} is needed, not a {shown(head['kind'], str)}")
        if not isinstance(head["about"], dict):
            raise TypeError("what is said about the arrays is an object of JSON")
        return _arrays_in(head["arrays"], body), head["about"]
    except UNREADABLE as error:
        if isinstance(error, SealError):
            raise
        raise SealError(f"not a {kind}: its header cannot be read") from None


def sealed_array(arrays: Mapping[str, np.ndarray], name: str, like: np.ndarray) -> np.ndarray:
    """Return one of the arrays; raise SealError unless it has the type and shape of `like`."""
    array = arrays.get(name)
    if array is None or (array.shape, array.dtype) != (like.shape, like.dtype):
        raise SealError(f"there is no {name} of type {like.dtype} and shape {like.shape}")
    return array


def _arrays_in(held: Any, body: bytes) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    start = 0
    for name, kind, shape in held:
        dtype, count = NUMBERS[kind], math.prod(shape)
        if not all(isinstance(n, int) and n >= 0 for n in shape):
            raise ValueError("a shape is of whole numbers")
        arrays[name] = np.frombuffer(body, dtype, count, start).reshape(shape).copy()
        start += arrays[name].nbytes
    if start != len(body):
        raise ValueError("there is more content than arrays")
    return arrays


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_SIZE).hexdigest().encode()
