"""Checkpoints: the whole state of a run in one safetensors file, with a digest of its content.

A checkpoint appears under its name only once it is complete, and older ones are kept until then.
A damaged checkpoint is skipped in favour of the one before it.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from fiveup_env.errors import FiveUpError
from fiveup_env.files import clear_drafts, remove, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = "fiveup-checkpoint"
VERSION: Final = 1
KEPT: Final = 2
# What reading altered bytes as a header, as JSON and as arrays may raise.
DAMAGE: Final = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)

# The arrays of a learner, and everything else that its next update depends on, as JSON.
State = tuple[dict[str, np.ndarray], dict[str, Any]]


class CheckpointError(FiveUpError):
    """A checkpoint that cannot be written, or none that can be read."""


class Checkpoint(NamedTuple):
    """A checkpoint that was read: `damaged` has a sentence for each newer one that was skipped."""

    path: Path
    arrays: dict[str, np.ndarray]
    about: dict[str, Any]
    damaged: list[str]


def write_checkpoint(
    folder: Path, number: int, arrays: dict[str, np.ndarray], about: dict[str, Any]
) -> Path:
    """Write a checkpoint, then remove all but the newest `KEPT`."""
    path = folder / f"{number:08}.safetensors"
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT, "version": VERSION, **about})
    metadata = {"about": text, "digest": _digest(arrays, text)}
    before = checkpoints_in(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clear_drafts(folder)
        write_atomic(path, safetensors.save(arrays, metadata))
    except OSError as error:
        kept = f"the last good checkpoint is {before[-1]}" if before else "there is no earlier one"
        raise CheckpointError(
            f"the checkpoint {path} could not be written ({error.strerror}); {kept}"
        ) from None
    for old in checkpoints_in(folder)[:-KEPT]:
        remove(old)
    return path


def read_newest(folder: Path) -> Checkpoint:
    """Return the newest checkpoint that is not damaged."""
    damaged: list[str] = []
    for path in reversed(checkpoints_in(folder)):
        try:
            arrays, about = _read(path)
        except (SafetensorError, OSError, *DAMAGE) as error:
            damaged.append(f"{path} is damaged ({error}) and was skipped")
            continue
        return Checkpoint(path, arrays, about, damaged)
    raise CheckpointError("; ".join([f"there is no good checkpoint in {folder}", *damaged]))


def checkpoints_in(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, oldest first."""
    return sorted(folder.glob("[0-9]*.safetensors"))


def _read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    content = path.read_bytes()
    arrays = safetensors.load(content)
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    if metadata["digest"] != _digest(arrays, metadata["about"]):
        raise ValueError("its content does not match its digest")
    about = json.loads(metadata["about"])
    if (about["format"], about["version"]) != (FORMAT, VERSION):
        raise ValueError(f"its format is {about['format']} version {about['version']}")
    return arrays, about


def _digest(arrays: dict[str, np.ndarray], text: str) -> str:
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
