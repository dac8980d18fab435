"""Tuning: the search finds an optimum through noise, and duplicate deals compare fairly."""

from __future__ import annotations

import itertools

import numpy as np

from agents.fitting.tuning import evolve, margins
from fiveup_env import Rules
from fiveup_env.opponents.heuristics.ladder import weights_of


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
