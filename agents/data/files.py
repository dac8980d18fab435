"""A data set as `datasets` knows it: a Parquet file for each shard, and a card, `README.md`.

`load_dataset("DIR")` of `datasets` reads it, as does anything else that reads Parquet.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.data.games import rows_of_shard
from agents.data.plan import COLUMNS, SPLITS, DataError
from agents.processes import spread
from fiveup_env.arena.play.results import code_version
from fiveup_env.arena.tables import markdown
from fiveup_env.errors import MissingExtraError, shown, unknown
from fiveup_env.files import atomic_file, file_path, new_folder
from fiveup_env.progress import progress

try:
    import pyarrow as pa
    from pyarrow import parquet
except ModuleNotFoundError as _error:
    raise MissingExtraError(
        f"decision data need {_error.name}: pip install -c constraints.txt -e '.[data]'",
        _error,
    ) from None

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    from agents.data.games import Columns
    from agents.data.plan import Plan, Shard

CARD: Final = "README.md"


def make_data(folder: str | os.PathLike[str], plan: Plan, *, cores: int = 1) -> Path:
    """Make a folder of decision data, which appears once it is complete, and return its path.

    The bytes of the files do not depend on the number of cores.
    """
    path = file_path(folder)
    if path.exists():
        raise DataError(f"{path} is there already: choose another folder")
    with new_folder(path) as draft, spread(cores) as over:
        made = over(partial(_write_shard, draft, plan), plan.shards)
        list(progress(made, len(plan.shards), "shards"))
        with atomic_file(draft / CARD) as file:
            file.write(card_of(draft, plan))
    return path


def _write_shard(folder: Path, plan: Plan, shard: Shard) -> None:
    """Make the rows of a shard, and write them; the same plan gives the same bytes."""
    if "torch" in sys.modules:  # more threads may round otherwise
        sys.modules["torch"].set_num_threads(1)
    arrays = {name: _to_arrow(rows) for name, rows in rows_of_shard(plan, shard).items()}
    path = folder / shard.file
    parquet.write_table(pa.table(arrays), path, compression="zstd", write_page_checksum=True)


def read_data(
    folder: str | os.PathLike[str], split: str = "train", columns: Sequence[str] | None = None
) -> Columns:
    """Return the rows of a split, in memory: some columns, or all.

    Raises DataError if there is no such split or column, or files are missing or damaged.
    """
    files = sorted(file_path(folder).glob(f"{split}-*.parquet"))
    if split not in SPLITS or not files:
        raise DataError(f"{folder} holds no decision data of the split {shown(split)}")
    try:
        shards = [parquet.ParquetFile(f, page_checksum_verification=True) for f in files]
        known = shards[0].schema_arrow.names
        for name in columns or ():
            if name not in known:
                raise DataError(unknown("column", name, known))
        table = pa.concat_tables([shard.read(columns) for shard in shards])
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{folder} holds damaged files: {shown(error, str)}") from None
    return {name: _to_numpy(table[name].combine_chunks()) for name in table.column_names}


def card_of(path: Path, plan: Plan) -> str:
    """Return the card of a complete folder: Markdown, after what a hub of data sets reads."""
    seeds = {split: read_data(path, split, ["seed"])["seed"] for split in SPLITS}
    counts = [(split, f"{len(s):,}", f"{len(np.unique(s)):,}") for split, s in seeds.items()]
    schema = parquet.read_schema(path / plan.shards[0].file)
    columns = [(f"`{field.name}`", str(field.type), COLUMNS[field.name]) for field in schema]
    return "\n".join(
        [
            *("---", "license: mit", "pretty_name: Decisions in games of Five Up", "language: en"),
            "tags: [dominoes, imperfect-information, reinforcement-learning, offline-rl]",
            *("configs:", "- config_name: default", "  data_files:"),
            *(f"  - split: {split}\n    path: {split}-*.parquet" for split in SPLITS),
            *("---", "", "# Decisions in games of Five Up", ""),
            f"Positions that left a choice, from whole games between {', '.join(plan.agents)}.",
            f"`{plan.values}` valued every action. No game is in two splits.",
            *("", markdown([("split", "positions", "games"), *counts])),
            *("", markdown([("column", "type", "what it is"), *columns])),
            *("", "Made by the laboratory of fiveup-env", f"({code_version()}):", ""),
            *("```python", f"make_data(folder, {plan})", "```", ""),
        ]
    )


def _to_arrow(rows: np.ndarray) -> Any:
    flat = pa.array(rows.ravel())
    return flat if rows.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])


def _to_numpy(rows: Any) -> np.ndarray:
    if isinstance(rows, pa.FixedSizeListArray):
        return _to_numpy(rows.flatten()).reshape(-1, rows.type.list_size)
    values: np.ndarray = rows.to_numpy(zero_copy_only=False)
    return values
