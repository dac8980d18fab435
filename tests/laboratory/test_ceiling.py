"""The ladder of information: what a player is told is true, and nothing else changes."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from benchmarks.ceiling import LADDER, ORDER, PLAYERS, draw_told, main, margins
from fiveup_env import Game
from fiveup_env.belief.structs import BELIEF
from fiveup_env.engine.state import GAME
from tests.support import play_randomly


def drawn(game: Game, told: int, worlds: int = 40) -> np.ndarray:
    """Worlds for the seat to move."""
    games, belief = np.zeros(worlds, GAME), np.zeros(1, BELIEF)
    draw_told(game.view()[0], game.state[0], told, np.uint64(3), belief[0], games)
    return games


@pytest.mark.parametrize("told", LADDER.values(), ids=list(LADDER))
def test_worlds_agree_with_what_is_told_and_differ_otherwise(told: int) -> None:
    for seed in range(12):
        game = play_randomly(Game(seed=seed), Random(seed), 9)
        if game.turn is None:
            continue
        worlds, true = drawn(game, told), game.state[0]
        for step in range(PLAYERS):
            seat = (game.turn + step) % PLAYERS
            known = step == 0 or told >> step & 1
            if known:
                assert (worlds["hands"][:, seat] == true["hands"][seat]).all()
        dealt = np.bitwise_or.reduce(worlds["hands"], axis=1)
        for world, hands in zip(worlds, dealt, strict=True):
            left = world["order"][world["public"]["drawn"] : world["public"]["boneyard"]]
            assert not any(hands >> np.uint32(tile) & 1 for tile in left)
        same = (worlds["order"] == true["order"]).all()
        assert (
            same == bool(told & ORDER) or true["public"]["drawn"] + 1 >= true["public"]["boneyard"]
        )


@pytest.mark.slow
def test_who_is_told_nothing_wins_nothing_and_who_is_told_all_wins_much() -> None:
    seeds = np.arange(30, dtype=np.uint64)
    assert (margins(0, seeds, 4, "greedy") == 0).all()
    assert margins(LADDER["all hands"], seeds, 4, "greedy").mean() > 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--deals 0", "--deals must be at least 1, not 0"),
        ("--bound --worlds -3", "--worlds must be at least 1, not -3"),
        ("--bound --charged 0", "--charged must be at least 1, not 0"),
        ("--bound --charged 113", "--charged must be at most 112, not 113"),
        ("--bound --against gredy", "gredy"),
        ("--players 2", "--players 2 goes with --bound: the ladder is for 4"),
        ("--bound --playout student", "with --bound, "),
    ],
)
def test_what_cannot_be_measured_is_refused(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words.split())
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [("--agents gredy", "greedy"), ("--players 9", "there must be 2 to 5 players, not 9")],
)
def test_what_cannot_be_bounded_is_refused_before_anything_is_printed(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--bound", *words.split()]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert not shown.out
