"""What Stable-Baselines3's `VecNormalize` does to rows, as a file of numbers beside a model's zip.

A zip does not hold the statistics by which its model's observations were normalized, and the file
that `VecNormalize.save` writes is a pickle. `fiveup_env.envs.sb3.save_statistics` writes this one:

    model.zip               the model
    model.statistics.json   mean and deviation of every entry, the clip, and a digest of the zip
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from fiveup_env.errors import shown
from fiveup_env.files import read_plain, write_atomic
from fiveup_env.opponents.networks.files import PolicyError
from fiveup_env.strict_json import parse_json

FORMAT: Final = "fiveup-statistics"
SUFFIX: Final = ".statistics.json"
MOST_BYTES: Final = 1 << 22
DAMAGE: Final = (ValueError, TypeError, LookupError)


class Statistics(NamedTuple):
    """How rows were normalized for a model."""

    mean: np.ndarray  # of every entry
    deviation: np.ndarray
    clip: float  # the largest normalized entry, either way

    def normalize(self, rows: np.ndarray) -> np.ndarray:
        """Return normalized rows, to the last bit as `VecNormalize` does."""
        normalized = (rows - self.mean) / self.deviation
        return np.clip(normalized, -self.clip, self.clip).astype(np.float32)


def statistics_beside(model: str | os.PathLike[str]) -> Path:
    """Return the path of a model's statistics, by its zip file."""
    return Path(f"{os.fspath(model).removesuffix('.zip')}{SUFFIX}")


def write_statistics(statistics: Statistics, model: str | os.PathLike[str]) -> None:
    """Write the statistics of a model beside its zip file."""
    content = {
        "format": FORMAT,
        "model": _digest_of(model),
        "mean": statistics.mean.tolist(),
        "deviation": statistics.deviation.tolist(),
        "clip": statistics.clip,
    }
    write_atomic(statistics_beside(model), json.dumps(content).encode())


def read_statistics(model: str) -> Statistics | None:
    """Return the statistics of a model, None if there are none beside its zip file.

    Raises PolicyError if they are damaged or those of another model.
    """
    path = statistics_beside(model)
    if not path.exists():
        return None
    try:
        content = parse_json(read_plain(path, MOST_BYTES))
        mean, deviation = (np.array(content[name], float) for name in ("mean", "deviation"))
        statistics = Statistics(mean, deviation, float(content["clip"]))
        whole = content["format"] == FORMAT and mean.ndim == 1 and mean.shape == deviation.shape
        if not (whole and (deviation > 0).all()):
            raise ValueError(content["format"])
    except OSError as error:
        raise PolicyError(f"{path} cannot be read ({error.strerror})") from None
    except DAMAGE:
        raise PolicyError(f"{path} does not hold the statistics of a model") from None
    if content["model"] != _digest_of(model):
        raise PolicyError(
            f"{path} holds the statistics of another model than {shown(model, str)}: write them "
            "after each model.save, by fiveup_env.envs.sb3.save_statistics"
        )
    return statistics


def _digest_of(model: str | os.PathLike[str]) -> str:
    """Return a digest of a model's zip file."""
    try:
        return hashlib.sha256(read_plain(model)).hexdigest()
    except OSError as error:
        raise PolicyError(
            f"{shown(model, str)} cannot be read ({error.strerror}): save the model first"
        ) from None
