"""Sealed bytes give back what was sealed, or say that they are damaged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiveup_env.sealed import SealError, _digest, seal, sealed_array, unseal

ARRAYS = {
    "floats": np.arange(6, dtype=np.float32).reshape(2, 3),
    "one": np.array(3.5),
    "flags": np.array([True, False]),
    "empty": np.zeros((0, 4), np.int8),
    "turned": np.arange(6).reshape(2, 3).T,
}
SEALED = seal("thing", ARRAYS, {"said": [1, None, "\n"]})


def test_what_is_read_is_what_was_sealed_and_may_be_written_to() -> None:
    arrays, about = unseal("thing", SEALED)
    assert about == {"said": [1, None, "\n"]}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(arrays[name], array)
        assert arrays[name].flags.writeable
        assert sealed_array(arrays, name, array) is arrays[name]


@given(st.integers(0, len(SEALED) - 1), st.integers(1, 255))
def test_a_change_of_any_byte_is_noticed(at: int, change: int) -> None:
    with pytest.raises(SealError, match="a damaged one"):
        unseal("thing", SEALED[:at] + bytes([SEALED[at] ^ change]) + SEALED[at + 1 :])


def test_a_part_or_another_kind_is_refused() -> None:
    for length in (0, 10, len(SEALED) - 1):
        with pytest.raises(SealError, match="a damaged one"):
            unseal("thing", SEALED[:length])
    with pytest.raises(SealError, match="a matter is needed, not a thing"):
        unseal("matter", SEALED)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"nothing",
        b"[" * 100_000,
        b'{"kind": "thing", "about": [], "arrays": []}',
        b'{"kind": "thing", "about": {}, "arrays": [["a", "O", [1]]]}',
        b'{"kind": "thing", "about": {}, "arrays": [["a", "<f8", [-1]]]}',
        b'{"kind": "thing", "about": {}, "arrays": [["a", "|i1", [99999999999999999999]]]}',
        b'{"kind": "thing", "about": {}, "arrays": [["a", "<f8", [2]]]}',
        b'{"kind": "thing", "about": {}, "arrays": [["a", "|i1", [4]]]}',
    ],
)
def test_a_header_that_somebody_else_wrote_is_refused(header: bytes) -> None:
    content = header + b"\n" + bytes(8)
    with pytest.raises(SealError, match="its header cannot be read"):
        unseal("thing", _digest(content) + b"\n" + content)


@pytest.mark.parametrize("like", [np.zeros((2, 3)), np.zeros((3, 2), np.float32)])
def test_an_array_of_another_type_or_shape_is_not_taken(like: np.ndarray) -> None:
    with pytest.raises(SealError, match="there is no floats of type"):
        sealed_array(ARRAYS, "floats", like)
