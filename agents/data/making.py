"""All shards of a data set, on any number of cores: each is whole, or not there."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

import numpy as np

from agents.data.card import begin, complete
from agents.data.games import rows_of_shard
from agents.data.plan import SPLITS, DataError
from agents.data.shards import digest_of, missing, read_rows, write_shard
from agents.processes import workers
from fiveup_env.files import clear_drafts, locked
from fiveup_env.progress import progress

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from agents.data.card import Card
    from agents.data.plan import Plan

LOCK = ".lock"


def make_data(
    folder: str | os.PathLike[str],
    plan: Plan,
    *,
    cores: int = 1,
    command: str | None = None,
    say: Callable[[str], object] = print,
) -> Card:
    """Make the shards that a folder still lacks, and return its complete card.

    The bytes of the shards do not depend on the number of cores. Another process that makes the
    same folder waits until this one is done.
    """
    command = command or f"make_data(DIR, {plan})"
    with locked(begin(folder, plan, command).folder / LOCK):
        card = begin(folder, plan, command)  # another process may have begun other data
        clear_drafts(card.folder)
        numbers, damaged = missing(card)
        for sentence in damaged:
            say(sentence)
        if card.complete and not numbers:
            return card
        if cores == 1:
            for number in progress(numbers, len(numbers), "shards"):
                _make(card, number)
        elif numbers:
            _make_on_cores(card, numbers, cores)
        return _finish(card)


def _make(card: Card, number: int) -> None:
    write_shard(card, number, rows_of_shard(card.plan, number))


def _make_on_cores(card: Card, numbers: list[int], cores: int) -> None:
    try:
        with workers(min(cores, len(numbers))) as pool:
            made = [pool.submit(_make, card, number) for number in numbers]
            for one in progress(as_completed(made), len(made), "shards"):
                one.result()
    except BrokenProcessPool:
        raise DataError(
            f"a worker that made shards in {card.folder} died; finished shards are kept, and "
            "the same command continues"
        ) from None


def _finish(card: Card) -> Card:
    """Count the rows of all shards, write the complete card, and return it."""
    names = ("seed", "split", "agent", "preset", "players")
    parts = [read_rows(card, number, names) for number in range(card.plan.files)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in names}
    rules = zip(columns["preset"].tolist(), columns["players"].tolist(), strict=True)
    splits = {name: columns["seed"][columns["split"] == name] for name in SPLITS}
    counts = {
        "positions": len(columns["seed"]),
        "games": len(np.unique(columns["seed"])),
        "splits": {
            name: {"positions": len(seeds), "games": len(np.unique(seeds))}
            for name, seeds in splits.items()
        },
        "agents": dict(sorted(Counter(columns["agent"].tolist()).items())),
        "rules": dict(sorted(Counter(f"{name}, {count} players" for name, count in rules).items())),
    }
    shards = [
        {"file": path.name, "positions": len(part["seed"]), "digest": digest_of(path)}
        for path, part in zip(card.shards, parts, strict=True)
    ]
    return complete(card, counts, shards)
