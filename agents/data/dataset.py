"""Decision data for PyTorch: `make_dataset("DIR", split="train")`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.utils.data import Dataset

from agents.data.card import read_complete
from agents.data.plan import SPLITS, DataError
from agents.data.shards import read_rows
from fiveup_env.errors import unknown

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from torch import Tensor

    from agents.data.card import Card

EVERY = "all"


class Decisions(Dataset[dict[str, "Tensor"]]):
    """Rows as tensors: `dataset[k]` has an entry for each column, and so has a list of rows.

    Attributes:
        card: what the data are, as `card.json` says.
        columns: each column with all its rows.
    """

    def __init__(self, card: Card, columns: dict[str, Tensor]) -> None:
        self.card, self.columns = card, columns

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values())))

    def __getitem__(self, which: int | slice | Sequence[int] | Tensor) -> dict[str, Tensor]:
        """Return one row or some."""
        return {name: column[which] for name, column in self.columns.items()}

    def __getitems__(self, which: list[int]) -> list[dict[str, Tensor]]:
        """Return a list of rows, as a DataLoader asks for a minibatch."""
        rows = self[which]
        return [{name: column[k] for name, column in rows.items()} for k in range(len(which))]


def make_dataset(
    folder: str | os.PathLike[str], split: str = "train", columns: Sequence[str] | None = None
) -> Decisions:
    """Return the rows of a split (or of `all`), in memory, with some columns or all of numbers.

    Raises DataError if the data are not complete, a shard is damaged, or there is no such split or
    column of numbers.
    """
    card = read_complete(folder)
    if split not in (*SPLITS, EVERY):
        raise DataError(unknown("split", split, (*SPLITS, EVERY)))
    known = [one.name for one in card.plan.columns if one.kind not in {"string", "uint64"}]
    names = list(known if columns is None else columns)
    for name in names:
        if name not in known:
            raise DataError(unknown("column of numbers", name, known))
    if not names:
        raise DataError("name at least one column")
    parts = []
    for number in range(card.plan.files):
        rows = read_rows(card, number, [*names, "split"])
        which = (rows["split"] == split) | (split == EVERY)
        parts.append({name: rows[name][which] for name in names})
    return Decisions(
        card,
        {name: torch.from_numpy(np.concatenate([part[name] for part in parts])) for name in names},
    )
