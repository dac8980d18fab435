"""The agents of the library are stronger than what they are built on; and how they are tuned."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.fitting.tuning import evolve, margins
from fiveup_env import Rules, make_agent
from fiveup_env.arena.statistics.duels import duel
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES
from fiveup_env.opponents.heuristics.ladder import LADDER, weights_of


def test_where_nothing_has_a_weight_any_action_is_as_good() -> None:
    seeds = np.arange(100, dtype=np.uint64)
    won = margins(Rules.preset(), seeds, np.zeros(len(FEATURE_NAMES)), weights_of("greedy"))
    assert won.mean() < -2


@pytest.mark.parametrize(
    ("rung", "below", "deals"),
    [
        pytest.param(*pair, 40_000, marks=pytest.mark.slow)
        if pair[0] in {"partner", "counter"}
        else (*pair, 1_000)
        for pair in itertools.pairwise([*reversed(LADDER), "random"])
    ],
)
def test_every_rung_beats_the_one_below(rung: str, below: str, deals: int) -> None:
    played = duel([make_agent(rung), make_agent(below)], Rules.preset(), np.arange(deals), "hand")
    assert played.margin_interval()[0] > 0


@pytest.mark.parametrize(
    ("first", "second", "players"),
    [("pimc:worlds=32,aim=hand", "greedy", players) for players in (2, 5)]
    + [("pimc:worlds=128,aim=hand", "pimc:worlds=2,aim=hand", 4)],
)
def test_search_beats_the_heuristic_that_plays_its_hands_out_and_more_worlds_beat_few(
    first: str, second: str, players: int
) -> None:
    rules, agents = Rules.preset(players=players), [make_agent(first), make_agent(second)]
    assert duel(agents, rules, np.arange(150), "hand").margin_interval()[0] > 0


def test_the_search_finds_the_top_of_a_hill_that_it_sees_through_noise() -> None:
    top, rng = np.array([1.0, -2.0, 0.5]), np.random.default_rng(0)
    slopes = np.array([1.0, 5.0, 0.2])

    def worth(candidates: np.ndarray, generation: int) -> np.ndarray:
        del generation
        heights = -(slopes * (candidates - top) ** 2).sum(1)
        return heights + rng.normal(0, 0.01, len(candidates))

    means = [mean for mean, _ in itertools.islice(evolve(np.zeros(3), worth, 0.3, 1), 120)]
    assert np.abs(np.mean(means[-30:], axis=0) - top).max() < 0.3


def test_what_one_wins_on_duplicate_deals_the_other_loses() -> None:
    seeds = np.arange(50, dtype=np.uint64)
    greedy, partner = weights_of("greedy"), weights_of("partner")
    rules = Rules.preset()
    won = margins(rules, seeds, partner, greedy)
    assert (won == -margins(rules, seeds, greedy, partner)).all()
    assert won.std() > 0
    assert (margins(rules, seeds, greedy, greedy) == 0).all()
