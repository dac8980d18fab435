"""The score card of an agent: what made it, its figures, and what its decisions cost."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.benchmark.figures import figures_of, rounded
from fiveup_env.arena.benchmark.games import cost_of, meetings_of
from fiveup_env.arena.benchmark.protocol import FULL, QUICK
from fiveup_env.arena.play.results import agent_digest, code_of
from fiveup_env.arena.statistics.bootstrap import with_bounds
from fiveup_env.arena.tables import Table, duration, hundredths, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.arena.benchmark.figures import Estimate
    from fiveup_env.arena.benchmark.protocol import Protocol
    from fiveup_env.arena.play.tournament import TournamentResult
    from fiveup_env.files import Json

FORMAT = "fiveup-card"
VERSION = 1
INFO = Path("/proc/cpuinfo")
TIMES = "cost"  # the part of a card that another run does not repeat
TITLES = {FULL: "card", QUICK: "quick card"}
QUARTER_TITLE = "quick card of a quarter of the deals, as the agent is slow,"
NUMBERS = re.compile(r"\[[\s\d.,e+-]*(null)?[\s\d.,e+-]*(null)?\s*\]")  # in JSON: an estimate


def card_of(
    protocol: Protocol,
    spec: str,
    size: str,
    results: Sequence[TournamentResult],
    megabytes: float | None,
    minis: Sequence[Json],
) -> Json:
    """Return the card of an agent that has played all tasks."""
    played = list(zip(protocol.tasks, results, strict=True))
    meetings = [meetings_of(protocol, task, spec, result) for task, result in played]
    costs = {task.name: cost_of(protocol, task, spec, result) for task, result in played}
    seconds = sum(cost.seconds for cost in costs.values())
    decisions = sum(cost.decisions for cost in costs.values())
    return {
        "format": FORMAT,
        "version": VERSION,
        "protocol": protocol.name,
        "protocol_digest": protocol.digest,
        "size": size,
        "agent": spec,
        "agent_digest": agent_digest(spec),
        "code": code_of(spec),
        **figures_of(protocol, meetings),
        "minis": list(minis),
        TIMES: {
            "seconds_per_move": rounded(seconds / decisions) if decisions else None,
            "megabytes": megabytes,
            "machine": f"{platform.system()} {platform.machine()}, {processor()}",
            "software": f"Python {platform.python_version()}, NumPy {np.__version__}",
            "usage": {name: dict(cost.usage) for name, cost in costs.items() if cost.usage},
        },
    }


def as_text(content: Json) -> str:
    """Return a card or an entry as JSON, with each estimate in a line."""
    text = json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False)
    return NUMBERS.sub(lambda numbers: " ".join(numbers[0].split()), text) + "\n"


def processor() -> str:
    """Return the name of this machine's processor, where the system says it."""
    model = re.search(r"model name\s*: (.*)", INFO.read_text()) if INFO.exists() else None
    return model[1] if model else platform.processor()


def title_of(card: Json) -> str:
    """Return the subject of a card."""
    return f"{TITLES.get(card['size'], QUARTER_TITLE)} of {card['agent']}"


def card_text(card: Json) -> str:
    """Return a card as text."""
    tables = (score_table(card), against_table(card), mini_table(card), usage_table(card))
    parts = [
        f"{card['protocol']}, {title_of(card)}",
        *(table.text() for table in tables if table.rows),
        f"{move_text(card)} per move, {memory_text(card)}",
        *fault_lines(card),
    ]
    return "\n\n".join(parts)


def score_table(card: Json) -> Table:
    """Return the scores of all tasks and in all."""
    deals = sum(row["deals"] for row in card["tasks"])
    total = card | {"task": "all tasks", "deals": deals, "elo": card["score"]}
    rows = [
        (
            row["task"],
            f"{row['deals']:,}",
            elo_text(row["elo"]),
            error_text(row["error_rate"]),
            f"{row['forfeits']:,}",
        )
        for row in (*card["tasks"], total)
    ]
    return Table(("task", "deals", "Elo", "error rate (%)", "forfeits"), rows, [1, 4])


def against_table(card: Json) -> Table:
    """Return the win rates against the panel."""
    rivals = list(card["tasks"][0]["win_rates"])
    rows = [
        (row["task"], *(rate_text(row["win_rates"][rival]) for rival in rivals))
        for row in card["tasks"]
    ]
    return Table(("win rate (%) against", *rivals), rows)


def mini_table(card: Json) -> Table:
    """Return NashConv in mini games, and its share of that of random play."""
    rows = [(row["mini"], *mini_texts(row)) for row in card["minis"]]
    return Table(("mini game", "NashConv", "of random play's"), rows)


def usage_table(card: Json) -> Table:
    """Return the answers of a language model and its tokens, by task; no rows for other agents."""
    rows = []
    for task, usage in card[TIMES]["usage"].items():
        answers, tokens = usage["answers"], usage.get("tokens", 0)
        wrong = [f"{100 * usage.get(kind, 0) / answers:.1f}" for kind in ("unreadable", "illegal")]
        rows.append((task, f"{answers:,}", *wrong, f"{tokens:,}"))
    return Table(("task", "answers", "unreadable (%)", "illegal (%)", "tokens"), rows, range(1, 5))


def elo_text(estimate: Estimate) -> str:
    """Return a rating with its interval."""
    return with_bounds(estimate[0], estimate[1:], "+.0f")


def error_text(estimate: Estimate | None) -> str:
    """Return an error rate in per cent with its interval, or a dash."""
    return "-" if estimate is None else hundredths(estimate[0], estimate[1:])


def rate_text(estimate: Estimate) -> str:
    """Return a win rate in per cent with its interval."""
    return percent(estimate[0], estimate[1:])


def mini_texts(row: Json) -> tuple[str, str]:
    """Return a NashConv, and its share of that of random play; `about` where it is not exact."""
    if row["nash_conv"] is None or row["of_random"] is None:
        return "-", row["fault"]
    about = "" if row["exact"] else "about "
    return f"{about}{row['nash_conv']:.3f}", f"{100 * row['of_random']:.1f} %"


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
    tasks: dict[str, list[str]] = {}
    for row in card["tasks"]:
        if row["fault"]:
            tasks.setdefault(row["fault"], []).append(row["task"])
    return [
        f"{card['agent']} forfeited games ({', '.join(names)}): it {why}"
        for why, names in tasks.items()
    ]
