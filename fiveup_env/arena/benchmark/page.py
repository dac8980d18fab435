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
from fiveup_env.arena.charts import Whisker, whiskers
from fiveup_env.arena.markup import facts_of, figure_of, page_of, sections_of, table_of

if TYPE_CHECKING:
    from fiveup_env.arena.benchmark.protocol import Protocol
    from fiveup_env.files import Json


def card_page(card: Json, protocol: Protocol) -> str:
    """Return the page of a card."""
    sections = [
        ("What was played", _what_was_played(card)),
        ("The score", _score(card)),
        ("Where it stands", _standing(card, protocol)),
        ("Against the panel", _against(card)),
    ]
    if card["minis"]:
        sections.append(("Mini games", _minis(card)))
    if usage := usage_rows(card):
        sections.append(("Answers", table_of(USAGE_HEADS, usage)))
    if faults := fault_lines(card):
        text = "\n".join(f"<p>{escape(line)}</p>" for line in faults)
        sections.insert(1, ("Games forfeited", text))
    size = "A quick score card" if card["quick"] else "A score card"
    lead = f"{size} of {card['protocol']}: {card['agent']}"
    return page_of(f"Five Up: {card['agent']}", lead, sections_of(sections))


def _what_was_played(card: Json) -> str:
    cost = card["cost"]
    return facts_of(
        [
            ("Agent", f"{card['agent']} ({card['agent_digest']})"),
            ("Protocol", f"{card['protocol']} ({card['protocol_digest']})"),
            ("Deals", ", ".join(f"{row['task']} {row['deals']:,}" for row in card["tasks"])),
            ("Version", card["code"]),
            ("Machine", cost["machine"]),
            ("Software", cost["software"]),
            ("Cost", f"{move_text(card)} a move, {memory_text(card)}"),
        ]
    )


def _score(card: Json) -> str:
    rows = [
        [row["task"], elo_text(row["elo"]), error_text(row["error_rate"]), f"{row['forfeits']:,}"]
        for row in card["tasks"]
    ]
    error = error_text(card["error_rate"])
    rows.append(["all tasks", elo_text(card["score"]), error, f"{card['forfeits']:,}"])
    dots = [
        Whisker(name, one["value"], *one["interval"])
        for name, one in [
            *((row["task"], row["elo"]) for row in card["tasks"]),
            ("all tasks", card["score"]),
        ]
    ]
    heads = ["task", "Elo", "error rate (%)", "forfeits"]
    return (
        "<p>The score is the mean of the ratings in the tasks. Intervals are at 95 %, from whole "
        "deals. The error rate is the mean loss of a decision, in chances to win.</p>"
        + figure_of(whiskers(dots, "Elo"))
        + table_of(heads, rows)
    )


def _standing(card: Json, protocol: Protocol) -> str:
    """Return the score among those of the panel, which have no intervals: they are fixed."""
    fixed = [
        (spec, sum(task.elo[k] for task in protocol.tasks) / len(protocol.tasks))
        for k, spec in enumerate(protocol.panel)
    ]
    dots = [Whisker(spec, elo, elo, elo) for spec, elo in fixed]
    dots.append(
        Whisker(f"{card['agent']} (here)", card["score"]["value"], *card["score"]["interval"])
    )
    dots.sort(key=lambda dot: -dot.value)
    return "<p>The ratings of the panel are part of the protocol.</p>" + figure_of(
        whiskers(dots, "Elo")
    )


def _against(card: Json) -> str:
    rivals = list(card["tasks"][0]["win_rates"])
    rows = [
        [row["task"], *(rate_text(row["win_rates"][rival]) for rival in rivals)]
        for row in card["tasks"]
    ]
    return "<p>Win rates in per cent; equals win half.</p>" + table_of(["task", *rivals], rows)


def _minis(card: Json) -> str:
    rows = [[row["mini"], *mini_texts(row)] for row in card["minis"]]
    return (
        "<p>By how much best replies gain against the agent in games that are small enough to be "
        "solved. It is exact where an agent always chooses the same or reports its probabilities; "
        "else (<i>about</i>) its choices were counted.</p>" + table_of(MINI_HEADS, rows)
    )
