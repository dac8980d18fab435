"""The score card of an agent: everything that made it, its figures, and what they are made of."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numba
import numpy as np

from fiveup_env.arena.benchmark.figures import figures_of
from fiveup_env.arena.benchmark.play import costs_of, meetings_of
from fiveup_env.arena.results import agent_digest, code_of
from fiveup_env.arena.statistics import with_bounds
from fiveup_env.arena.tables import columns, duration, hundredths, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.arena.benchmark.protocol import BenchmarkTask, Protocol
    from fiveup_env.arena.tournament import TournamentResult
    from fiveup_env.files import Json

FORMAT = "fiveup-card"
VERSION = 1
INFO = Path("/proc/cpuinfo")
TIMES = "cost"  # the part of a card that another run does not repeat
MINI_HEADS = ("mini game", "NashConv", "of random play's")
USAGE_HEADS = ("task", "answers", "unreadable (%)", "illegal (%)", "tokens")


def card_of(
    protocol: Protocol,
    spec: str,
    outcomes: Sequence[tuple[BenchmarkTask, TournamentResult]],
    megabytes: float | None,
    minis: Sequence[Json],
    *,
    quick: bool,
) -> Json:
    """Return the card of an agent that has played all tasks."""
    meetings = {task.name: meetings_of(protocol, task, spec, out) for task, out in outcomes}
    costs = [costs_of(protocol, task, spec, outcome) for task, outcome in outcomes]
    seconds, decisions = sum(cost[0] for cost in costs), sum(cost[1] for cost in costs)
    usage = {name: dict(cost[2]) for name, cost in zip(meetings, costs, strict=True) if cost[2]}
    return {
        "format": FORMAT,
        "version": VERSION,
        "protocol": protocol.name,
        "protocol_digest": protocol.digest,
        "quick": quick,
        "agent": spec,
        "agent_digest": agent_digest(spec),
        "code": code_of(spec),
        **figures_of(protocol, meetings),
        "minis": list(minis),
        TIMES: {
            "seconds_per_move": seconds / decisions if decisions else None,
            "megabytes": megabytes,
            "machine": f"{platform.system()} {platform.machine()}, {processor()}",
            "software": f"Python {platform.python_version()}, NumPy {np.__version__}, "
            f"Numba {numba.__version__}",
            **({"usage": usage} if usage else {}),
        },
        "meetings": {
            name: [meeting.to_json() for meeting in of_task] for name, of_task in meetings.items()
        },
    }


def card_json(card: Json) -> str:
    """Return a card as JSON, with a line for each meeting."""
    meetings = card["meetings"]
    text = json.dumps({**card, "meetings": None}, indent=1, allow_nan=False)
    lines = ",\n".join(
        f"  {json.dumps(name)}: [\n"
        + ",\n".join(f"   {json.dumps(one, allow_nan=False)}" for one in of_task)
        + "\n  ]"
        for name, of_task in meetings.items()
    )
    return text.replace('"meetings": null', f'"meetings": {{\n{lines}\n }}') + "\n"


def processor() -> str:
    """Return the name of this machine's processor, where the system says it."""
    found = re.search(r"model name\s*: (.*)", INFO.read_text()) if INFO.exists() else None
    return found[1] if found else platform.processor()


def card_text(card: Json) -> str:
    """Return a card as text."""
    size = "quick card" if card["quick"] else "card"
    heads = ("task", "deals", "Elo", "error rate (%)", "forfeits")
    rows = [heads] + [
        (
            row["task"],
            f"{row['deals']:,}",
            elo_text(row["elo"]),
            error_text(row["error_rate"]),
            f"{row['forfeits']:,}",
        )
        for row in card["tasks"]
    ]
    deals = sum(row["deals"] for row in card["tasks"])
    rows.append(
        (
            "all tasks",
            f"{deals:,}",
            elo_text(card["score"]),
            error_text(card["error_rate"]),
            f"{card['forfeits']:,}",
        )
    )
    rivals = list(card["tasks"][0]["win_rates"])
    against = [("win rate (%) against", *rivals)] + [
        (row["task"], *(rate_text(row["win_rates"][rival]) for rival in rivals))
        for row in card["tasks"]
    ]
    minis = [(row["mini"], *mini_texts(row)) for row in card["minis"]]
    usage = usage_rows(card)
    parts = [
        f"{card['protocol']}, {size} of {card['agent']}",
        columns(rows, right={1, 4}),
        columns(against, right=set()),
        *([columns([MINI_HEADS, *minis], right=set())] if minis else []),
        *([columns([USAGE_HEADS, *usage], right={1, 2, 3, 4})] if usage else []),
        f"{move_text(card)} per move, {memory_text(card)}",
        *fault_lines(card),
    ]
    return "\n\n".join(parts)


def elo_text(estimate: Json) -> str:
    """Return a rating with its interval."""
    return with_bounds(estimate["value"], estimate["interval"], "+.0f")


def error_text(estimate: Json | None) -> str:
    """Return an error rate in per cent with its interval, or a dash."""
    return "-" if estimate is None else hundredths(estimate["value"], estimate["interval"])


def rate_text(estimate: Json) -> str:
    """Return a win rate in per cent with its interval."""
    return percent(estimate["value"], estimate["interval"])


def mini_texts(row: Json) -> tuple[str, str]:
    """Return a NashConv, and its share of that of random play; `about` where it is not exact."""
    if row["nash_conv"] is None:
        return "-", row["fault"]
    about = "" if row["exact"] else "about "
    return f"{about}{row['nash_conv']:.3f}", f"{100 * row['of_random']:.1f} %"


def usage_rows(card: Json) -> list[tuple[str, ...]]:
    """Return the answers of a language model and its tokens, by task; nothing of other agents."""
    rows = []
    for task, usage in card[TIMES].get("usage", {}).items():
        answers, tokens = usage["answers"], usage.get("tokens", 0)
        wrong = [f"{100 * usage.get(kind, 0) / answers:.1f}" for kind in ("unreadable", "illegal")]
        rows.append((task, f"{answers:,}", *wrong, f"{tokens:,}"))
    return rows


def move_text(card: Json) -> str:
    """Return the time of a move."""
    seconds = card[TIMES]["seconds_per_move"]
    return duration(None if seconds is None else 1e6 * seconds)


def memory_text(card: Json) -> str:
    """Return the memory that the agent took."""
    megabytes = card[TIMES]["megabytes"]
    return "-" if megabytes is None else f"{megabytes:,.0f} MB"


def fault_lines(card: Json) -> list[str]:
    """Return a line for each kind of fault for which the agent forfeited games."""
    faults: dict[str, list[str]] = {}
    for name, meetings in card["meetings"].items():
        for meeting in meetings:
            if meeting["fault"]:
                faults.setdefault(meeting["fault"], []).append(name)
    return [
        f"{card['agent']} forfeited games ({', '.join(dict.fromkeys(names))}): it {why}"
        for why, names in faults.items()
    ]
