"""The levels of the table: ten agents by number."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env import Game, make_agent
from fiveup_env.errors import AgentError
from fiveup_env.opponents.levels import LEVEL_SPECS, LEVELS, USUAL_LEVEL


@pytest.mark.parametrize(("level", "spec"), list(zip(LEVEL_SPECS, LEVELS, strict=True)))
def test_a_level_plays_as_what_it_stands_for(level: str, spec: str) -> None:
    game = Game(players=2, seed=3, target=5)
    while not game.is_game_over():
        view, moves = game.view(), len(game.moves)
        chosen = make_agent(level)(view, np.random.default_rng(moves))
        assert chosen == make_agent(spec)(view, np.random.default_rng(moves))
        game.push(game.ask(make_agent("greedy")))


def test_a_new_player_meets_one_in_the_middle() -> None:
    assert LEVEL_SPECS.index(USUAL_LEVEL) in {len(LEVELS) // 2 - 1, len(LEVELS) // 2}


@pytest.mark.parametrize("spec", ["level:0", "level:11", "level:-1", "level:1.5", "level:Pia"])
def test_another_number_gets_a_sentence(spec: str) -> None:
    with pytest.raises(AgentError, match=r"a number from 1 to 10|must be a int"):
        make_agent(spec)


def test_a_level_needs_its_number() -> None:
    with pytest.raises(AgentError, match="level needs its number"):
        make_agent("level")
