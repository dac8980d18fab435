"""Pictures: the end of a hand, every move, the eyes of one seat, and what they need."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import fiveup_env
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.errors import SeatError


def play_hands(env: Any, moves: int = 1_000) -> int:
    """Play the lowest actions until the episode is over; return the number of moves made."""
    made = 0
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
        made += 1
        if made == moves:
            break
    return made


@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb_array"])
def test_the_last_picture_of_a_hand_shows_its_end_and_not_the_next_deal(mode: Any) -> None:
    if mode == "rgb_array":
        pytest.importorskip("pygame", reason="rendering (no pygame)")
    env = fiveup_env.raw_env(players=2, episode="hand", render_mode=mode)
    env.reset(seed=3)
    play_hands(env)
    picture, end = env.render(), env.game.last_hand()
    assert end is not None
    if mode == "ansi":
        assert "No tile has been set yet" not in str(picture)
        for seat, tiles in enumerate(end.left):
            held = " ".join(map(str, tiles)) or "none"
            assert f"seat {seat}   {held}" in str(picture)
    elif mode == "svg":
        assert "the hand is over" in str(picture)
        assert str(picture).count('class="tile"') > 3
    else:
        from fiveup_env.drawing.window import pixels

        assert (picture == pixels(env.game, finished=True)).all()  # type: ignore[union-attr]
        assert not (picture == pixels(env.game)).all()  # type: ignore[union-attr]


def test_a_list_of_pictures_has_every_move_and_the_end_of_every_hand() -> None:
    pytest.importorskip("pygame", reason="rendering (no pygame)")
    env = fiveup_env.raw_env(players=2, render_mode="rgb_array_list", max_hands=2)
    env.reset(seed=3)
    first = env.render()
    assert isinstance(first, list)
    assert len(first) == 1
    made = play_hands(env)
    pictures = env.render()
    assert isinstance(pictures, list)
    # One for each move, and one more for the deal of the second hand.
    assert len(pictures) == made + 1
    assert pictures[0].dtype == np.uint8
    assert env.render() == []


def test_gymnasium_hands_out_the_moves_of_all_seats() -> None:
    pytest.importorskip("pygame", reason="rendering (no pygame)")
    env: Any = gymnasium.make(
        "fiveup/FiveUp-v0", episode="hand", render_mode="rgb_array_list", seat=0
    )
    _, info = env.reset(seed=3)
    steps = 0
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        steps += 1
    pictures = env.render()
    assert len(pictures) == len(env.unwrapped.game.moves) + 1
    assert len(pictures) > steps + 1


@pytest.mark.parametrize("mode", ["ansi", "svg"])
def test_pictures_are_drawn_for_the_learner_or_the_seat_to_move_unless_others_are_asked_for(
    mode: Any,
) -> None:
    def seen(env: Any) -> list[int]:
        """Return the seats whose hands the picture shows."""
        game, text = env.unwrapped.game, str(env.render())
        hands = [[str(tile) for tile in game.hand_of(seat)] for seat in range(4)]
        if mode == "ansi":
            return [seat for seat in range(4) if " ".join(hands[seat]) in text]
        return [seat for seat in range(4) if f'data-seat="{seat}" data-tile' in text]

    for seed, (eyes, seats) in enumerate({"all": [0, 1, 2, 3], 1: [1], "learner": None}.items()):
        learner = FiveUpEnv(render_mode=mode, eyes=eyes)  # type: ignore[arg-type]
        learner.reset(seed=seed)
        assert seen(learner) == (seats or [learner.seat])
    env = fiveup_env.env(render_mode=mode)
    env.reset(seed=3)
    for _ in range(4):
        assert seen(env) == [env.possible_agents.index(env.agent_selection)]
        env.step(int(env.last()[0]["action_mask"].argmax()))


def test_eyes_that_no_seat_has_are_refused() -> None:
    with pytest.raises(SeatError, match="eyes must be from 0 to 3, mover or all, not 4"):
        fiveup_env.env(eyes=4)
    with pytest.raises(SeatError, match="eyes must be from 0 to 3, learner or all, not 'partner'"):
        FiveUpEnv(eyes="partner")  # type: ignore[arg-type]


def test_the_window_shows_the_end_of_every_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame", reason="rendering (no pygame)")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(fiveup_env.raw_env.metadata, "render_fps", 1000)
    env = fiveup_env.raw_env(players=2, render_mode="human", max_hands=2)
    env.reset(seed=3)
    shown = []
    monkeypatch.setattr(env, "_show", lambda *, finished: shown.append(finished))
    made = play_hands(env)
    assert shown.count(True) == 2
    assert shown[-1]
    assert len(shown) == made + 1
