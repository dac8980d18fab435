"""The figures of a card, computed from the agent's meetings with the panel.

The rating of a task is fitted to all meetings, the panel's own ratings being fixed. Deals are
resampled as wholes, with all meetings on them, and the deals of each task by themselves. Estimates
are lists of a value and the ends of its 95 % interval, of which None is one without a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fiveup_env.arena.play.tally import MOST_POINTS
from fiveup_env.arena.statistics.bootstrap import (
    interval,
    mean_interval,
    resampled_means,
    resampled_ratios,
)
from fiveup_env.arena.statistics.ratings import ALL_DEALS, elo_against

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.arena.benchmark.games import Meeting
    from fiveup_env.arena.benchmark.protocol import BenchmarkTask, Protocol
    from fiveup_env.files import Json

DIGITS = 6  # of a figure that a card keeps

Estimate: TypeAlias = "list[Any]"


def figures_of(protocol: Protocol, meetings: Sequence[Sequence[Meeting]]) -> Json:
    """Return the score, the error rate and the forfeits of an agent, in all and by task.

    An error rate is None where the agent made no decision that was judged.
    """
    tasks, ratings, losses = [], [], []
    for number, (task, of_task) in enumerate(zip(protocol.tasks, meetings, strict=True)):
        row, rating, lost = _figures_of_task(protocol, task, of_task, number)
        tasks.append(row)
        ratings.append(rating)
        losses += [] if lost is None else [lost]
    score = estimate(np.mean(ratings, axis=0))
    for end in (1, 2):  # a mean has no bound on a side where one of its parts has none
        if any(row["elo"][end] is None for row in tasks):
            score[end] = None
    return {
        "score": score,
        "error_rate": estimate(np.mean(losses, axis=0)) if len(losses) == len(tasks) else None,
        "forfeits": sum(row["forfeits"] for row in tasks),
        "tasks": tasks,
    }


def _figures_of_task(
    protocol: Protocol, task: BenchmarkTask, meetings: Sequence[Meeting], seed: int
) -> tuple[Json, np.ndarray, np.ndarray | None]:
    """Return the row of a task; its rating and its error rate, each followed by resamples."""
    scores = np.array([meeting.scores for meeting in meetings]).T
    ratings = dict(zip(protocol.panel, task.elo, strict=True))
    known = np.array([ratings[meeting.rival] for meeting in meetings])
    alone = np.array([meeting.alone for meeting in meetings])
    shares, sides = scores.mean(0), task.rules.sides
    resamples = resampled_means(scores, (0, 1), seed)
    elo = np.append(
        elo_against(shares, known, alone, len(scores), sides),
        elo_against(resamples, known, alone, ALL_DEALS, sides),
    )
    rating, own = estimate(elo), np.where(alone, shares, 1 - shares)
    for end in (0, 1):  # nothing bounds how weak an agent is that has lost all, nor how strong
        if (own == end).all():
            rating[1 + end] = None
    judged, lost = np.sum([meeting.judged for meeting in meetings], axis=0), None
    if judged[:, 0].any():
        rates, samples = resampled_ratios(judged, (1, MOST_POINTS * task.rules.unit), seed)
        lost = np.append(rates[0], samples[:, 0])
    row = {
        "task": task.name,
        "deals": len(scores),
        "elo": rating,
        "error_rate": None if lost is None else estimate(lost),
        "forfeits": sum(meeting.forfeits for meeting in meetings),
        "fault": next((meeting.fault for meeting in meetings if meeting.fault), ""),
        "win_rates": {
            spec: _win_rate([meeting for meeting in meetings if meeting.rival == spec], seed)
            for spec in protocol.panel
        },
    }
    return row, elo, lost


def _win_rate(meetings: Sequence[Meeting], seed: int) -> Estimate:
    """Return the agent's share of the games with one of the panel; equals have half of them."""
    shares = np.mean([meeting.own_scores for meeting in meetings], axis=0)
    return [rounded(end) for end in (shares.mean(), *mean_interval(shares, (0, 1), seed))]


def estimate(values: np.ndarray) -> Estimate:
    """Return a value, which comes first, with the interval of the resamples that follow."""
    low, high = interval(values[1:, None], values[0])
    return [rounded(end) for end in (values[0], low[0], high[0])]


def rounded(value: float | None) -> float | None:
    """Return a figure as a card keeps it."""
    return None if value is None else float(f"{value:.{DIGITS}g}")
