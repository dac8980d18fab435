"""The agents of the laboratory: what holds for each of them."""

from __future__ import annotations

from random import Random

import pytest

import agents
from fiveup_env import Game
from fiveup_env.opponents import known_agents
from tests.support import (
    chosen,
    play_every_game,
    play_randomly,
    views_read_anyhow_give_the_same_actions,
)

# Every agent but OpenSpiel's, which have tests of their own; those that search, with little to do.
AGENTS = ["endgame", "ismcts:worlds=8", "policy", "policy+search:worlds=2"]


def test_importing_the_laboratory_registers_its_agents() -> None:
    assert agents.__doc__
    names = {spec.partition(":")[0] for spec in AGENTS} | {"openspiel"}
    assert names <= set(known_agents())


@pytest.mark.parametrize("spec", AGENTS)
def test_every_agent_plays_every_game_by_its_rules(spec: str) -> None:
    play_every_game(spec)


@pytest.mark.parametrize("spec", AGENTS)
def test_a_decision_alone_and_the_same_seed_give_the_same_action(spec: str) -> None:
    game = play_randomly(Game(seed=3), Random(3), 7)
    assert chosen(spec, game, seed=5) == chosen(spec, game, seed=5)


@pytest.mark.parametrize("spec", AGENTS)
def test_views_that_were_saved_are_read_as_they_were(spec: str) -> None:
    views_read_anyhow_give_the_same_actions(spec)
