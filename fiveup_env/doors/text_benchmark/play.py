"""The hands of a benchmark of readers, and its card.

A card says, for every task and rival: the margin of a hand over duplicate deals, what a move loses
by the reference, how many answers were not moves or not legal ones, and how many hands that cost.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.arena.statistics import interval, resampled_means, resampled_ratios
from fiveup_env.arena.tables import columns, hundredths, points
from fiveup_env.doors.text import Costs, TextEnv
from fiveup_env.errors import AgentError, shown
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.doors.text_benchmark.protocol import TextProtocol, TextTask
    from fiveup_env.doors.text_benchmark.readers import Reader
    from fiveup_env.files import Json

FORMAT: Final = "fiveup-text-card"
VERSION: Final = 1


@dataclass
class Count:
    """What happened in the hands of one deal."""

    margin: float = 0.0  # of a hand, on the cribbage scale: in points for each multiple
    decisions: int = 0  # that left a choice
    lost: float = 0.0  # chances to win
    answers: int = 0
    unreadable: int = 0
    illegal: int = 0
    forfeits: int = 0
    characters: int = 0  # of the answers


def text_card(protocol: TextProtocol, spec: str, reader: Reader, *, quick: bool) -> Json:
    """Play all hands of a protocol, and return the card, ready for JSON."""
    deals = protocol.quick if quick else protocol.full
    rows, by_deal = [], list[Count]()
    for task in progress(protocol.tasks, len(protocol.tasks), "tasks"):
        meetings = [_meeting(protocol, task, rival, reader, deals) for rival in protocol.rivals]
        by_deal += [_together(counts) for counts in zip(*meetings, strict=True)]
        rows += [
            {"task": task.name, "vocabulary": task.vocabulary, "rival": rival} | _figures(counts)
            for rival, counts in zip(protocol.rivals, meetings, strict=True)
        ]
    tokens = getattr(reader, "tokens", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "protocol": protocol.name,
        "protocol_digest": protocol.digest,
        "reader": spec,
        "quick": quick,
        "deals": deals,
        "tokens": tokens if isinstance(tokens, int) else None,
        "characters": sum(count.characters for count in by_deal),
        **_figures(by_deal),
        "meetings": rows,
    }


def _together(counts: Sequence[Count]) -> Count:
    """Return what happened to a deal against all rivals: the mean margin, the sum of the rest."""
    sums = {name: sum(getattr(count, name) for count in counts) for name in asdict(Count())}
    return Count(**sums | {"margin": sums["margin"] / len(counts)})


def _meeting(
    protocol: TextProtocol, task: TextTask, rival: str, reader: Reader, deals: int
) -> list[Count]:
    """Play the deals of a task against a rival; each deal is played from every seat."""
    counts = []
    envs = [
        TextEnv(
            task.rules,
            opponents=rival,
            seat=seat,
            episode="hand",
            reward="margin",
            reference=protocol.reference,
            costs=Costs(
                unreadable=0,
                illegal=0,
                tries=protocol.tries,
                forfeit=protocol.forfeit * task.rules.unit,
            ),
        )
        for seat in range(task.players)
    ]
    for deal in range(task.first, task.first + deals):
        count = Count()
        for env in envs:
            _hand(env, task, reader, deal, count)
        counts.append(count)
    return counts


def _hand(env: TextEnv, task: TextTask, reader: Reader, deal: int, count: Count) -> None:
    """Play a hand, and count what happens."""
    prompt, info = env.reset(seed=deal, options={"deal": deal})
    margin, over = 0.0, False
    while not over:
        choice = len(info["legal"]) > 1
        answer = reader(task.words.disguise(prompt))
        if not isinstance(answer, str):
            raise AgentError(f"a reader returns text, not {shown(answer)}")
        prompt, reward, terminated, truncated, info = env.step(task.words.reveal(answer))
        over, margin = terminated or truncated, margin + reward
        count.answers, count.characters = count.answers + 1, count.characters + len(answer)
        if "error" in info:
            count.unreadable += info["unreadable"]
            count.illegal += not info["unreadable"]
            count.forfeits += over
        elif choice:
            count.decisions += 1
            count.lost += info["loss"]["chance"]
    count.margin += margin / task.players / task.rules.unit


def _figures(counts: list[Count]) -> dict[str, Any]:
    """Return the figures of some deals, with 95 % intervals over the deals."""
    margins = np.array([[count.margin] for count in counts])
    low, high = interval(resampled_means(margins))
    answers = sum(count.answers for count in counts)
    found: dict[str, Any] = {
        "margin": float(margins.mean()),
        "margin_ci": [float(low[0]), float(high[0])],
        "decisions": sum(count.decisions for count in counts),
        "loss": None,
        "loss_ci": None,
        "answers": answers,
        "unreadable": sum(count.unreadable for count in counts) / answers,
        "illegal": sum(count.illegal for count in counts) / answers,
        "forfeits": sum(count.forfeits for count in counts),
    }
    if found["decisions"]:
        mean, resamples = resampled_ratios(np.array([[c.decisions, c.lost] for c in counts]))
        low, high = interval(resamples)
        found |= {"loss": float(mean[0]), "loss_ci": [float(low[0]), float(high[0])]}
    return found


def text_card_table(card: Json) -> str:
    """Return a card as a table."""
    wrong = ("unreadable (%)", "illegal (%)", "forfeits")
    head = ("task", "rival", "margin of a hand", "loss a move (%)", *wrong)
    rows = [
        (
            row.get("task", "all"),
            row.get("rival", ""),
            points(row["margin"], row["margin_ci"]),
            "-" if row["loss"] is None else hundredths(row["loss"], row["loss_ci"]),
            f"{100 * row['unreadable']:.1f}",
            f"{100 * row['illegal']:.1f}",
            str(row["forfeits"]),
        )
        for row in [*card["meetings"], card]
    ]
    kind = "quick" if card["quick"] else "full"
    title = f"{card['reader']}: {card['protocol']}, {kind}, {card['deals']} deals a meeting"
    told = "" if card["tokens"] is None else f"\n{card['tokens']:,} tokens"
    return f"{title}\n\n{columns([head, *rows], right={4, 5, 6})}{told}"
