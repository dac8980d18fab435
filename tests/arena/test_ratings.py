"""Ratings and intervals: closed forms, known strengths, and how often an interval is right."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fiveup_env import Rules
from fiveup_env.arena.play.games import Terms
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.arena.statistics.bootstrap import interval, resampled_means, variance_reduction
from fiveup_env.arena.statistics.ratings import elo, nash
from fiveup_env.arena.statistics.standings import standings_of
from tests.arena.test_arena import lasting

MANY = 10**9
ROCK_PAPER_SCISSORS = np.array([[0.5, 0, 1], [1, 0.5, 0], [0, 1, 0.5]])


def rates_of(elos: list[float]) -> np.ndarray:
    """Return the win rates that ratings predict."""
    strengths = np.array(elos)
    return 1 / (1 + 10 ** ((strengths[None] - strengths[:, None]) / 400))


def cycle(a: float, b: float, c: float) -> np.ndarray:
    """Return win rates of a circle: 0 beats 1 by a, 1 beats 2 by b, 2 beats 0 by c."""
    return 0.5 + np.array([[0, a, -c], [-a, 0, b], [c, -b, 0]])


# --- Elo


@given(st.lists(st.floats(-400, 400), min_size=2, max_size=8))
@settings(max_examples=50)
def test_elo_finds_the_strengths_that_win_rates_come_from(elos: list[float]) -> None:
    assert elo(rates_of(elos), MANY) == pytest.approx(np.array(elos) - np.mean(elos), abs=1e-3)


def test_two_agents_have_the_rating_of_their_odds() -> None:
    # A win rate of 59.5 % in 100 deals, and half of the deal that is added.
    high, low = elo(np.array([[0.5, 0.595], [0.405, 0.5]]), 100)
    assert high - low == pytest.approx(400 * np.log10(60 / 41))
    assert high + low == pytest.approx(0)


def test_who_never_wins_has_a_rating_and_a_lower_one_after_more_deals() -> None:
    lost = np.array([[0.5, 0.0], [1.0, 0.5]])
    few, many = elo(lost, 10), elo(lost, 1000)
    assert few[0] == pytest.approx(-200 * np.log10(10.5 / 0.5))
    assert many[0] < few[0]


def test_elo_wants_no_pair_but_those_that_lead_to_everybody() -> None:
    rates = rates_of([120, 30, -50, -100])
    rates[1:, 1:] = np.where(np.eye(3) == 1, 0.5, np.nan)
    assert elo(rates, MANY) == pytest.approx([120, 30, -50, -100], abs=1e-3)


def test_many_ratings_at_once_are_those_of_each() -> None:
    rng = np.random.default_rng(2)
    several = np.array([rates_of(rng.normal(0, 200, 5).tolist()) for _ in range(20)])
    assert elo(several, 500) == pytest.approx(np.array([elo(rates, 500) for rates in several]))


def test_elo_is_the_most_likely_rating() -> None:
    rng = np.random.default_rng(3)
    upper = np.triu(rng.random((5, 5)), 1)
    rates = upper + np.tril(1 - upper.T, -1) + np.eye(5) / 2
    best = elo(rates, MANY)

    def likelihood(elos: np.ndarray) -> float:
        return float((rates * np.log(rates_of(elos.tolist()))).sum())

    for _ in range(100):
        assert likelihood(best + rng.normal(0, 5, 5)) < likelihood(best)


# --- Nash averaging


def test_in_a_circle_each_is_played_as_much_as_the_other_two_differ() -> None:
    assert nash(ROCK_PAPER_SCISSORS) == pytest.approx(np.full(3, 1 / 3), abs=1e-6)
    assert nash(cycle(0.3, 0.1, 0.2)) == pytest.approx(np.array([0.1, 0.2, 0.3]) / 0.6, abs=1e-5)


def test_who_beats_everybody_is_played_alone() -> None:
    assert nash(rates_of([300, 200, 0])) == pytest.approx([1, 0, 0])


def test_copies_share_what_one_of_them_would_have() -> None:
    with_a_copy = ROCK_PAPER_SCISSORS[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]
    assert nash(with_a_copy) == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-6)
    assert nash(np.full((4, 4), 0.5)) == pytest.approx(np.full(4, 0.25))


@given(st.integers(0, 10_000), st.integers(2, 10))
@settings(max_examples=50)
def test_nothing_beats_the_equilibrium(seed: int, agents: int) -> None:
    upper = np.triu(np.random.default_rng(seed).random((agents, agents)), 1)
    rates = upper + np.tril(1 - upper.T, -1) + np.eye(agents) / 2
    shares = nash(rates)
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert (rates @ shares).max() < 0.5 + 1e-5


# --- Intervals


def test_an_interval_holds_the_truth_19_times_of_20() -> None:
    rng = np.random.default_rng(4)
    # Every column is a repetition of the experiment: 120 deals with a mean of 1.
    values = rng.gamma(2, 0.5, (120, 600))
    low, high = interval(resampled_means(values))
    assert 0.92 < ((low < 1) & (high > 1)).mean() < 0.97


def test_columns_get_the_same_deals_and_a_seed_the_same_resamples() -> None:
    values = np.random.default_rng(5).normal(size=(50, 1))
    both = resampled_means(np.hstack([values, 2 * values]))
    assert both[:, 1] == pytest.approx(2 * both[:, 0])
    assert (resampled_means(values) == both[:, :1]).all()
    assert (resampled_means(values, seed=1) != both[:, :1]).any()


def test_duplicate_deals_save_what_luck_they_take_away() -> None:
    rng = np.random.default_rng(6)
    luck, play = rng.normal(0, 2, (20_000, 1)), rng.normal(0, 1, (20_000, 2))
    # One agent's good tiles are the other's in the second seating. Of a variance of 4 + 1, the 4
    # cancel out.
    assert variance_reduction(luck * [1, -1] + play) == pytest.approx(5, rel=0.05)
    assert variance_reduction(play) == pytest.approx(1, rel=0.05)
    assert np.isnan(variance_reduction(play[:1]))


# --- More than two sides


@given(st.lists(st.floats(-400, 400), min_size=2, max_size=6), st.integers(2, 5))
@settings(max_examples=50)
def test_elo_finds_the_strengths_by_which_one_side_meets_several(
    elos: list[float], sides: int
) -> None:
    odds = 10 ** ((np.array(elos)[:, None] - np.array(elos)) / 400)
    alone = odds / (odds + sides - 1)
    assert elo(alone, MANY, sides) == pytest.approx(np.array(elos) - np.mean(elos), abs=1e-3)


@pytest.mark.parametrize(("players", "teams"), [(4, True), (3, False)])
def test_any_order_of_the_agents_gives_the_same_ratings_bit_for_bit(
    players: int, *, teams: bool
) -> None:
    terms = Terms(Rules.preset(players=players, teams=teams), "hand")
    tournament = Tournament(("partner", "greedy", "random"), terms, 30, seed=11)
    reverse = replace(tournament, agents=tournament.agents[::-1])
    outcome, other = (play_tournament(order, cores=1) for order in (tournament, reverse))
    assert {task: lasting(chunk) for task, chunk in outcome.played.items()} == {
        task: lasting(chunk) for task, chunk in other.played.items()
    }
    first = standings_of(outcome)
    by_names = {(row["a"], row["b"]): row for row in first.pairs}
    for agents in itertools.permutations(tournament.agents):
        order = replace(tournament, agents=agents)
        assert set(order.tasks) == set(outcome.played)
        standings = standings_of(replace(outcome, tournament=order))
        assert repr(standings.ratings) == repr(first.ratings)
        assert (standings.rates == first.rates).all()
        for row in standings.pairs:
            a, b = row["a"], row["b"]
            same, sign = (by_names[a, b], 1) if (a, b) in by_names else (by_names[b, a], -1)
            assert row["hands"] == same["hands"]
            assert row["margin"] == pytest.approx(sign * same["margin"])
            assert row["win_rate"] - 0.5 == pytest.approx(sign * (same["win_rate"] - 0.5))
