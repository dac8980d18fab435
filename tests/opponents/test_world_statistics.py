"""What worlds show about actions: how they score, and when one is closed."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env.opponents.search.world_statistics import WorldStatistics, add_worlds


def add(statistics: WorldStatistics, worths: np.ndarray, logs: np.ndarray | None = None) -> None:
    """Add worlds of the first view."""
    add_worlds(
        statistics.evidence[0],
        statistics.candidates[0],
        statistics.products[0],
        worths,
        np.zeros(len(worths)) if logs is None else logs,
    )


def decided(worths: np.ndarray, logs: list[float], trust: float = 1.0) -> np.ndarray:
    """The scores of one view's actions after some worlds, that came in two parts."""
    statistics = WorldStatistics(np.array([logs]), trust)
    for part in np.array_split(worths, 2):
        add(statistics, part)
    return statistics.scores[0]


def test_where_worlds_find_actions_alike_the_policy_decides() -> None:
    assert decided(np.ones((4, 3)), [-2.0, -0.5, -1.0]).argmax() == 1


def test_where_all_worlds_agree_the_search_decides_however_much_they_differ() -> None:
    worlds = np.random.default_rng(0).normal(0, 100, (4, 1))
    assert decided(worlds + np.array([0.0, 0.01]), [-0.01, -4.0]).argmax() == 1


def test_few_noisy_worlds_leave_the_choice_to_the_policy_and_many_take_it() -> None:
    noisy = np.random.default_rng(0).normal([0, 0.3], 1, (3000, 2))
    assert decided(noisy[:4], [-0.1, -2.3], trust=3).argmax() == 0
    assert decided(noisy, [-0.1, -2.3], trust=3).argmax() == 1


def test_worlds_of_no_weight_do_not_count() -> None:
    statistics = WorldStatistics(np.zeros((1, 2)))
    for worths, likelihood in (([0.0, 0.9], -9e3), ([1.0, 0.0], -1e3), ([0.0, 0.9], -1e4)):
        add(statistics, np.array([worths]), np.array([likelihood]))
    assert statistics.scores.tolist() == [[1.0, 0.0]]


def test_actions_are_compared_world_by_world() -> None:
    # Worlds differ by far more than the actions do in each of them.
    rng = np.random.default_rng(0)
    worths = rng.normal(0, 100, (64, 1)) + rng.normal([0.0, 2.0, 2.1], 1, (64, 3))
    assert np.isfinite(decided(worths, [0.0, 0.0, 0.0])).tolist() == [False, True, True]


def test_the_error_of_an_action_is_that_of_its_difference_from_the_best() -> None:
    worths = np.random.default_rng(0).normal([0.3, 0.0, -9.0], [1, 2, 1], (32, 3))
    statistics = WorldStatistics(np.array([[0.0, 0.0, 0.0, -np.inf], [0.0, *[-np.inf] * 3]]))
    for part in np.array_split(worths, 2):
        add(statistics, part)
    gaps = worths[:, 1] - worths[:, 0]
    closed = (worths[:, 2] - worths[:, 0])[:16]  # after the first half
    wanted = [0, gaps.std(ddof=1) / np.sqrt(32), closed.std(ddof=1) / np.sqrt(16), np.nan]
    assert statistics.errors[0] == pytest.approx(wanted, nan_ok=True)
    assert statistics.errors[1] == pytest.approx([0, *[np.nan] * 3], nan_ok=True)


def test_a_prior_of_values_is_joined_with_the_worlds_by_precisions() -> None:
    worths = np.random.default_rng(2).normal([0.0, 0.1], [1, 2], (40, 2))
    expected, error = np.array([0.3, 0.0]), 0.25
    statistics = WorldStatistics(expected[None], precision=np.array([error**-2]))
    add(statistics, worths)
    noise = (worths[:, 0] - worths[:, 1]).std(ddof=1) / np.sqrt(40) / np.sqrt(2)
    joined = worths.mean(0) / noise**2 + expected / error**2
    assert statistics.scores[0] / noise**2 == pytest.approx(joined)


def test_only_what_may_be_chosen_is_a_candidate() -> None:
    logs = np.array([[-np.inf, 0.0, -np.inf, 0.0], [0.0, -np.inf, -np.inf, -np.inf]])
    statistics = WorldStatistics(logs)
    assert statistics.undecided.tolist() == [0]
    add(statistics, np.ones((3, 2)))
    assert statistics.means.tolist() == [
        [-np.inf, 1.0, -np.inf, 1.0],
        [0.0, -np.inf, -np.inf, -np.inf],
    ]
    assert statistics.evidence["worlds"].tolist() == [3, 0]


def test_looks_decide_within_noise_and_neither_close_an_action_nor_outlast_worlds() -> None:
    noisy = np.random.default_rng(0).normal([0.2, 0.0], 1, (5000, 2))
    statistics = WorldStatistics(np.zeros((1, 2)))
    statistics.candidates["looks"] = [-9.0, 0.0]
    add(statistics, noisy[:40])
    assert statistics.scores[0].argmax() == 0
    assert statistics.choices == [1]
    add(statistics, noisy[40:])
    assert statistics.choices == [0]
