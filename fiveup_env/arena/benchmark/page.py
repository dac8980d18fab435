"""A card as a self-contained HTML page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from fiveup_env.arena.benchmark.card import (
    MINI_HEADS,
    USAGE_HEADS,
    elo_text,
    error_text,
    fault_lines,
    memory_text,
    mini_texts,
    move_text,
    rate_text,
    usage_rows,
)
from fiveup_env.arena.page import Section, page_of
from fiveup_env.arena.plots import Interval, intervals
from fiveup_env.arena.tables import Table

if TYPE_CHECKING:
    from fiveup_env.arena.benchmark.protocol import Protocol
    from fiveup_env.files import Json


def card_page(card: Json, protocol: Protocol) -> str:
    """Return the page of a card."""
    sections = [
        Section("What was played", table=_what_was_played(card)),
        _score(card),
        _standing(card, protocol),
        _against(card),
    ]
    if card["minis"]:
        sections.append(_minis(card))
    if usage := usage_rows(card):
        sections.append(Section("Answers", table=Table(USAGE_HEADS, usage)))
    if faults := fault_lines(card):
        sections.insert(1, Section("Games forfeited", "<br>".join(map(escape, faults))))
    size = "A quick score card" if card["quick"] else "A score card"
    lead = f"{size} of {card['protocol']}: {card['agent']}"
    return page_of(f"Five Up: {card['agent']}", lead, sections)


def _what_was_played(card: Json) -> Table:
    cost = card["cost"]
    rows = [
        ("Agent", f"{card['agent']} ({card['agent_digest']})"),
        ("Protocol", f"{card['protocol']} ({card['protocol_digest']})"),
        ("Deals", ", ".join(f"{row['task']} {row['deals']:,}" for row in card["tasks"])),
        ("Version", card["code"]),
        ("Machine", cost["machine"]),
        ("Software", cost["software"]),
        ("Cost", f"{move_text(card)} a move, {memory_text(card)}"),
    ]
    return Table((), rows)


def _score(card: Json) -> Section:
    rows = [
        [row["task"], elo_text(row["elo"]), error_text(row["error_rate"]), f"{row['forfeits']:,}"]
        for row in card["tasks"]
    ]
    error = error_text(card["error_rate"])
    rows.append(["all tasks", elo_text(card["score"]), error, f"{card['forfeits']:,}"])
    scores = [*((row["task"], row["elo"]) for row in card["tasks"]), ("all tasks", card["score"])]
    return Section(
        "The score",
        "The score is the mean of the ratings in the tasks. Intervals are at 95 %, from whole "
        "deals. The error rate is the mean loss of a decision, in chances to win.",
        intervals([Interval(task, elo["value"], *elo["interval"]) for task, elo in scores], "Elo"),
        Table(("task", "Elo", "error rate (%)", "forfeits"), rows, [3]),
    )


def _standing(card: Json, protocol: Protocol) -> Section:
    """Return the score among those of the panel, which have no intervals: they are fixed."""
    means = [
        sum(task.elo[k] for task in protocol.tasks) / len(protocol.tasks)
        for k in range(len(protocol.panel))
    ]
    rows = [Interval(spec, elo, elo, elo) for spec, elo in zip(protocol.panel, means, strict=True)]
    score = card["score"]
    rows.append(Interval(f"{card['agent']} (here)", score["value"], *score["interval"]))
    rows.sort(key=lambda row: -row.value)
    text = "The ratings of the panel are part of the protocol."
    return Section("Where it stands", text, intervals(rows, "Elo"))


def _against(card: Json) -> Section:
    rivals = list(card["tasks"][0]["win_rates"])
    rows = [
        [row["task"], *(rate_text(row["win_rates"][rival]) for rival in rivals)]
        for row in card["tasks"]
    ]
    text = "Win rates in per cent; equals win half."
    return Section("Against the panel", text, table=Table(("task", *rivals), rows))


def _minis(card: Json) -> Section:
    text = (
        "By how much best replies gain against the agent in games that are small enough to be "
        "solved. It is exact where an agent always chooses the same or reports its probabilities; "
        "else (<i>about</i>) its choices were counted."
    )
    rows = [[row["mini"], *mini_texts(row)] for row in card["minis"]]
    return Section("Mini games", text, table=Table(MINI_HEADS, rows))
