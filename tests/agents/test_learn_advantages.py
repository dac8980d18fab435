"""Advantages of decisions that seats made in turn, by hand and against a plain loop over seats."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.learn.rollouts import Window
from fiveup_env.envs.batch import Batch
from fiveup_env.learning.advantages import NOBODY, Advantages, estimate

Game = tuple[list[int], list[float], list[list[float]], list[bool]]


def estimated(
    seats: list[int],
    values: list[float],
    rewards: list[list[float]],
    ended: list[bool],
    gamma: float = 1,
    gae_lambda: float = 1,
) -> Advantages:
    """Return the advantages of one game."""
    return estimate(
        np.array(seats, np.int8)[:, None],
        np.array(values, np.float32)[:, None],
        np.array(rewards, np.float32)[:, None],
        np.array(ended)[:, None],
        gamma,
        gae_lambda,
    )


@st.composite
def games(draw: st.DrawFn) -> Game:
    """Draw any course of a game of three, in whole numbers so that sums are exact."""
    ticks = draw(st.integers(2, 30))
    small = st.integers(-8, 8).map(float)
    seats = draw(st.lists(st.integers(NOBODY, 2), min_size=ticks, max_size=ticks))
    values = draw(st.lists(small, min_size=ticks, max_size=ticks))
    rewards = draw(
        st.lists(st.lists(small, min_size=3, max_size=3), min_size=ticks, max_size=ticks)
    )
    ended = draw(
        st.lists(st.sampled_from([False, False, False, True]), min_size=ticks, max_size=ticks)
    )
    return seats, values, rewards, ended


def seat_by_seat(game: Game, gamma: float, gae_lambda: float) -> dict[int, float]:
    """Return the same in the plainest way: each seat's trajectories one after the other."""
    seats, values, rewards, ended = game
    advantages = {}
    for seat in range(3):
        trajectories: list[list[tuple[int, float]]] = [[]]
        over = []
        for tick, mover in enumerate(seats):
            if mover == seat:
                trajectories[-1].append((tick, 0.0))
            if trajectories[-1]:
                start, got = trajectories[-1][-1]
                trajectories[-1][-1] = start, got + rewards[tick][seat]
            if ended[tick]:
                over.append(len(trajectories) - 1)
                trajectories.append([])
        for number, trajectory in enumerate(trajectories):
            complete = number in over
            following, advantage = 0.0, 0.0
            for place, (tick, got) in reversed(list(enumerate(trajectory))):
                if complete or place < len(trajectory) - 1:
                    advantage = (
                        got + gamma * following - values[tick] + gamma * gae_lambda * advantage
                    )
                    advantages[tick] = advantage
                following = values[tick]
    return advantages


@given(games(), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.5, 1.0]))
def test_any_game_is_as_seat_by_seat(game: Game, gae_lambda: float, gamma: float) -> None:
    result = estimated(*game, gamma, gae_lambda)
    wanted = seat_by_seat(game, gamma, gae_lambda)
    assert set(np.flatnonzero(result.known[:, 0])) == set(wanted)
    for tick, advantage in wanted.items():
        assert result.advantages[tick, 0] == pytest.approx(advantage, rel=1e-5, abs=1e-4)


def in_two_windows(game: Game, cut: int, gae_lambda: float) -> list[dict[int, float]]:
    """Return the advantages of a game cut into two windows, keyed by the decisions' actions."""
    seats, values, rewards, ended = game
    parts = []
    window = Window(Batch(1, players=3, episode="hand", seed=0), 0)
    for start, stop in ((0, cut), (cut, len(seats))):
        later = Window(Batch(1, players=3, episode="hand", seed=0), stop - start)
        later.restore(window.state())
        window, ticks = later, slice(3, None)
        window.actions[ticks, 0] = range(start, stop)
        window.seats[ticks, 0] = seats[start:stop]
        window.values[ticks, 0] = values[start:stop]
        window.rewards[ticks, 0] = rewards[start:stop]
        window.ended[ticks, 0] = ended[start:stop]
        part = estimate(window.seats, window.values, window.rewards, window.ended, 1, gae_lambda)
        names = window.actions[part.known].tolist()
        assert len(set(names)) == len(names)
        parts.append(dict(zip(names, part.advantages[part.known].tolist(), strict=True)))
        window.carry(part.waiting, part.since)
    return parts


@settings(max_examples=50)
@given(games(), st.data())
def test_two_windows_learn_from_every_decision_once_as_one_long_window_does(
    game: Game, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(1, len(game[0]) - 1))
    wanted = seat_by_seat(game, 1, 0)
    first, second = in_two_windows(game, cut, gae_lambda=0)
    assert not first.keys() & second.keys()
    assert first | second == wanted
    returns = seat_by_seat(game, 1, 1)
    _, second = in_two_windows(game, cut, gae_lambda=1)
    assert second == {tick: returns[tick] for tick in second}
