"""The protocol of an encoder, and the named pieces that the rows of an encoder consist of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from fiveup_env.engine.view import as_views
from fiveup_env.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True)
class Piece:
    """Adjacent entries of a row that belong together.

    Args:
        name: What the piece is called, once in an encoder.
        shape: The shape of its entries, which lie in C order.
        low: The least value that an entry may have, from -128.
        high: The greatest, to 127.
        meaning: What the entries say, for documentation.
        usual: What hardly any entry exceeds; None means `high`. Networks divide by it.
    """

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str
    usual: int | None = None

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    @property
    def factor(self) -> float:
        """The factor of an entry for a network: a power of two, so nothing is rounded.

        It is about one over the root of the largest entry, as most entries are far below that.
        """
        largest = self.usual or max(-self.low, self.high, 1)
        return 2.0 ** -round(math.log2(largest) / 2)


@runtime_checkable
class Encoder(Protocol):
    """Anything that turns views into rows of numbers.

    A row is the pieces one after the other, each in C order. The version changes whenever the row
    of the same view does.
    """

    @property
    def name(self) -> str:
        """The name by which it is chosen."""

    @property
    def version(self) -> int:
        """The version of its rows."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of a row, in order."""

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Overwrite `rows`, int8 of shape (views, entries), with a row for each VIEW struct."""


class NoRows:
    """An encoder of nothing, for games of which only views are read."""

    name, version = "none", 1
    pieces: tuple[Piece, ...] = ()

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write nothing."""


class CompiledEncoder:
    """An encoder in compiled code, which checks no index: `encode` checks for it."""

    pieces: tuple[Piece, ...]

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Overwrite `rows` with a row for each view; raise InputError for any that do not fit."""
        views = as_views(views)
        shape = len(views), sum(piece.size for piece in self.pieces)
        if not _is_writeable(rows, shape):
            raise InputError(f"rows must be a writeable array of int8 in the shape {shape}")
        self.encode_unchecked(views, rows)

    def encode_unchecked(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Overwrite `rows` with a row for each view that the library itself has made."""
        raise NotImplementedError


def _is_writeable(rows: object, shape: tuple[int, int]) -> bool:
    """Return whether an encoder can write rows in a shape here."""
    return bool(
        isinstance(rows, np.ndarray)
        and rows.shape == shape
        and rows.dtype == np.int8
        and rows.flags.writeable
    )


def unchecked(encoder: Encoder) -> Callable[[np.ndarray, np.ndarray], None]:
    """Return an encoder's `encode` without its check, for views that the library has made."""
    if isinstance(encoder, CompiledEncoder) and type(encoder).encode is CompiledEncoder.encode:
        return encoder.encode_unchecked
    return encoder.encode


def row_size(encoder: Encoder) -> int:
    """Return the number of entries in a row."""
    return sum(piece.size for piece in encoder.pieces)


def rows_of(encoder: Encoder, views: np.ndarray, *, scaled: bool) -> np.ndarray:
    """Return a row for each view as environments hand them out: int8, or scaled to float32."""
    rows = np.empty((len(views), row_size(encoder)), np.int8)
    encoder.encode(views, rows)
    return rows * factors_of(encoder.pieces) if scaled else rows


def bounds(encoder: Encoder) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest value of every entry: two arrays of int8 [row_size]."""
    low = np.array([piece.low for piece in encoder.pieces], np.int8)
    high = np.array([piece.high for piece in encoder.pieces], np.int8)
    return low.repeat(sizes_of(encoder.pieces)), high.repeat(sizes_of(encoder.pieces))


def factors_of(pieces: Sequence[Piece]) -> np.ndarray:
    """Return the factors of networks for every entry of some pieces, as float32 [entries]."""
    return np.array([piece.factor for piece in pieces], np.float32).repeat(sizes_of(pieces))


def sizes_of(pieces: Sequence[Piece]) -> np.ndarray:
    """Return the number of entries of each piece."""
    return np.array([piece.size for piece in pieces], np.intp)


def offsets(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, int]]:
    """Yield every piece with the index of its first entry."""
    start = 0
    for piece in pieces:
        yield piece, start
        start += piece.size


def place_of(encoder: Encoder, name: str) -> tuple[Piece, slice]:
    """Return the piece with a name, and where it is in a row.

    Raises KeyError if the encoder has no piece of that name.
    """
    for piece, start in offsets(encoder.pieces):
        if piece.name == name:
            return piece, slice(start, start + piece.size)
    raise KeyError(name)


def piece_of(encoder: Encoder, name: str, rows: np.ndarray) -> np.ndarray:
    """Return one piece of some rows in its own shape, sharing their memory.

    Args:
        encoder: What wrote the rows.
        name: The name of the piece.
        rows: Rows of the encoder [..., row_size].

    Returns:
        The entries, of the shape of the rows without their last axis, then the piece's.

    Raises:
        KeyError: If the encoder has no piece of that name.
    """
    piece, place = place_of(encoder, name)
    return rows[..., place].reshape(*rows.shape[:-1], *piece.shape)


def table_of(pieces: Sequence[Piece]) -> str:
    """Return a Markdown table of some pieces."""
    lines = ["| index | name | shape | range | meaning |", "| --- | --- | --- | --- | --- |"]
    for piece, start in offsets(pieces):
        last = start + piece.size - 1
        index = str(start) if piece.size == 1 else f"{start} .. {last}"
        shape = " x ".join(map(str, piece.shape))
        span = f"{piece.low} .. {piece.high}"
        lines.append(f"| {index} | `{piece.name}` | {shape} | {span} | {piece.meaning} |")
    return "\n".join(lines)
