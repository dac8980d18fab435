"""The results of a tournament: every pair with its intervals, every agent with its ratings."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.play.tally import MOST_POINTS
from fiveup_env.arena.statistics.bootstrap import (
    interval,
    mean_interval,
    resampled_means,
    resampled_ratios,
    variance_reduction,
)
from fiveup_env.arena.statistics.duels import duel_between, duel_of
from fiveup_env.arena.statistics.ratings import ALL_DEALS, elo, nash, unbounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.arena.play.games import Played
    from fiveup_env.arena.play.tournament import Meeting, Tournament, TournamentResult
    from fiveup_env.arena.statistics.duels import Duel
    from fiveup_env.files import Json

POINTS = np.arange(-MOST_POINTS, MOST_POINTS + 1)


@dataclass(frozen=True)
class Standings:
    """The rows of the tables, which are written as JSON too, and the data of the plots.

    The pairs and the differences are in the order in which the agents were listed. Nothing else
    depends on that order.
    """

    pairs: list[Json]
    differences: list[Json]  # the first agent less each other, where all meet the same rival
    ratings: list[Json]  # the best first
    rates: np.ndarray  # [i, j]: the win rate of i against j, in the order of `ratings`; NaN: unmet
    curves: dict[str, Json]  # by agent: points by ply, and a histogram of points in a hand


def standings_of(outcome: TournamentResult) -> Standings:
    """Return the standings over the deals that every pair has played."""
    tournament = outcome.tournament
    rules, names = tournament.terms.rules, sorted(tournament.agents)
    chunks = {meeting: outcome.chunks_of(meeting) for meeting in sorted(tournament.meetings)}
    duels = {meeting: duel_of(played, rules) for meeting, played in chunks.items()}
    wins = np.array([duel.wins for duel in duels.values()])
    deals = wins.shape[1]
    alone, sampled = (
        _matrix(names, dict(zip(duels, rates, strict=True)), rules.sides)
        for rates in (wins.mean(1), resampled_means(wins.T, (0, 1)).T)
    )
    # In the games of both directions together, each agent has half of all sides.
    rates = (alone + 1 - alone.T) / 2
    shares = nash(rates) if not np.isnan(rates).any() else np.full(len(names), math.nan)
    ratings = elo(alone, deals, rules.sides)
    bounds = interval(elo(sampled, ALL_DEALS, rules.sides), ratings)
    open_ends = unbounded(rates)
    totals = [_agent_totals(name, chunks, rules.unit) for name in names]
    order = np.argsort(-ratings, kind="stable").tolist()
    pairs, differences = _pair_rows(tournament, chunks, duels)
    return Standings(
        pairs,
        differences,
        ratings=[
            {
                "agent": names[k],
                "elo": float(ratings[k]),
                "elo_ci": [
                    None if no_end[k] else float(bound[k])
                    for no_end, bound in zip(open_ends, bounds, strict=True)
                ],
                "win_rate": float(np.nanmean(np.delete(rates[k], k))),
                "nash": _number(shares[k]),
                **totals[k][0],
            }
            for k in order
        ],
        rates=rates[np.ix_(order, order)],
        curves={names[k]: totals[k][1] for k in order},
    )


def _matrix(names: Sequence[str], rates: dict[Meeting, np.ndarray], sides: int) -> np.ndarray:
    """Return the share of games that each agent won alone against each other on all other sides.

    The axes of the agents come last, after those of the rates. An agent equals itself; pairs that
    never met are NaN.
    """
    before = next(iter(rates.values())).shape
    matrix = np.full((*before, len(names), len(names)), math.nan)
    for (i, a), (j, b) in itertools.product(enumerate(names), repeat=2):
        if a == b:
            matrix[..., i, j] = 1 / sides
        elif (a, b) in rates:
            matrix[..., i, j] = rates[a, b]
        elif (b, a) in rates:  # two sides: the same games
            matrix[..., i, j] = 1 - rates[b, a]
    return matrix


def _pair_rows(
    tournament: Tournament, chunks: dict[Meeting, list[Played]], duels: dict[Meeting, Duel]
) -> tuple[list[Json], list[Json]]:
    """Return the rows of all pairs, and those of the differences."""
    specs = [(tournament.agents[a], tournament.agents[b]) for a, b in tournament.pairs]
    between = [duel_between(a, b, duels, tournament.terms.rules.sides) for a, b in specs]
    pairs = [
        {
            "a": a,
            "b": b,
            "deals": len(duel.wins),
            "win_rate": float(duel.wins.mean()),
            "win_rate_ci": list(duel.win_interval()),
            "margin": float(duel.margins.mean()),
            "margin_ci": list(duel.margin_interval()),
            **_details(a, b, duel, chunks, tournament.terms.rules.unit),
        }
        for (a, b), duel in zip(specs, between, strict=True)
    ]
    others = range(1, len(specs)) if tournament.against else ()
    differences = [
        {
            "a": specs[0][0],
            "less": specs[k][0],
            "against": tournament.against,
            "deals": pairs[0]["deals"],
            **_difference(between[0], between[k]),
        }
        for k in others
    ]
    return pairs, differences


def _difference(first: Duel, other: Duel) -> Json:
    """Return by how much the first did better on the same deals, with intervals."""
    wins, margins = first.wins - other.wins, first.margins - other.margins
    most = first.most_points + other.most_points
    return {
        "win_rate": float(wins.mean()),
        "win_rate_ci": list(mean_interval(wins, (-1, 1))),
        "margin": float(margins.mean()),
        "margin_ci": list(mean_interval(margins, (-most, most))),
    }


def _games_of(agent: str, chunks: dict[Meeting, list[Played]]) -> list[tuple[Played, int]]:
    """Return the chunks that an agent played, each with the agent's place in its meeting."""
    return [
        (played, meeting.index(agent))
        for meeting, of_meeting in chunks.items()
        if agent in meeting
        for played in of_meeting
    ]


