"""Encoders of somebody else, in a module that nothing imports but who names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fiveup_env import Piece
from fiveup_env.encoders.flat import Flat

if TYPE_CHECKING:
    import numpy as np

PLACE: Final = f"{__name__}:Backwards"
COUNTS: Final = f"{__name__}:COUNTED"


class Backwards(Flat):
    """The rows of `flat` from their ends: the same width and bounds, and another name."""

    name, version = "backwards", 3

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for every view."""
        super().encode(views, rows)
        rows[:] = rows[:, ::-1].copy()


class Counts:
    """How many tiles each seat holds: rows that do not say what actions score."""

    name, version = "counts", 1
    pieces = (Piece("sizes", (5,), 0, 28, "tiles in each hand"),)

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for every view."""
        rows[:] = views["public"]["sizes"]


COUNTED = Counts()


class Impostor(Flat):
    """Other rows by a name that is taken."""


NOTHING = "no encoder"
