"""The student: the shipped network plays in compiled code, from a bare install."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fiveup_env import Batch, make_agent
from fiveup_env.opponents.networks.compiled import sizes_of
from fiveup_env.opponents.networks.files import (
    DESCRIPTION,
    SHIPPED,
    WEIGHTS,
    PolicyError,
    digest_of,
    read_description,
    read_weights,
)
from fiveup_env.opponents.networks.policy import load_compiled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MOST_BYTES = 200_000


def test_the_shipped_student_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED["student"].iterdir()) < MOST_BYTES


def test_the_student_plays_without_torch_or_safetensors() -> None:
    code = (
        "import sys; sys.modules.update(torch=None, safetensors=None);"
        "from fiveup_env import Batch, make_agent; import numpy as np;"
        "batch = Batch(4, seed=0); batch.reset();"
        "print(make_agent('student')(batch.views(), np.random.default_rng(0)).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "(4,)\n"


def test_the_student_beats_a_weaker_heuristic() -> None:
    scores = np.zeros(2)
    for seat in range(2):
        agents = [make_agent("student"), make_agent("defensive")][:: 1 - 2 * seat]
        batch, rng = Batch(400, players=4, episode="hand", seed=3), np.random.default_rng(0)
        batch.reset()
        for _ in range(200):
            turn, views, actions = batch.turn % 2, batch.views(), np.zeros(400, np.int64)
            for side, agent in enumerate(agents):
                which = np.flatnonzero(turn == side)
                actions[which] = agent(views[which], rng)
            batch.step(actions)
            scores += batch.reward[:, :2].sum(0)[:: 1 - 2 * seat]
    assert scores[0] > scores[1]


@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION])
def test_a_damaged_student_is_refused(tmp_path: Path, name: str) -> None:
    shutil.copytree(SHIPPED["student"], tmp_path / "student")
    content = bytearray((tmp_path / "student" / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "student" / name).write_bytes(content)
    with pytest.raises(PolicyError, match=r"not valid JSON|do not belong together|is damaged"):
        make_agent(f"student:{tmp_path / 'student'}")


def test_the_weights_are_read_as_they_were_written() -> None:
    described = read_description(SHIPPED["student"])
    shape = described["shape"]
    sizes = sizes_of(shape["width"], shape["depth"])
    tensors = read_weights(SHIPPED["student"], described, sizes)
    weights, _ = load_compiled(SHIPPED["student"])
    assert np.array_equal(weights.head, tensors["policy_head.weight"])
    assert np.array_equal(weights.guide.T, tensors["guide.weight"])
    assert all(weight.dtype == np.float32 for weight in weights)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the student's files, to be altered."""
    return shutil.copytree(SHIPPED["student"], tmp_path / "student")


def altered(folder: Path, change: Callable[[dict[str, Any]], object], more: bytes = b"") -> None:
    """Change the header of some weights, and what follows it, as somebody who knows the digest."""
    content = (folder / WEIGHTS).read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    change(header)
    words = json.dumps(header).encode()
    content = len(words).to_bytes(8, "little") + words + content[start:] + more
    (folder / WEIGHTS).write_bytes(content)
    description = json.loads((folder / DESCRIPTION).read_text())
    description["digest"] = digest_of(content, description)
    (folder / DESCRIPTION).write_text(json.dumps(description))


EMPTY = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}


@pytest.mark.parametrize(
    ("change", "more", "why"),
    [
        (
            lambda header: header.update({f"a{k}": EMPTY for k in range(9_999)}),
            b"",
            r"the tensor 'a0' should be absent, but is \(0,\)",
        ),
        (
            lambda header: header.update({f"{k:060}": EMPTY for k in range(20_000)}),
            bytes(10_000_000),
            "cannot be read .more than .* bytes",
        ),
        (
            lambda header: header["guide.bias"].update(header["policy_head.bias"]),
            b"",
            "'guide.bias' should be .* but is",
        ),
        (
            lambda header: header["policy_trunk.norm.bias"].update(
                header["policy_trunk.norm.weight"]
            ),
            b"",
            "does not hold tensors",
        ),
        (
            lambda header: header["worth"].update(data_offsets=[-4, 64]),
            b"",
            "does not hold tensors",
        ),
        (lambda header: header["worth"].update(data_offsets=[0, 64]), b"", "does not hold tensors"),
        (lambda header: header["worth"].update(dtype=[]), b"", "does not hold tensors"),
        (dict, b"more", "does not hold tensors"),
    ],
)
def test_weights_of_another_shape_are_refused_before_any_is_read(
    copied: Path,
    change: Callable[[dict[str, Any]], object],
    more: bytes,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    altered(copied, change, more)
    monkeypatch.setattr(np, "frombuffer", None)
    with pytest.raises(PolicyError, match=why):
        make_agent(f"student:{copied}")


def test_a_header_is_read_once_and_each_tensor_once_without_a_copy_of_the_rest(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[int, int]] = []
    parsed: list[str] = []
    parse, view = json.loads, np.frombuffer

    def loads(text: str, **how: Any) -> Any:
        parsed.append(text)
        return parse(text, **how)

    def frombuffer(content: bytes, dtype: Any, count: int, offset: int) -> np.ndarray:
        read.append((len(content), offset))
        return view(content, dtype, count, offset)

    monkeypatch.setattr(json, "loads", loads)
    monkeypatch.setattr(np, "frombuffer", frombuffer)
    make_agent(f"student:{copied}")
    assert len(parsed) == 2  # the description and the header
    assert len(read) == len(set(read)) == len(sizes_of(32, 1))
    assert {size for size, _ in read} == {(copied / WEIGHTS).stat().st_size}


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "", "A" * 64])
def test_a_digest_that_is_none_is_refused(copied: Path, digest: str) -> None:
    description = json.loads((copied / DESCRIPTION).read_text()) | {"digest": digest}
    (copied / DESCRIPTION).write_text(json.dumps(description))
    with pytest.raises(PolicyError, match="its digest is not one of SHA-256"):
        make_agent(f"student:{copied}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="policies that are pipes (no named pipes)")
@pytest.mark.parametrize("name", [WEIGHTS, DESCRIPTION])
def test_a_pipe_is_not_waited_for(copied: Path, name: str) -> None:
    (copied / name).unlink()
    os.mkfifo(copied / name)
    with pytest.raises(PolicyError, match=r"cannot be read \(not a plain file\)"):
        make_agent(f"student:{copied}")