def _details(a: str, b: str, duel: Duel, chunks: dict[Meeting, list[Played]], unit: int) -> Json:
    """Return the counts, the spread and the forfeits of a pair."""
    games = _games_of(a, {way: chunks[way] for way in ((a, b), (b, a)) if way in chunks})
    counts = [played.tally[0]["hand_margins"][:: 1 - 2 * place] for played, place in games]
    margins = np.sum(counts, axis=0)
    mean = np.average(POINTS, weights=margins) if margins.any() else 0
    spread = np.average((POINTS - mean) ** 2, weights=margins) if margins.any() else math.nan
    return {
        "games": duel.game_wins.size,
        "hands": int(duel.game_hands.sum()),
        "variance_reduction": {
            "win_rate": _number(variance_reduction(duel.game_wins)),
            "margin": _number(variance_reduction(duel.game_margins)),
        },
        "hand_margin_sd": _number(unit * math.sqrt(spread)),
        "forfeits": [
            int(sum((played.forfeits == abs(k - place)).sum() for played, place in games))
            for k in (0, 1)
        ],
    }


def _agent_totals(agent: str, chunks: dict[Meeting, list[Played]], unit: int) -> tuple[Json, Json]:
    """Return the figures and the curves of an agent over all its games."""
    mine = _games_of(agent, chunks)
    decisions = int(sum(played.decisions[k] for played, k in mine))
    seconds = float(sum(played.seconds[k] for played, k in mine))
    figures = {
        "decisions": decisions,
        "seconds": seconds,
        "us_per_move": 1e6 * seconds / decisions if decisions else None,
        "error": _error_rate(agent, chunks, unit),
        "forfeits": int(sum((played.forfeits == k).sum() for played, k in mine)),
    }
    curves = {
        name: np.sum([played.tally[0][name][k] for played, k in mine], axis=0)
        for name in ("plies", "ply_points", "hand_points")
    }
    return figures, curves


def _error_rate(agent: str, chunks: dict[Meeting, list[Played]], unit: int) -> Json | None:
    """Return the mean loss of an agent's judged decisions, with intervals over deals."""
    by_deal = np.sum(  # the deals of all meetings are the same
        [
            np.concatenate([one.judged[:, meeting.index(agent)] for one in played])
            for meeting, played in chunks.items()
            if agent in meeting
        ],
        axis=0,
    )
    if not by_deal[:, 0].any():
        return None
    (chance, points), samples = resampled_ratios(by_deal, (1, MOST_POINTS * unit))
    low, high = interval(samples, (chance, points))
    return {
        "decisions": int(by_deal[:, 0].sum()),
        "deals": int((by_deal[:, 0] > 0).sum()),
        "chance": float(chance),
        "chance_ci": [float(low[0]), float(high[0])],
        "points": float(points),
        "points_ci": [float(low[1]), float(high[1])],
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
