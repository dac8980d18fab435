"""The bank as one file: NumPy arrays without pickles, and what made them as JSON.

Views are stored field by field, so that the file does not depend on how a struct lies in memory.
A digest covers all arrays: the same command gives the same digest.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.fitting.reference import ActionValues
from fiveup_env.engine.view import VIEW, as_views
from fiveup_env.errors import InputError, shown
from fiveup_env.files import file_path, write_atomic
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from fiveup_env.rules.fields import Rules

FORMAT: Final = "fiveup-bank"
VERSION: Final = 1
SHIPPED: Final = Path(__file__).with_name("bank.npz")
# What NumPy and JSON raise for files that are something else, or damaged.
UNREADABLE: Final = (
    *(ValueError, LookupError, TypeError, AttributeError, EOFError, RecursionError),
    *(NotImplementedError, RuntimeError, OSError, zipfile.BadZipFile, zlib.error),
)


class BankError(InputError):
    """A bank that is damaged or of another version, or an agent that it cannot measure."""


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


def write_bank(path: str | os.PathLike[str], bank: Bank) -> str:
    """Write a bank, and return its digest."""
    arrays = dict(_columns(bank.views)) | {
        "game": bank.games.astype(np.int32),
        "player": bank.players.astype(np.int8),
        "halves": bank.values.halves,
        "errors": bank.values.errors,
    }
    digest = _digest(arrays)
    about = bank.about | {"format": FORMAT, "version": VERSION, "digest": digest}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    write_atomic(path, content.getvalue())
    return digest


@cache
def shipped_bank() -> Bank:
    """Return the bank that the repository holds."""
    return read_bank(SHIPPED)


def read_bank(path: str | os.PathLike[str]) -> Bank:
    """Return the bank in a file."""
    arrays, about = _content_of(file_path(path).read_bytes())
    if about.get("format") != FORMAT:
        raise BankError(f"{path} is not a bank of positions, or is damaged; {_remake(path)}")
    if about.get("version") != VERSION:
        version = shown(about.get("version"))
        raise BankError(
            f"{path} is a bank of version {version}, and this code reads version {VERSION}; "
            f"{_remake(path)}"
        )
    if about.get("digest") != _digest(arrays):
        raise BankError(f"{path} is damaged: its content does not match its digest")
    return _bank_of(path, arrays, about)


def _content_of(content: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the arrays of a bank and what is said about them; nothing if it is no bank."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: np.asarray(file[name]) for name in file.files}
        about = json.loads(arrays.pop("about").tobytes())
    except UNREADABLE:
        return {}, {}
    return arrays, about if isinstance(about, dict) else {}


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
    for name, field in (fields | others).items():
        stored = arrays.get(name)
        if stored is None or (stored.shape, stored.dtype) != (field.shape, field.dtype):
            raise BankError(
                f"{path} was made by code whose views have another {name}; {_remake(path)}"
            )
        field[...] = stored
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


def _digest(arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _remake(path: str | os.PathLike[str]) -> str:
    return f"make it again by python -m agents.bank --make {path}"
