"""A card as a self-contained HTML page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from fiveup_env.arena.benchmark.card import (
    against_table,
    fault_lines,
    memory_text,
    mini_table,
    move_text,
    score_table,
    title_of,
    usage_table,
)
from fiveup_env.arena.page import Section, page_of
from fiveup_env.arena.plots import Interval, intervals
from fiveup_env.arena.tables import Table

if TYPE_CHECKING:
    from fiveup_env.arena.benchmark.protocol import Protocol
    from fiveup_env.files import Json


def card_page(card: Json, protocol: Protocol) -> str:
    """Return the page of a card."""
    scores = [*((row["task"], row["elo"]) for row in card["tasks"]), ("all tasks", card["score"])]
    sections = [
        Section("What was played", table=_what_was_played(card)),
        Section("Games forfeited", "<br>".join(map(escape, fault_lines(card)))),
        Section(
            "The score",
            "The score is the mean of the ratings in the tasks. Intervals are at 95 %, from whole "
            "deals. The error rate is the mean loss of a decision, in chances to win.",
            intervals([Interval(task, *elo) for task, elo in scores], "Elo"),
            score_table(card),
        ),
        _standing(card, protocol),
        Section(
            "Against the panel",
            "Win rates in per cent; equals win half.",
            table=against_table(card),
        ),
        Section(
            "Mini games",
            "By how much best replies gain against the agent in games that are small enough to be "
            "solved. It is exact where an agent always chooses the same or reports its "
            "probabilities; else (<i>about</i>) its choices were counted.",
            table=mini_table(card),
        ),
        Section("Answers", table=usage_table(card)),
    ]
    shown = [one for one in sections if (one.table.rows if one.table else one.text)]
    lead = f"{card['protocol']}: {title_of(card)}"
    return page_of(f"Five Up: {card['agent']}", lead, shown)


def _what_was_played(card: Json) -> Table:
    cost = card["cost"]
    rows = [
        ("Agent", f"{card['agent']} ({card['agent_digest']})"),
        ("Protocol", f"{card['protocol']} ({card['protocol_digest']})"),
        ("Version", card["code"]),
        ("Machine", cost["machine"]),
        ("Software", cost["software"]),
        ("Cost", f"{move_text(card)} a move, {memory_text(card)}"),
    ]
    return Table((), rows)


def _standing(card: Json, protocol: Protocol) -> Section:
    """Return the score among those of the panel, which have no intervals: they are fixed."""
    ratings = zip(*(task.elo for task in protocol.tasks), strict=True)
    means = [sum(elos) / len(elos) for elos in ratings]
    rows = [Interval(spec, elo, elo, elo) for spec, elo in zip(protocol.panel, means, strict=True)]
    rows.append(Interval(f"{card['agent']} (here)", *card["score"]))
    rows.sort(key=lambda row: -row.value)
    text = "The ratings of the panel are part of the protocol."
    return Section("Where it stands", text, intervals(rows, "Elo"))
