"""The card of a data set: what the data are, how they were made, their counts and digests.

A folder has it as `card.json`, from the beginning, and as `card.md`, once all shards are there.
What rows depend on must be the same when a folder is continued.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agents.data.plan import DataError, plan_of
from fiveup_env.arena.results import code_version, origin
from fiveup_env.errors import FiveUpError, shown
from fiveup_env.files import Json, atomic_file, clear_drafts, file_path

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from agents.data.plan import Plan

FORMAT: Final = "fiveup-data"
VERSION: Final = 1
CARD: Final = "card.json"
PAGE: Final = "card.md"
LICENCE: Final = "MIT"


@dataclass(frozen=True)
class Card:
    """A folder of decision data, and what it says about them."""

    folder: Path
    plan: Plan
    about: Json

    @property
    def complete(self) -> bool:
        """Whether all shards were made."""
        return "counts" in self.about

    @property
    def shards(self) -> list[Path]:
        """The paths of all shards."""
        return [self.folder / f"shard-{number:05}.parquet" for number in range(self.plan.files)]


def made_by(plan: Plan) -> Json:
    """Return all that the rows of a plan depend on."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "code": code_version(),
        "origins": {spec: origin(spec) for spec in (*plan.agents, plan.values)},
        "plan": plan.as_dict(),
    }


def begin(folder: str | os.PathLike[str], plan: Plan, command: str) -> Card:
    """Return the card of a folder: a new one, or that of the same plan, which goes on."""
    path, wanted = file_path(folder), made_by(plan)
    if (path / CARD).is_file():
        card = read_card(path)
        _check_same(card, wanted)
        return card
    clear_drafts(path, CARD)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise DataError(f"{path} is not an empty folder and holds no decision data: choose another")
    path.mkdir(parents=True, exist_ok=True)
    card = Card(path, plan, wanted | {"command": command, "licence": LICENCE})
    _write(card)
    return card


def _check_same(card: Card, wanted: Json) -> None:
    """Refuse to continue data of another plan or of another version of the code."""
    written, wanted = ({**one, **one["plan"]} for one in (card.about, wanted))
    for name, value in wanted.items():
        if name != "plan" and written.get(name) != value:
            raise DataError(
                f"{card.folder} holds data made with {name} {shown(written.get(name))}, not "
                f"{shown(value)}: choose another folder, or continue with its settings"
            )


def read_card(folder: str | os.PathLike[str]) -> Card:
    """Return the card of a folder of decision data, which may not be complete."""
    path = file_path(folder)
    if not (path / CARD).is_file():
        raise DataError(f"{path} holds no decision data: there is no {CARD} in it")
    try:
        about = json.loads((path / CARD).read_bytes())
        kind, version = about["format"], about["version"]
        plan = None
        if (kind, version) == (FORMAT, VERSION):
            plan = plan_of(about["plan"])
            _ = about["code"], about["origins"], about["command"]
            if "counts" in about:
                digests = [shard["digest"] for shard in about["shards"]]
                _ = dict(zip(range(plan.files), digests, strict=True))
    except FiveUpError as error:
        raise DataError(f"{path / CARD} does not fit this code: {error}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise DataError(f"{path / CARD} is damaged: make the data in another folder") from None
    if plan is None:
        raise DataError(
            f"{path} holds {shown(kind, str)} of version {shown(version)}; this code reads "
            f"{FORMAT} of version {VERSION}"
        )
    return Card(path, plan, about)


def read_complete(folder: str | os.PathLike[str]) -> Card:
    """Return the card of a folder, all of whose shards were made."""
    card = read_card(folder)
    if not card.complete:
        raise DataError(f"{card.folder} is not complete; to go on: {card.about.get('command')}")
    return card


def complete(card: Card, counts: Json, shards: list[Json]) -> Card:
    """Write the complete card and its page, and return the card."""
    columns = [column._asdict() for column in card.plan.columns]
    about = card.about | {"columns": columns, "counts": counts, "shards": shards}
    whole = Card(card.folder, card.plan, about)
    with atomic_file(card.folder / PAGE) as file:
        file.write(page_of(whole))
    _write(whole)
    return whole


def _write(card: Card) -> None:
    with atomic_file(card.folder / CARD) as file:
        json.dump(card.about, file, indent=1)
        file.write("\n")


def page_of(card: Card) -> str:
    """Return a complete card as Markdown."""
    about, counts = card.about, card.about["counts"]
    played = (
        f"{counts['positions']:,} positions that left a choice, from {counts['games']:,} whole "
        f"games between {', '.join(card.plan.agents)}. `{card.plan.values}` valued every action."
    )
    parts = [
        _front_matter(about, counts["positions"]),
        "# Decisions in games of Five Up",
        played,
        f"Licence: {about['licence']}. Code: `{about['code']}`. Made by:",
        f"```\n{about['command']}\n```",
        "The positions of a game are alike, so splits are by game.",
        _table(
            ("split", "positions", "games"),
            [
                (name, f"{split['positions']:,}", f"{split['games']:,}")
                for name, split in counts["splits"].items()
            ],
        ),
        *(
            _table(
                (kind, "positions"),
                [(name, f"{positions:,}") for name, positions in counts[kind].items()],
            )
            for kind in ("agents", "rules")
        ),
        _table(
            ("column", "type", "what it is"),
            [
                (f"`{one.name}`", one.kind + f" x {one.length}" * (one.length > 0), one.about)
                for one in card.plan.columns
            ],
        ),
        _table(
            ("shard", "positions", "digest"),
            [
                (shard["file"], f"{shard['positions']:,}", f"`{shard['digest']}`")
                for shard in about["shards"]
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(about: Json, positions: int) -> str:
    """Return what a hub of data sets reads of a page: the folder can be uploaded as it is."""
    sizes = [(1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")]
    sizes += [(1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M")]
    size = next((name for most, name in sizes if positions < most), "100M<n<1B")
    return "\n".join(
        [
            *("---", f"license: {about['licence'].lower()}"),
            *("pretty_name: Decisions in games of Five Up", "language: en"),
            "tags: [dominoes, imperfect-information, reinforcement-learning, offline-rl]",
            *("size_categories:", f"- {size}"),
            *("configs:", "- config_name: default", '  data_files: "*.parquet"', "---"),
        ]
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
