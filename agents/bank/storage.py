"""The bank as one sealed file, compressed.

Views are stored field by field, so that the file does not depend on how a struct lies in memory.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.fitting.reference import ActionValues
from fiveup_env.engine.view import VIEW, as_views
from fiveup_env.errors import InputError
from fiveup_env.files import file_path, write_atomic
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.sealed import SealError, seal, sealed_array, unseal

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from fiveup_env.rules.fields import Rules

KIND: Final = "bank of positions of fiveup-env"
SHIPPED: Final = Path(__file__).with_name("fiveup.bank")


class BankError(InputError):
    """A bank that is damaged or of other code, or an agent that it cannot measure."""


@dataclass(frozen=True, eq=False)
class Bank:
    """Positions with the values of their actions, one position per row."""

    views: np.ndarray
    games: np.ndarray  # the game that each position is from
    players: np.ndarray  # who sat there, as an index of about["players"]
    values: ActionValues
    about: dict[str, Any]

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.views)

    @property
    def masks(self) -> np.ndarray:
        """The allowed actions, as agents are given them."""
        return np.isfinite(self.values.halves[:, 0]).astype(np.int8)

    def part(self, which: np.ndarray) -> Bank:
        """Return the bank with some of its positions, by a mask or by their numbers."""
        arrays = {name: getattr(self, name)[which] for name in ("views", "games", "players")}
        return replace(self, **arrays, values=self.values.part(which))

    def under(self, rules: Sequence[Rules]) -> Bank:
        """Return the positions under any of these rules; there may be none."""
        held = self.views["public"]["rules"]
        return self.part(np.any([held == one.to_struct() for one in rules], axis=0))


def write_bank(path: str | os.PathLike[str], bank: Bank) -> None:
    """Write a bank: the same bank always as the same bytes."""
    arrays = dict(_columns(bank.views)) | {
        "game": bank.games.astype(np.int32),
        "player": bank.players.astype(np.int8),
        "halves": bank.values.halves,
        "errors": bank.values.errors,
    }
    write_atomic(path, zlib.compress(seal(KIND, arrays, bank.about), 9))


@cache
def shipped_bank() -> Bank:
    """Return the bank that the repository holds."""
    return read_bank(SHIPPED)


def read_bank(path: str | os.PathLike[str]) -> Bank:
    """Return the bank in a file."""
    try:
        arrays, about = unseal(KIND, zlib.decompress(file_path(path).read_bytes()))
    except (zlib.error, SealError):
        raise BankError(
            f"{path} is not a bank of positions, or is damaged; {_remake(path)}"
        ) from None
    return _bank_of(path, arrays, about)


def _bank_of(
    path: str | os.PathLike[str], arrays: dict[str, np.ndarray], about: dict[str, Any]
) -> Bank:
    count = np.size(arrays.get("game", ()))
    views = np.zeros(count, VIEW)
    fields = dict(_columns(views))
    others: dict[str, np.ndarray] = {
        "game": np.zeros(count, np.int32),
        "player": np.zeros(count, np.int8),
        "halves": np.zeros((count, 2, ACTION_COUNT), np.float32),
        "errors": np.zeros((count, ACTION_COUNT), np.float32),
    }
    try:
        for name, field in (fields | others).items():
            field[...] = sealed_array(arrays, name, field)
    except SealError as error:
        raise BankError(f"{path} was made by other code: {error}; {_remake(path)}") from None
    try:
        as_views(views)
    except InputError as error:
        raise BankError(f"{path} is damaged: {error}") from None
    values = ActionValues(others["halves"], others["errors"])
    if not count or not _are_values(values):
        raise BankError(f"{path} is damaged: its values are not those of any positions")
    return Bank(views, others["game"], others["player"], values, about)


def _are_values(values: ActionValues) -> bool:
    """Return whether values are finite where an action is allowed, which one always is."""
    first, second = np.isfinite(values.halves).swapaxes(0, 1)
    rest = values.halves[~np.isfinite(values.halves)]
    errors = values.errors[first]
    fit = (first == second).all() and first.any(1).all() and (rest == -np.inf).all()
    return bool(fit and np.isfinite(errors).all() and (errors >= 0).all())


def _columns(structs: np.ndarray, prefix: str = "view") -> Iterator[tuple[str, np.ndarray]]:
    """Yield every plain field of some structs, by its path."""
    for name in structs.dtype.names or ():
        field = structs[name]
        if field.dtype.names:
            yield from _columns(field, f"{prefix}.{name}")
        else:
            yield f"{prefix}.{name}", field


def _remake(path: str | os.PathLike[str]) -> str:
    return f"make it again by python -m agents.bank --make {path}"
