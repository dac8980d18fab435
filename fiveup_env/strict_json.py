"""JSON of others, read strictly: whatever is read can be written again, and every reader agrees.

JSON here is I-JSON (RFC 7493): UTF-8, no name twice in an object, no lone surrogates. Beyond that,
numbers are finite, whole numbers fit into 128 bits, and nothing lies deeper than `DEEPEST`.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any, Final

DEEPEST: Final = 64  # levels of values within each other
LARGEST: Final = 1 << 128  # as large as the state of a generator


def parse_json(text: str | bytes) -> Any:
    """Return the value of a text in JSON; raise ValueError if it is not valid.

    >>> parse_json('{"players": 2}')
    {'players': 2}
    >>> parse_json("[1e999]")
    Traceback (most recent call last):
        ...
    ValueError: a number must be finite
    """
    if isinstance(text, bytes):
        text = str(text, "utf-8-sig")
    elif not isinstance(text, str):
        raise TypeError(f"JSON is a text, not {type(text).__name__}")
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError(f"it is nested more than {DEEPEST} deep") from None
    _check(value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a name must not occur twice in an object")
    return values


def _check(value: Any) -> None:
    """Raise ValueError for what JSON cannot carry; level by level, so that depth is no danger."""
    level = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item
                inner += item.values()
            elif isinstance(item, list):
                inner += item
            elif isinstance(item, str):
                item.encode()
            elif isinstance(item, float) and not isfinite(item):
                raise ValueError("a number must be finite")
            elif isinstance(item, int) and abs(item) >= LARGEST:
                raise ValueError("a whole number must fit into 128 bits")
        if not inner:
            return
        level = inner
    raise ValueError(f"it is nested more than {DEEPEST} deep")
