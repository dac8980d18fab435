"""Rows: what an interface hands out as observations, int8 or scaled to float32; with masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np
from gymnasium.spaces import Box, Dict

from fiveup_env.checks import is_one_of
from fiveup_env.encoders import bounds, factors_of, get_encoder, row_size
from fiveup_env.encoders.pieces import unchecked
from fiveup_env.envs.options import checked_flag
from fiveup_env.errors import OptionError, unknown
from fiveup_env.native import FloatRows, Floats, Int8Rows, compiled
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from fiveup_env.encoders import Encoder

MaskPlace: TypeAlias = Literal["info", "observation"]
MASK_PLACES: Final[tuple[MaskPlace, ...]] = get_args(MaskPlace)
CHUNK: Final = 128  # rows that are encoded and then scaled together, while they are in the cache


class RowSpace(Box):  # noqa: PLW1641  (no Box has a hash)
    """The space of rows: a Box whose bounds differ by entry, and which prints in one line.

    Models are saved with it, so that `sb3` plays them with the encoder that they learnt from.

    Attributes:
        name, version: those of the encoder that writes the rows.
    """

    def __init__(
        self, low: np.ndarray, high: np.ndarray, dtype: Any, name: str, version: int
    ) -> None:
        """Make the space of rows, or of arrays of rows."""
        super().__init__(low, high, dtype=dtype)
        self.name, self.version = name, version

    def __eq__(self, other: object) -> bool:
        """Return whether another space is of the same rows: equal bounds are not enough."""
        same = super().__eq__(other)
        if isinstance(other, RowSpace):
            return same and (self.name, self.version) == (other.name, other.version)
        return same

    def __repr__(self) -> str:
        """Return the name with the version, the shape and the type, without the bounds."""
        return f"RowSpace({self.name!r}, {self.version}, {self.shape}, {self.dtype})"


class Rows:
    """The rows of an encoder: as they are, or each entry multiplied by its piece's factor."""

    def __init__(self, encoder: str | Encoder, *, scaled: bool) -> None:
        """Raise EncoderError or OptionError for a value that is not allowed."""
        self.encoder = get_encoder(encoder)
        self._encode = unchecked(self.encoder)
        self._size = row_size(self.encoder)
        scales = checked_flag(scaled, "scaled")
        self._factors = factors_of(self.encoder.pieces) if scales else None

    @property
    def dtype(self) -> np.dtype:
        """The type of an entry."""
        return np.dtype(np.int8 if self._factors is None else np.float32)

    def space(self, count: int | None = None) -> RowSpace:
        """Return the space of a row, or of an array of this many rows."""
        low, high = bounds(self.encoder)
        if self._factors is not None:
            low, high = low * self._factors, high * self._factors
        if count is not None:
            low, high = (np.broadcast_to(bound, (count, self._size)) for bound in (low, high))
        return RowSpace(low, high, self.dtype, self.encoder.name, self.encoder.version)

    def empty(self, count: int) -> np.ndarray:
        """Return memory for this many rows."""
        return np.empty((count, self._size), self.dtype)

    def write(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Overwrite `rows` with a row for each VIEW struct, which is not checked."""
        if self._factors is None:
            self._encode(views, rows)
            return
        scratch = np.empty((min(CHUNK, len(views)), self._size), np.int8)
        for start in range(0, len(views), CHUNK):
            part = views[start : start + CHUNK]
            entries = scratch[: len(part)]
            self._encode(part, entries)
            scale(entries, self._factors, rows[start : start + CHUNK])


def masks_in_observations(place: object) -> bool:
    """Return whether the option `mask` puts masks into observations; raise an OptionError."""
    if not is_one_of(place, MASK_PLACES):
        raise OptionError(unknown("value of mask", place, MASK_PLACES))
    return place == "observation"


def with_mask(row: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Return an observation that holds the legal actions as bool, or arrays of such."""
    return {"observation": row, "action_mask": mask.astype(np.bool_)}


def space_with_mask(rows: Box) -> Dict:
    """Return the space of a row, or of an array of them, with the legal actions as bool."""
    mask = Box(0, 1, (*rows.shape[:-1], ACTION_COUNT), np.bool_)  # type: ignore[arg-type]
    return Dict({"observation": rows, "action_mask": mask})


@compiled
def scale(entries: Int8Rows, factors: Floats, rows: FloatRows) -> None:
    """Write the entries of some rows, multiplied by their factors."""
    for r in range(len(entries)):
        for k in range(len(factors)):
            rows[r, k] = np.float32(entries[r, k]) * factors[k]
