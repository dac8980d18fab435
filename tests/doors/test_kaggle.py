"""Kaggle's environment runs whole games, shows each seat its own view, and no seed."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("kaggle_environments")

import kaggle_environments as kaggle

from fiveup_env import Game
from fiveup_env.doors.kaggle import NAME


def first_move(observation: Any) -> str:
    """Return the first legal move."""
    return str(observation.legal[0])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_game_is_played_to_its_end(players: int) -> None:
    fields = {"target": 10, "game_end": "immediate"}
    env = kaggle.make(NAME, configuration={"fields": fields}, info={"seed": 7}, debug=True)
    env.run([first_move] * players)
    outcome = env.fiveup.outcome()
    assert outcome
    assert [seat for seat, one in enumerate(env.state) if one.reward == 1] == [*outcome.seats]
    assert {one.status for one in env.state} == {"DONE"}
    again = Game("five_up", players=players, seed=7, target=10, game_end="immediate")
    for move in env.fiveup.moves:
        again.push(move)
    assert again.outcome() == outcome
    json.dumps(env.toJSON())
    assert "total" in env.render(mode="ansi")


def test_a_move_that_is_not_legal_loses() -> None:
    for wrong in ("castle", "", 5):
        env = kaggle.make(NAME, info={"seed": 7})
        env.run([lambda _, wrong=wrong: wrong] * 2)
        assert sorted(one.status for one in env.state) in (
            ["DONE", "INVALID"],
            ["DONE", "INACTIVE"],
        )
        lost = next(k for k, one in enumerate(env.state) if one.status == "INVALID")
        assert (env.state[lost].reward or -1, env.state[1 - lost].reward) == (-1, 1)


def test_an_agent_is_shown_its_own_view_at_its_turn_and_no_seed() -> None:
    shown: list[Any] = []

    def keep(observation: Any, configuration: Any) -> str:
        shown.append(observation)
        assert "seed" not in json.dumps(configuration)
        return first_move(observation)

    env = kaggle.make(NAME, configuration={"rules": "mini-2"}, info={"seed": 7}, debug=True)
    env.run([keep, keep])
    for step in env.steps:
        for one in step:
            view = one.observation.get("view") or {}
            assert not view or (one.status != "INACTIVE" and view["turn"] == view["seat"])
    assert shown
