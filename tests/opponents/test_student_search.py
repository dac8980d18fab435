"""`student+search`: the network and the worlds together, at any budget."""

from __future__ import annotations

import json
import shutil
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fiveup_env import Batch, Game, legal_masks, make_agent
from fiveup_env.errors import AgentError
from fiveup_env.opponents.networks.files import (
    DESCRIPTION,
    SHIPPED,
    WEIGHTS,
    PolicyError,
    digest_of,
)
from fiveup_env.opponents.networks.policy import Student
from fiveup_env.opponents.search.network_search import FAR, StudentSearch
from fiveup_env.opponents.search.units import POINTS_IN_ONE
from tests.support import game_of, play_randomly, push_all

if TYPE_CHECKING:
    from pathlib import Path


def positions(games: int = 60, moves: int = 9) -> np.ndarray:
    batch, rng = Batch(games, players=4, seed=8), np.random.default_rng(2)
    batch.reset()
    for _ in range(moves):
        batch.step(batch.random_actions(rng))
    return batch.views()


def choices(agent: StudentSearch | Student, seed: int = 0) -> np.ndarray:
    return agent(positions(), np.random.default_rng(seed))


def test_a_network_that_is_all_but_certain_decides_and_one_that_is_not_leaves_it_to_the_worlds() -> (
    None
):
    student = choices(Student())
    agreement = [
        (choices(StudentSearch(worlds=64, error=error)) == student).mean()
        for error in (1e-3, 0.2, 1e3)
    ]
    assert agreement == sorted(agreement, reverse=True)
    assert agreement[0] == 1
    assert agreement[-1] < agreement[1]


def test_an_uncertain_network_leaves_what_pimc_chooses() -> None:
    pimc = make_agent("pimc:worlds=64,weighed=8,aim=game")
    views = positions()
    expected = pimc(views, np.random.default_rng(0))
    assert (choices(StudentSearch(worlds=64, error=1e3)) == expected).all()


def test_actions_of_which_the_network_expects_far_too_little_are_not_tried() -> None:
    views = positions()
    found = StudentSearch(worlds=32, error=0.02).values(views, np.random.default_rng(0))
    logits = Student().logits(views)
    behind = logits < logits.max(1, keepdims=True) - FAR * 0.02
    assert (np.isneginf(found) == behind).all()
    assert (behind & (legal_masks(views) > 0)).any()


def test_values_are_chances_to_win() -> None:
    game = play_randomly(Game(seed=3), Random(3), 6)
    agent, mask = StudentSearch(worlds=64), game.action_mask()[None]
    values = agent.values(game.view(), np.random.default_rng(0))[0, mask[0] > 0]
    assert agent.aim == "game"
    assert ((values[np.isfinite(values)] > 0) & (values[np.isfinite(values)] < 1)).all()
    assert POINTS_IN_ONE == 5  # the help of `error` says so


def test_a_single_action_is_played() -> None:
    game = push_all(game_of("6-5 1-0", "5-4 2-2"), "6-5")
    (move,) = game.legal_moves
    agent = make_agent("student+search")
    assert agent(game.view(), np.random.default_rng(0)) == [move.action]


@pytest.mark.parametrize(
    "playout", ["greedy", "partner", pytest.param("student", marks=pytest.mark.slow)]
)
def test_any_budget_of_time_gives_an_allowed_move(playout: str) -> None:
    views = positions(games=4)
    for ms in (0.01, 3):
        agent = make_agent(f"student+search:ms={ms},playout={playout}")
        chosen = agent(views, np.random.default_rng(0))
        assert (legal_masks(views)[np.arange(len(views)), chosen] == 1).all()


def test_every_family_member_is_played_by_its_rules() -> None:
    agent, rng = make_agent("student+search:worlds=4"), np.random.default_rng(0)
    for draw in ("until_playable", "optional"):
        batch = Batch(24, ["five_up", "all_fives", "muggins"], [2, 3, 4, 5], draw=draw, seed=1)
        batch.reset()
        for _ in range(30):
            batch.step(agent(batch.views(), rng))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("worlds=0", "a search needs worlds=1 or more"),
        ("ms=-1", "a search needs worlds=1 or more and ms=0 or more"),
        ("error=0", "error must be above 0, not 0.0"),
        ("playout=studnet", "did you mean 'student'"),
        ("weighed=0", "weighed must be from 1 to 1024, not 0"),
    ],
)
def test_options_out_of_range_are_refused(wrong: str, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        make_agent(f"student+search:{wrong}")


@pytest.mark.parametrize(("name", "value"), [("learner", "selfplay"), ("reward", "win")])
def test_a_policy_whose_logits_are_no_values_is_refused(
    name: str, value: str, tmp_path: Path
) -> None:
    shutil.copytree(SHIPPED["student"], tmp_path / "policy")
    path = tmp_path / "policy" / DESCRIPTION
    description = json.loads(path.read_text())
    description["about"]["config"][name] = value
    description["digest"] = digest_of((path.parent / WEIGHTS).read_bytes(), description)
    path.write_text(json.dumps(description))
    with pytest.raises(
        PolicyError, match=r"needs a policy (of learner=expert|with values of the hand)"
    ):
        make_agent(f"student+search:{tmp_path / 'policy'}")
