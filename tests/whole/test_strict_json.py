"""JSON that others wrote is read as everybody reads it, or refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiveup_env.strict_json import DEEPEST, LARGEST, parse_json


def nested(depth: int, value: str = "1") -> str:
    return "[" * (depth - 1) + value + "]" * (depth - 1)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(1 - LARGEST, LARGEST - 1) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(PLAIN)
def test_what_can_be_written_is_read(value: object) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


def test_values_may_lie_as_deep_as_is_said() -> None:
    assert json.dumps(parse_json(nested(DEEPEST))) == nested(DEEPEST)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Expecting value"),
        ("NaN", "must be finite"),
        ("[-Infinity]", "must be finite"),
        ('{"a": 1e999}', "must be finite"),
        (f"[{LARGEST}]", "128 bits"),
        ("9" * 5000, "limit"),
        (r'"\ud800"', "surrogate"),
        (r'{"\udfff": 1}', "surrogate"),
        (b'"\xed\xa0\x80"', "utf-8"),
        (b'"\xff"', "utf-8"),
        ("{}".encode("utf-16"), "utf-8"),
        ('[{"a": 1, "a": 1}]', "twice"),
        (nested(DEEPEST + 1), "nested"),
        (nested(100_000), "nested"),
        ('{"a":' * DEEPEST + "1" + "}" * DEEPEST, "nested"),
    ],
)
def test_what_not_every_reader_understands_is_refused(text: str | bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse_json(text)
