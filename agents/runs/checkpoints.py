"""Checkpoints: the whole state of a run in one sealed file.

A checkpoint appears under its name only once it is complete, and older ones are kept until then.
A damaged checkpoint is skipped in favour of the one before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from fiveup_env.errors import FiveUpError
from fiveup_env.files import clear_drafts, remove, write_atomic
from fiveup_env.sealed import SealError, seal, unseal

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

KIND: Final = "checkpoint of fiveup-env"
SUFFIX: Final = ".checkpoint"
KEPT: Final = 2

# The arrays of a learner, and everything else that its next update depends on, as JSON.
State: TypeAlias = "tuple[dict[str, np.ndarray], dict[str, Any]]"


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
    path = folder / f"{number:08}{SUFFIX}"
    before = checkpoints_in(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clear_drafts(folder)
        write_atomic(path, seal(KIND, arrays, about))
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
            arrays, about = unseal(KIND, path.read_bytes())
        except (SealError, OSError) as error:
            damaged.append(f"{path} is damaged ({error}) and was skipped")
            continue
        return Checkpoint(path, arrays, about, damaged)
    raise CheckpointError("; ".join([f"there is no good checkpoint in {folder}", *damaged]))


def checkpoints_in(folder: Path) -> list[Path]:
    """Return the checkpoints in a folder, oldest first."""
    return sorted(folder.glob(f"[0-9]*{SUFFIX}"))
