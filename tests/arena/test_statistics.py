"""Intervals hold the truth also where every game was won or lost, and where all deals are alike."""

from __future__ import annotations

import html
import json
import math

import numpy as np
import pytest
from scipy.stats import binom

from fiveup_env import Rules, legal_masks
from fiveup_env.arena.play.games import Terms
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.arena.report import report_html
from fiveup_env.arena.statistics.bootstrap import (
    interval,
    mean_interval,
    resampled_means,
    resampled_ratios,
)
from fiveup_env.arena.statistics.duels import Duel
from fiveup_env.arena.statistics.ratings import ALL_DEALS, ELO_SCALE, elo_against, unbounded
from fiveup_env.arena.statistics.sequential import SequentialTest
from fiveup_env.arena.statistics.standings import standings_of
from fiveup_env.arena.tables import standings_text

DEALS = 40
RATES = (0.001, 0.01, 0.03, 0.06, 0.08, 0.1, 0.2, 0.5)


def duel_of(wins: np.ndarray) -> Duel:
    games = np.repeat(wins[:, None], 2, 1)
    return Duel(games, games - 0.5, np.ones_like(games))


def first_won(won: int) -> np.ndarray:
    """Return deals of which the first were won."""
    return (np.arange(DEALS) < won).astype(np.float64)


def coverage(bounds: list[tuple[float, float]], rate: float, truth: float) -> float:
    """Return how often the truth is within the bounds, which are those of each number of wins."""
    chances = binom.pmf(np.arange(DEALS + 1), DEALS, rate)
    return float(
        sum(c for c, (low, high) in zip(chances, bounds, strict=True) if low <= truth <= high)
    )


def last(views: np.ndarray, _rng: np.random.Generator) -> np.ndarray:
    """Play the highest action."""
    return 120 - legal_masks(views)[:, ::-1].argmax(1)


def test_none_of_forty_is_not_a_certain_zero() -> None:
    # Of more than 8.8 %, forty deals in a row would be lost less than one time in forty.
    lost, won = duel_of(first_won(0)), duel_of(first_won(DEALS))
    assert lost.win_interval() == pytest.approx((0, 0.088), abs=0.005)
    assert won.win_interval() == pytest.approx((0.912, 1), abs=0.005)


def test_a_share_of_any_size_is_held_19_times_of_20() -> None:
    bounds = [duel_of(first_won(won)).win_interval() for won in range(DEALS + 1)]
    for rate in RATES:
        assert coverage(bounds, rate, rate) > 0.92, rate


def test_a_rating_of_any_size_is_held_19_times_of_20() -> None:
    known, alone, bounds = np.zeros(1), np.ones(1, bool), []
    for won in range(DEALS + 1):
        shares = resampled_means(first_won(won)[:, None], (0, 1))
        (low,), (high,) = interval(elo_against(shares, known, alone, ALL_DEALS)[:, None])
        share = won / DEALS
        weaker, stronger = unbounded(np.array([[0.5, share], [1 - share, 0.5]]))
        bounds.append((-math.inf if weaker[0] else low, math.inf if stronger[0] else high))
    for rate in RATES:
        assert coverage(bounds, rate, ELO_SCALE * math.log(rate / (1 - rate))) > 0.92, rate


def test_a_difference_of_any_size_is_held_19_times_of_20() -> None:
    bounds = [mean_interval(first_won(differ), (-1, 1)) for differ in range(DEALS + 1)]
    for rate in RATES:
        assert coverage(bounds, rate, rate) > 0.92, rate


def test_deals_that_differ_keep_the_interval_of_their_resamples() -> None:
    values = np.column_stack([first_won(5), first_won(20), np.arange(DEALS)])
    assert (resampled_means(values, (0, 50)) == resampled_means(values)).all()


def test_one_deal_or_many_alike_leave_a_difference_uncertain() -> None:
    for deals in (1, DEALS):
        duel = Duel(np.full((deals, 2), 0.5), np.full((deals, 2), 3.0), np.ones((deals, 2)))
        low, high = duel.win_interval()
        assert low < 0.5 < high
        low, high = duel.margin_interval()
        assert low < 3 <= high
    (_,), samples = resampled_ratios(np.array([[9.0, 0]] * DEALS), 1)
    assert interval(samples, 0)[1] > 0.07


def test_a_rating_has_no_bound_where_no_game_says_one() -> None:
    # The first never lost to the last two, which share their games.
    weaker, stronger = unbounded(np.array([[0.5, 1, 1], [0, 0.5, 0.5], [0, 0.5, 0.5]]))
    assert weaker.tolist() == [False, True, True]
    assert stronger.tolist() == [True, False, False]
    # The second leads to everybody, by pairs that did not meet each other.
    chain = np.array([[0.5, 0.1, np.nan], [0.9, 0.5, 0.9], [np.nan, 0.1, 0.5]])
    assert not np.any(unbounded(chain))


def test_a_sequential_test_of_deals_that_are_all_alike_has_an_interval() -> None:
    for score, bounded in ((0.0, (False, True)), (0.5, (True, True)), (1.0, (True, False))):
        test = SequentialTest(0, 5)
        test.add(np.full(8, score))
        value, ends = test.lead
        assert tuple(end is not None for end in ends) == bounded
        assert ends[0] is None or ends[0] < value
        assert ends[1] is None or value < ends[1]
        json.dumps(test.to_json(), allow_nan=False)


def test_a_lost_match_is_shown_by_bounds_in_every_output() -> None:
    tournament = Tournament(
        ("greedy", f"{__name__}:last"), Terms(Rules.preset(players=2)), deals=6, seed=3
    )
    outcome = play_tournament(tournament, 1)
    standings = standings_of(outcome)
    (pair,), (best, worst) = standings.pairs, standings.ratings
    low, high = pair["win_rate_ci"]
    assert low < high == 1
    (least, _), (_, most) = best["elo_ci"], worst["elo_ci"]
    assert (best["elo_ci"], worst["elo_ci"]) == ([least, None], [None, most])
    assert 0 < least < best["elo"]
    assert most == pytest.approx(-least)
    for text in (standings_text(standings), report_html(outcome, standings, "evaluate")):
        assert f"(> {least:+.0f})" in html.unescape(text)
        assert f"(< {most:+.0f})" in html.unescape(text)
    json.dumps(standings.ratings, allow_nan=False)
