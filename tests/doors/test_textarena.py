"""TextArena's loop plays whole games, and each player is told what its own seat may know."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("textarena", reason="the door to TextArena (no TextArena)")

import textarena as ta

from fiveup_env import Game
from fiveup_env.doors.textarena import NAME, FiveUp
from fiveup_env.errors import SeatError, SeedError


def first_move(observation: str) -> str:
    """Answer with the first legal move of the latest position."""
    lists = re.findall(r"Your legal moves: (.*?)[,.]", observation)
    return f"The first will do.\n{lists[-1]}"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_game_is_played_to_its_end(players: int) -> None:
    env = ta.make(NAME, rules="five_up_first_to_61", target=10)
    env.reset(num_players=players, seed=7)
    done = False
    while not done:
        player, observed = env.get_observation()
        assert player == env._game.turn
        text = "\n".join(message for _, message, _ in observed)
        done, info = env.step(first_move(text))
        assert info == {}
    rewards, infos = env.close()
    outcome = env._game.outcome()
    assert outcome
    assert {seat for seat, reward in rewards.items() if reward == 1} == {*outcome.seats}
    assert "has won the game" in infos[0]["reason"]


def test_a_seed_names_the_deal() -> None:
    env = FiveUp()
    env.reset(num_players=2, seed=7)
    assert env._game == Game("five_up", players=2, seed=7)


def test_wrong_moves_are_said_to_their_player_and_lose_in_the_end() -> None:
    env = FiveUp(error_allowance=2)
    env.reset(num_players=2, seed=7)
    player, _ = env.get_observation()
    for wrong in ("castle", "lead 6-6"):
        assert env.step(wrong) == (False, {})
        same, observed = env.get_observation()
        assert same == player
        assert any("invalid move" in message for _, message, _ in observed)
    assert env.step("pass")[0]
    rewards, infos = env.close()
    assert rewards == {player: -1, 1 - player: 1}
    assert infos[player]["invalid_move"]


def test_what_a_player_writes_is_shown_to_nobody_else() -> None:
    env = FiveUp()
    env.reset(num_players=2, seed=7)
    player, observed = env.get_observation()
    answer = first_move(observed[-1][1])
    env.step(f"I hold the secret tile.\n{answer}")
    for _ in range(10):
        other, observed = env.get_observation()
        said = "\n".join(message for _, message, _ in observed)
        if other != player:
            assert "secret" not in said
        if env.step(first_move(said))[0]:
            break


def test_what_cannot_be_played_is_refused() -> None:
    with pytest.raises(SeatError):
        FiveUp().reset(num_players=9)
    with pytest.raises(SeedError):
        FiveUp().reset(num_players=2, seed=-1)
