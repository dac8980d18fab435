"""Intervals of shares have width also where every game was won, or lost."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env import Rules, legal_masks
from fiveup_env.arena.duels import Duel
from fiveup_env.arena.games import Terms
from fiveup_env.arena.standings import standings_of
from fiveup_env.arena.statistics import share_bounds
from fiveup_env.arena.tables import standings_text
from fiveup_env.arena.tournament import Tournament, play_tournament


def duel_of(wins: np.ndarray) -> Duel:
    games = np.repeat(wins[:, None], 2, 1)
    return Duel(games, games - 0.5, np.ones_like(games))


def test_none_of_forty_is_not_a_certain_zero() -> None:
    lost, won = duel_of(np.zeros(40)), duel_of(np.ones(40))
    assert lost.win_interval() == pytest.approx((0, 0.0876), abs=1e-4)
    assert won.win_interval() == pytest.approx((0.9124, 1), abs=1e-4)


def test_the_true_share_is_covered_as_often_as_an_interval_says() -> None:
    # A share so small that 40 deals are all lost one time in twenty is just within the interval.
    low, high = share_bounds(np.zeros(40), 0, 0)
    assert low == 0
    assert (1 - high) ** 40 == pytest.approx(0.025, abs=0.001)


def test_more_wins_never_have_a_lower_bound_than_none() -> None:
    bounds = []
    for won in range(41):
        shares = np.zeros(40)
        shares[:won] = 1
        bounds.append(duel_of(shares).win_interval())
    assert (np.diff(bounds, axis=0)[[0, 1, 2, 3, -1, -2, -3]] >= 0).all()


def test_other_shares_keep_the_interval_of_their_resamples() -> None:
    some = np.zeros(40)
    some[:6] = 1
    assert share_bounds(some, 0.1, 0.2) == (0.1, 0.2)


def test_a_table_of_a_lost_match_has_an_interval_with_width() -> None:
    tournament = Tournament(
        ("greedy", f"{__name__}:last"),
        Terms(Rules.preset("mini-2", 2)),
        deals=12,
        seed=3,
    )
    (pair,) = standings_of(play_tournament(tournament, 1)).pairs
    low, high = pair["win_rate_ci"]
    assert low < high
    assert "greedy" in standings_text(standings_of(play_tournament(tournament, 1)))


def last(views: np.ndarray, _rng: np.random.Generator) -> np.ndarray:
    """Play the highest action."""
    return 120 - legal_masks(views)[:, ::-1].argmax(1)
