"""Checkpoints: they are written atomically, and damage is detected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.runs.checkpoints import CheckpointError, checkpoints_in, read_newest, write_checkpoint

ARRAYS = {
    "weights": np.arange(6, dtype=np.float32).reshape(2, 3),
    "step": np.array(3.0, np.float32),
    "flags": np.array([True, False]),
    "empty": np.zeros((0, 4), np.int8),
    "turned": np.arange(6).reshape(2, 3).T,
}
ABOUT = {"updates": 7, "rivals": {"past": [], "beaten": [0.1 + 0.2]}}


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "new", 7, ARRAYS, ABOUT)
    newest = read_newest(tmp_path / "new")
    assert newest.path == path
    assert not newest.damaged
    assert newest.about["rivals"] == ABOUT["rivals"]
    assert newest.arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert newest.arrays[name].dtype == array.dtype
        assert np.array_equal(newest.arrays[name], array)


def test_the_two_newest_are_kept(tmp_path: Path) -> None:
    for number in range(5):
        write_checkpoint(tmp_path, number, ARRAYS, {"updates": number})
    assert [path.stem for path in checkpoints_in(tmp_path)] == ["00000003", "00000004"]
    assert read_newest(tmp_path).about["updates"] == 4


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_checkpoint_with_any_byte_altered_is_passed_over(
    tmp_path: Path, data: st.DataObject
) -> None:
    good = write_checkpoint(tmp_path, 1, ARRAYS, {"updates": 1})
    bad = write_checkpoint(tmp_path, 2, ARRAYS, {"updates": 2})
    content = bytearray(bad.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    bad.write_bytes(content)
    newest = read_newest(tmp_path)
    assert newest.path == good
    assert f"{bad} is damaged" in newest.damaged[0]


@pytest.mark.parametrize("length", [0, 5, 100, -1])
def test_a_torn_checkpoint_is_passed_over(tmp_path: Path, length: int) -> None:
    good = write_checkpoint(tmp_path, 1, ARRAYS, ABOUT)
    bad = write_checkpoint(tmp_path, 2, ARRAYS, ABOUT)
    bad.write_bytes(bad.read_bytes()[:length])
    assert read_newest(tmp_path).path == good


def test_where_none_is_good_the_damage_is_told(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, 1, ARRAYS, ABOUT)
    path.write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match=f"no good checkpoint in .*{path.name} is damaged"):
        read_newest(tmp_path)
