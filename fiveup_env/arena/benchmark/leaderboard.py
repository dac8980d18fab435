"""The page of the leaderboard, as Markdown, made from its entries."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from fiveup_env.arena.benchmark.card import elo_text, error_text, memory_text, mini_texts, move_text
from fiveup_env.arena.benchmark.protocol import read_protocol
from fiveup_env.arena.tables import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.arena.benchmark.figures import Estimate
    from fiveup_env.files import Json


def page_of_entries(entries: Sequence[Json]) -> str:
    """Return the page; each entry holds the name of its `file`, too."""
    ordered = sorted(
        entries, key=lambda entry: (entry["card"]["protocol"], -entry["card"]["score"][0])
    )
    head = (
        "# Leaderboard\n\n"
        "Made from the entries beside it by `python -m agents.submit page`; "
        "[the benchmark](../docs/understand/benchmark.md) says how to read it, and how to enter. "
        "Intervals are at 95 %. A quick card has few deals, that of a slow agent a quarter. "
        "`about`: not exact. An error rate in bold can be told from 0: the judge found better "
        "moves."
    )
    parts = [head]
    for name, of_protocol in groupby(ordered, key=lambda entry: entry["card"]["protocol"]):
        rows = list(of_protocol)
        parts += [f"## {name}", _ratings(rows, name), _costs(rows, name), _notes(rows)]
    return "\n\n".join(parts) + "\n"


def _ratings(entries: Sequence[Json], name: str) -> str:
    tasks = [task.name for task in read_protocol(name).tasks]
    rows = [
        [
            f"[{_cell(entry['name'])}]({entry['file']})",
            entry["card"]["size"],
            elo_text(entry["card"]["score"]),
            *(elo_text(row["elo"]) for row in entry["card"]["tasks"]),
        ]
        for entry in entries
    ]
    return markdown([["agent", "card", "score", *tasks], *rows])


def _costs(entries: Sequence[Json], name: str) -> str:
    minis = [mini.preset for mini in read_protocol(name).minis]
    rows = [
        [
            _cell(entry["name"]),
            _error(entry["card"]["error_rate"]),
            *(_nash_conv(entry["card"], mini) for mini in minis),
            move_text(entry["card"]),
            memory_text(entry["card"]),
            f"{entry['card']['forfeits']:,}",
        ]
        for entry in entries
    ]
    nash = [f"NashConv in {mini}" for mini in minis]
    heads = ["agent", "error rate (%)", *nash, "time per move", "memory", "forfeits"]
    return markdown([heads, *rows])


def _error(estimate: Estimate | None) -> str:
    text = error_text(estimate)
    return text if estimate is None or estimate[1] <= 0 else f"**{text}**"


def _nash_conv(card: Json, mini: str) -> str:
    rows = [row for row in card["minis"] if row["mini"] == mini]
    return mini_texts(rows[0])[0] if rows else "-"


def _notes(entries: Sequence[Json]) -> str:
    rows = [
        [
            _cell(entry["name"]),
            _cell(entry["note"]),
            _cell(entry["training"]),
            _cell(entry["budget"]),
            _cell(entry["authors"]),
            f"`{_cell(entry['card']['agent'])}`",
        ]
        for entry in entries
    ]
    return markdown([["agent", "what it does", "training", "budget", "authors", "spec"], *rows])


def _cell(text: str) -> str:
    """Return a text as a cell shows it: in one line, with nothing that Markdown would read."""
    plain = " ".join(text.split())
    for mark in "\\|`*_<>[]":
        plain = plain.replace(mark, f"\\{mark}")
    return plain
