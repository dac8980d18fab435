"""The page of the leaderboard, as Markdown, made from its entries."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from fiveup_env.arena.benchmark.card import elo_text, error_text, memory_text, mini_texts, move_text
from fiveup_env.arena.benchmark.protocol import read_protocol
from fiveup_env.arena.tables import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.files import Json


def page_of_entries(entries: Sequence[Json]) -> str:
    """Return the page; each entry holds the name of its `file`, too."""
    ordered = sorted(
        entries, key=lambda one: (one["card"]["protocol"], -one["card"]["score"]["value"])
    )
    head = (
        "# Leaderboard\n\n"
        "Made from the entries beside it by `python -m agents.submit page`; "
        "[the benchmark](../docs/understand/benchmark.md) says how to read it, and how to enter. "
        "Intervals are at 95 %; those of quick cards are wider. `about`: not exact."
    )
    parts = [head]
    for name, of_protocol in groupby(ordered, key=lambda one: one["card"]["protocol"]):
        rows = list(of_protocol)
        parts += [f"## {name}", _ratings(rows, name), _costs(rows, name), _notes(rows)]
    return "\n\n".join(parts) + "\n"


def _ratings(entries: Sequence[Json], name: str) -> str:
    tasks = [task.name for task in read_protocol(name).tasks]
    rows = [
        [
            f"[{_cell(one['name'])}]({one['file']})",
            "quick" if one["card"]["quick"] else "full",
            elo_text(one["card"]["score"]),
            *(elo_text(row["elo"]) for row in one["card"]["tasks"]),
        ]
        for one in entries
    ]
    return markdown([["agent", "card", "score", *tasks], *rows])


def _costs(entries: Sequence[Json], name: str) -> str:
    minis = [mini.preset for mini in read_protocol(name).minis]
    rows = [
        [
            _cell(one["name"]),
            error_text(one["card"]["error_rate"]),
            *(_nash_conv(one["card"], mini) for mini in minis),
            move_text(one["card"]),
            memory_text(one["card"]),
            f"{one['card']['forfeits']:,}",
        ]
        for one in entries
    ]
    nash = [f"NashConv in {mini}" for mini in minis]
    heads = ["agent", "error rate (%)", *nash, "time per move", "memory", "forfeits"]
    return markdown([heads, *rows])


def _nash_conv(card: Json, mini: str) -> str:
    rows = [row for row in card["minis"] if row["mini"] == mini]
    return mini_texts(rows[0])[0] if rows else "-"


def _notes(entries: Sequence[Json]) -> str:
    rows = [
        [
            _cell(one["name"]),
            _cell(one["note"]),
            _cell(one["training"]),
            _cell(one["budget"]),
            _cell(one["authors"]),
            f"`{_cell(one['command'])}`",
        ]
        for one in entries
    ]
    return markdown([["agent", "what it does", "training", "budget", "authors", "command"], *rows])


def _cell(text: str) -> str:
    """Return a text as a cell shows it: in one line, with nothing that Markdown would read."""
    plain = " ".join(text.split())
    for mark in "\\|`*_<>[]":
        plain = plain.replace(mark, f"\\{mark}")
    return plain
