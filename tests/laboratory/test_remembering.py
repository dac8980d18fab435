"""Worlds that outlive the others' moves: those in which these moves could be made, and no others."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.remembering import main, move, outlived
from fiveup_env import Game, Move
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.rules.actions import ACTION_TILE
from tests.support import play_randomly

if TYPE_CHECKING:
    import pytest


def test_the_true_deal_outlives_every_move_and_a_deal_without_the_tile_does_not() -> None:
    for seed in range(8):
        game = play_randomly(Game(seed=seed), Random(seed), 4)
        view = game.view()
        worlds = worlds_to_games(view, sample(view, 50, np.random.default_rng(seed)))
        worlds[:1] = game.state
        hand, possible = game.hand_number, np.ones(len(worlds), np.bool_)
        while game.turn is not None and game.hand_number == hand:
            action = int(game.action_mask().argmax())
            before, tile = possible.copy(), ACTION_TILE[action]
            held = worlds["hands"][:, game.turn] >> np.uint32(max(tile, 0)) & 1 == 1
            move(worlds, action, possible)
            assert possible[0]
            if tile >= 0:
                assert (possible == (before & held)).all()
            game.push(Move(action))


def test_fewer_worlds_outlive_three_players_than_one() -> None:
    four, two = (outlived(players, 3, 20).sum(0) for players in (4, 2))
    assert 0 < four[1] / four[0] < two[1] / two[0] < 1


def test_the_table_has_a_row_for_every_number_of_players(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["remembering", "--games", "2", "--worlds", "10"])
    main()
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["players", "4", "3", "2"]
