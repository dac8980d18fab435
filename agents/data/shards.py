"""Shards: the rows as Parquet files, each of which is whole or not there.

Every file says which plan and which code made it, and its pages are checked when they are read.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any, Final

from agents.data.card import CARD, made_by
from agents.data.plan import DataError
from fiveup_env.errors import MissingExtraError
from fiveup_env.files import write_atomic

try:
    import pyarrow as pa
    from pyarrow import parquet
except ModuleNotFoundError as _error:
    raise MissingExtraError(
        f"decision data need {_error.name}: pip install -c constraints.txt -e '.[data]'"
    ) from None

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np

    from agents.data.card import Card
    from agents.data.games import Columns
    from agents.data.plan import Column

ABOUT: Final = b"fiveup"  # where a shard says what made it
# What pyarrow and JSON raise for files that are something else, or damaged.
UNREADABLE: Final = (pa.ArrowException, ValueError, LookupError, TypeError, RecursionError, OSError)


def write_shard(card: Card, number: int, rows: Columns) -> None:
    """Write a shard; the same rows give the same bytes."""
    columns = card.plan.columns
    arrays = [_to_arrow(column, rows[column.name]) for column in columns]
    fields = [
        pa.field(column.name, array.type, nullable=False)
        for column, array in zip(columns, arrays, strict=True)
    ]
    about = json.dumps(made_by(card.plan) | {"shard": number})
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, {ABOUT: about.encode()}))
    content = io.BytesIO()
    parquet.write_table(table, content, compression="zstd", write_page_checksum=True)
    write_atomic(card.shards[number], content.getvalue())


def missing(card: Card) -> tuple[list[int], list[str]]:
    """Return the shards that are still to be made, and a sentence for each that is damaged."""
    wrong = {number: _fault(card, number) for number in range(card.plan.files)}
    numbers = [number for number, fault in wrong.items() if fault]
    return numbers, [wrong[number] for number in numbers if card.shards[number].exists()]


def _fault(card: Card, number: int) -> str:
    """Return why a shard cannot be read, or nothing."""
    try:
        read_rows(card, number, ("seed",))
    except DataError as error:
        return str(error)
    return ""


def read_rows(card: Card, number: int, names: Sequence[str]) -> Columns:
    """Return some columns of a shard."""
    path, lengths = card.shards[number], {one.name: one.length for one in card.plan.columns}
    again = f"the command in {card.folder / CARD} makes it again"
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            about = json.loads(file.schema_arrow.metadata[ABOUT])
            table = file.read(list(names))
    except FileNotFoundError:
        raise DataError(f"{path} is missing: {again}") from None
    except UNREADABLE:
        raise DataError(f"{path} is damaged or half written: {again}") from None
    wanted = {"shard": number} | {name: card.about[name] for name in made_by(card.plan)}
    if about != wanted:
        raise DataError(f"{path} is a shard of other data: {again}")
    return {name: _to_numpy(table[name], lengths[name]) for name in names}


def digest_of(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _to_arrow(column: Column, values: np.ndarray) -> Any:
    kind = pa.type_for_alias(column.kind)
    flat = pa.array(values.reshape(-1), kind)
    if not column.length:
        return flat
    of = pa.list_(pa.field("element", kind, nullable=False), column.length)
    return pa.FixedSizeListArray.from_arrays(flat, type=of)


def _to_numpy(values: Any, length: int) -> np.ndarray:
    whole = values.combine_chunks()
    if not length:
        return whole.to_numpy(zero_copy_only=False)
    return whole.flatten().to_numpy().reshape(-1, length)
