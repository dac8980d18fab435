"""What an encoder is: named pieces of numbers, written from views into rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True)
class Piece:
    """Some entries of a row that belong together."""

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str

    @property
    def size(self) -> int:
        """How many entries it has."""
        return int(np.prod(self.shape))


@runtime_checkable
class Encoder(Protocol):
    """Turns views into rows of numbers.

    A row is the pieces one after the other, each in C order. The version changes whenever a row
    for the same view does.
    """

    @property
    def name(self) -> str:
        """What it is chosen by."""

    @property
    def version(self) -> int:
        """Which version its rows are."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """What a row consists of."""

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row of int8 for each of some VIEW records."""


def row_size(encoder: Encoder) -> int:
    """How many entries a row has."""
    return sum(piece.size for piece in encoder.pieces)


def bounds(encoder: Encoder) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest value of every entry."""
    low = [np.full(piece.size, piece.low, np.int8) for piece in encoder.pieces]
    high = [np.full(piece.size, piece.high, np.int8) for piece in encoder.pieces]
    return np.concatenate(low), np.concatenate(high)


def offsets(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, int]]:
    """Every piece with the index of its first entry."""
    start = 0
    for piece in pieces:
        yield piece, start
        start += piece.size


def piece_of(encoder: Encoder, name: str, rows: np.ndarray) -> np.ndarray:
    """A piece of some rows, in its own shape; the memory is shared."""
    for piece, start in offsets(encoder.pieces):
        if piece.name == name:
            part = rows[..., start : start + piece.size]
            return part.reshape(*rows.shape[:-1], *piece.shape)
    raise KeyError(name)


def table_of(pieces: Sequence[Piece]) -> str:
    """Every entry of some pieces as a table in Markdown."""
    lines = ["| index | name | shape | range | meaning |", "| --- | --- | --- | --- | --- |"]
    for piece, start in offsets(pieces):
        last = start + piece.size - 1
        index = str(start) if piece.size == 1 else f"{start} .. {last}"
        shape = " x ".join(map(str, piece.shape))
        span = f"{piece.low} .. {piece.high}"
        lines.append(f"| {index} | `{piece.name}` | {shape} | {span} | {piece.meaning} |")
    return "\n".join(lines)
