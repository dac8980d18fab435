"""The figures of a card, computed from its meetings alone.

The rating of a task is fitted to all meetings with the panel, whose own ratings are fixed. Deals
are resampled as wholes, with all meetings on them, and the deals of each task by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.benchmark.meetings import deal_scores, own_scores
from fiveup_env.arena.ratings import ALL_DEALS, elo_against
from fiveup_env.arena.statistics import (
    interval,
    mean_interval,
    resampled_means,
    resampled_ratios,
)
from fiveup_env.arena.tally import MOST_POINTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fiveup_env.arena.benchmark.meetings import Meeting
    from fiveup_env.arena.benchmark.protocol import BenchmarkTask, Protocol
    from fiveup_env.files import Json


def figures_of(protocol: Protocol, meetings: Mapping[str, Sequence[Meeting]]) -> Json:
    """Return the score, the error rate and the forfeits of an agent, in all and by task.

    An error rate is None where the agent made no decision that was judged.
    """
    tasks, ratings, losses = [], [], []
    for number, task in enumerate(protocol.tasks):
        row, of_task, lost = _figures_of_task(protocol, task, meetings[task.name], number)
        tasks.append(row)
        ratings.append(of_task)
        if lost is not None:
            losses.append(lost)
    score = _mean(ratings)
    for end in (0, 1):  # a mean has no bound on a side where one of its parts has none
        if any(row["elo"]["interval"][end] is None for row in tasks):
            score["interval"][end] = None
    return {
        "score": score,
        "error_rate": _mean(losses) if len(losses) == len(tasks) else None,
        "forfeits": sum(row["forfeits"] for row in tasks),
        "tasks": tasks,
    }


def _figures_of_task(
    protocol: Protocol, task: BenchmarkTask, meetings: Sequence[Meeting], seed: int
) -> tuple[Json, np.ndarray, np.ndarray | None]:
    """Return the row of a task; its rating and its error rate, each followed by resamples."""
    scores = np.array([deal_scores(meeting) for meeting in meetings]).T
    ratings = dict(zip(protocol.panel, task.elo, strict=True))
    known = np.array([ratings[meeting.rival] for meeting in meetings])
    alone = np.array([meeting.alone for meeting in meetings])
    shares, sides = scores.mean(0), task.rules.sides
    resamples = resampled_means(scores, (0, 1), seed)
    elo = np.append(
        elo_against(shares, known, alone, len(scores), sides),
        elo_against(resamples, known, alone, ALL_DEALS, sides),
    )
    rating, own = _estimate(elo), np.where(alone, shares, 1 - shares)
    for end in (0, 1):  # nothing bounds how weak an agent is that has lost all, nor how strong
        if (own == end).all():
            rating["interval"][end] = None
    judged, lost = np.sum([meeting.judged for meeting in meetings], axis=0), None
    if judged[:, 0].any():
        rates, samples = resampled_ratios(judged, (1, MOST_POINTS * task.rules.unit), seed)
        lost = np.append(rates[0], samples[:, 0])
    row = {
        "task": task.name,
        "deals": len(scores),
        "elo": rating,
        "error_rate": None if lost is None else _estimate(lost),
        "forfeits": sum(meeting.forfeits[0] for meeting in meetings),
        "win_rates": {
            spec: _win_rate([meeting for meeting in meetings if meeting.rival == spec], seed)
            for spec in protocol.panel
        },
    }
    return row, elo, lost


def _win_rate(meetings: Sequence[Meeting], seed: int) -> Json:
    """Return the agent's share of the games with one of the panel; equals have half of them."""
    shares = np.mean([own_scores(meeting) for meeting in meetings], axis=0)
    return {"value": float(shares.mean()), "interval": list(mean_interval(shares, (0, 1), seed))}


def _mean(parts: Sequence[np.ndarray]) -> Json:
    return _estimate(np.mean(parts, axis=0))


def _estimate(values: np.ndarray) -> Json:
    """Return a value, which comes first, with the interval of the resamples that follow."""
    low, high = interval(values[1:, None], values[0])
    return {"value": float(values[0]), "interval": [float(low[0]), float(high[0])]}
