"""The results of a tournament: every pair with its intervals, every agent with its ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.arena.duels import duel_of
from agents.arena.ratings import elo, nash
from agents.arena.statistics import interval, resampled_means, variance_reduction
from agents.arena.tally import MOST_POINTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.arena.duels import Duel
    from agents.arena.games import Played
    from agents.arena.tournament import Outcome

Json = dict[str, Any]
POINTS = np.arange(-MOST_POINTS, MOST_POINTS + 1)


@dataclass(frozen=True)
class Standings:
    """The rows of the tables, which are written as JSON too, and the data of the plots."""

    pairs: list[Json]
    ratings: list[Json]  # the best first
    rates: np.ndarray  # [i, j]: the win rate of i against j, in the order of `ratings`; NaN: unmet
    curves: dict[str, Json]  # by agent: points by ply, and a histogram of points in a hand


def standings_of(outcome: Outcome) -> Standings:
    """Return the standings over the deals that every pair has played."""
    tournament = outcome.tournament
    rules, pairs, count = tournament.terms.rules, tournament.pairs, len(tournament.agents)
    chunks = [outcome.chunks_of(pair) for pair in pairs]
    duels = [duel_of(played, rules) for played in chunks]
    deals = len(duels[0].wins)
    values = np.array([[duel.wins, duel.margins] for duel in duels])  # pair, what, deal
    samples = resampled_means(values.reshape(-1, deals).T).reshape(-1, *values.shape[:2])
    lows, highs = interval(samples)
    rows = [
        {
            "a": tournament.agents[a],
            "b": tournament.agents[b],
            "deals": deals,
            "win_rate": float(duel.wins.mean()),
            "win_rate_ci": [float(low[0]), float(high[0])],
            "margin": float(duel.margins.mean()),
            "margin_ci": [float(low[1]), float(high[1])],
            **_details(duel, played, rules.unit),
        }
        for (a, b), duel, played, low, high in zip(pairs, duels, chunks, lows, highs, strict=True)
    ]
    means = values.mean(2)[:, 0]
    rates, sampled = (_matrix(pairs, count, wins) for wins in (means, samples[..., 0]))
    shares = nash(rates) if not np.isnan(rates).any() else np.full(count, math.nan)
    ratings = elo(rates, deals)
    low, high = interval(elo(sampled, deals))
    by_agent = [_agent_totals(k, pairs, chunks) for k in range(count)]
    order = np.argsort(-ratings, kind="stable").tolist()
    return Standings(
        pairs=rows,
        ratings=[
            {
                "agent": tournament.agents[k],
                "elo": float(ratings[k]),
                "elo_ci": [float(low[k]), float(high[k])],
                "win_rate": float(np.nanmean(np.delete(rates[k], k))),
                "nash": _number(shares[k]),
                **by_agent[k][0],
            }
            for k in order
        ],
        rates=rates[np.ix_(order, order)],
        curves={tournament.agents[k]: by_agent[k][1] for k in order},
    )


def _matrix(pairs: Sequence[tuple[int, int]], count: int, wins: np.ndarray) -> np.ndarray:
    """Return the win rates of pairs as a matrix, or one for each resample.

    The diagonal is one half; pairs that never met are NaN.
    """
    rates = np.full((*wins.shape[:-1], count, count), math.nan)
    for k, (a, b) in enumerate(pairs):
        rates[..., a, b], rates[..., b, a] = wins[..., k], 1 - wins[..., k]
    rates[..., range(count), range(count)] = 0.5
    return rates


def _details(duel: Duel, chunks: Sequence[Played], unit: int) -> Json:
    """Return the counts, the spread and the forfeits of a pair."""
    margins = np.sum([chunk.tally[0]["hand_margins"] for chunk in chunks], axis=0)
    mean = np.average(POINTS, weights=margins) if margins.any() else 0
    spread = np.average((POINTS - mean) ** 2, weights=margins) if margins.any() else math.nan
    forfeits = np.concatenate([chunk.forfeits for chunk in chunks])
    return {
        "games": int(duel.game_wins.size),
        "hands": int(np.sum([chunk.hands.sum() for chunk in chunks])),
        "variance_reduction": {
            "win_rate": _number(variance_reduction(duel.game_wins)),
            "margin": _number(variance_reduction(duel.game_margins)),
        },
        "hand_margin_sd": _number(unit * math.sqrt(spread)),
        "forfeits": [int((forfeits == agent).sum()) for agent in (0, 1)],
    }


def _agent_totals(
    agent: int, pairs: Sequence[tuple[int, int]], chunks: Sequence[Sequence[Played]]
) -> tuple[Json, Json]:
    """Return the figures and the curves of an agent over all its games."""
    mine = [
        (played, pair.index(agent))
        for pair, of_pair in zip(pairs, chunks, strict=True)
        if agent in pair
        for played in of_pair
    ]
    decisions = int(sum(played.decisions[k] for played, k in mine))
    seconds = float(sum(played.seconds[k] for played, k in mine))
    solved = int(sum(played.solved[k] for played, k in mine))
    regret = float(sum(played.regret[k] for played, k in mine))
    figures = {
        "decisions": decisions,
        "seconds": seconds,
        "us_per_move": 1e6 * seconds / decisions if decisions else None,
        "regret": regret / solved if solved else None,
        "solved": solved,
        "forfeits": int(sum((played.forfeits == k).sum() for played, k in mine)),
    }
    curves = {
        name: np.sum([played.tally[0][name][k] for played, k in mine], axis=0)
        for name in ("plies", "ply_points", "hand_points")
    }
    return figures, curves


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
