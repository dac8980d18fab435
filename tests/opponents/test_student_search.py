"""`student+search`: the network and the worlds together, at any budget."""

from __future__ import annotations

from random import Random

import numpy as np

from fiveup_env import Agent, Game, legal_masks, make_agent
from fiveup_env.opponents.networks.policy import Student
from fiveup_env.opponents.search.network_search import FAR, StudentSearch
from fiveup_env.opponents.search.units import POINTS_IN_ONE
from tests.support import play_randomly, random_views


def choices(agent: Agent) -> np.ndarray:
    return agent(random_views(60, 9, [4]), np.random.default_rng(0))


def test_the_surer_the_network_the_more_it_decides_and_otherwise_it_is_pimc() -> None:
    student, pimc = choices(Student()), choices(make_agent("pimc:worlds=64,weighed=8,aim=game"))
    searched = [choices(StudentSearch(worlds=64, error=error)) for error in (1e-3, 0.2, 1e3)]
    agreement = [(chosen == student).mean() for chosen in searched]
    assert agreement[0] == 1 > agreement[1] > agreement[2]
    assert (searched[2] == pimc).all()


def test_actions_of_which_the_network_expects_far_too_little_are_not_tried() -> None:
    views = random_views(60, 9, [4])
    values = StudentSearch(worlds=32, error=0.02).values(views, np.random.default_rng(0))
    logits = Student().logits(views)
    behind = logits < logits.max(1, keepdims=True) - FAR * 0.02
    assert (np.isneginf(values) == behind).all()
    assert (behind & (legal_masks(views) > 0)).any()


def test_values_are_chances_to_win() -> None:
    game = play_randomly(Game(seed=3), Random(3), 6)
    agent, mask = StudentSearch(worlds=64), game.action_mask()[None]
    values = agent.values(game.view(), np.random.default_rng(0))[0, mask[0] > 0]
    assert agent.aim == "game"
    assert ((values[np.isfinite(values)] > 0) & (values[np.isfinite(values)] < 1)).all()
    assert POINTS_IN_ONE == 5  # the help of `error` says so
