"""Windows as decisions of one seat after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiveup_env import Batch
from fiveup_env.errors import FiveUpError, OptionError, SeatError, WrongMomentError
from fiveup_env.seats import NOBODY, Decisions, SeatTrajectories, seat_advantages
from tests.seats.games import PLAYERS, Course, courses, decisions_of


def taken(window: SeatTrajectories, course: Course, ticks: range) -> Decisions:
    """Return what a window gives of some ticks; the column `tick` says when each was made."""
    for tick in ticks:
        seats = course.seats[tick].copy()
        column = np.full(seats.shape, tick)
        window.decide(seats, tick=column, value=course.values[tick])
        seats[:], column[:] = 0, -5  # memory that is written later
        window.reward(course.rewards[tick], course.ends[tick], course.cuts[tick])
    return window.take()


@given(courses())
def test_decisions_come_seat_by_seat_with_all_that_their_seat_received(course: Course) -> None:
    ticks, games = course.seats.shape
    found = taken(SeatTrajectories(ticks, games, PLAYERS), course, range(ticks))
    wanted = decisions_of(course)
    assert len(found) == len(wanted)
    for n, one in enumerate(wanted):
        assert (found["tick"][n], found.games[n], found.seats[n]) == one[:3]
        assert found.rewards[n] == one.received
        assert found.terminated[n] == (one.ended is not None)
        if one.next_tick is not None:
            after = found.following[n]
            assert (found["tick"][after], found.games[after]) == (one.next_tick, one.game)
        assert found.known[n] == (one.next_tick is not None or one.ended is not None)
    result = seat_advantages(*course.window, 0.9, 0.5, cuts=course.cuts)
    places = found["tick"], found.games
    assert (found.advantages(found["value"], 0.9, 0.5) == result.advantages[places]).all()


@given(courses(), st.data())
def test_what_waits_comes_again_in_the_next_window_and_from_its_saved_state(
    course: Course, data: st.DataObject
) -> None:
    ticks, games = course.seats.shape
    cut = data.draw(st.integers(0, ticks - 1))
    window = SeatTrajectories(ticks, games, PLAYERS)
    first, state = taken(window, course, range(cut)), window.state()
    other = SeatTrajectories(ticks - cut, games, PLAYERS)
    other.restore(state)
    second = taken(other, course, range(cut, ticks))
    again = taken(window, course, range(cut, ticks))
    for name, array in vars(again).items():
        if name != "columns":
            assert (getattr(second, name) == array).all()
    received = {}
    for part in (first, second):
        for n in np.flatnonzero(part.known):
            key = int(part["tick"][n]), int(part.games[n])
            assert key not in received
            received[key] = part.rewards[n]
    assert received == {
        (one.tick, one.game): one.received
        for one in decisions_of(course)
        if one.next_tick is not None or one.ended is not None
    }


def test_a_batchs_own_arrays_may_be_given_because_they_are_copied() -> None:
    batch = Batch(8, players=3, episode="hand", reward="margin", seed=1)
    rng, seen = np.random.default_rng(0), dict[tuple[int, int, int], bytes]()
    batch.reset()
    window = SeatTrajectories(30, 8, 3)
    while not window.is_full:
        for game in range(8):
            seen[game, int(batch.turn[game]), len(seen)] = batch.observation[game].tobytes()
        actions = batch.random_actions(rng)
        window.decide(batch.turn, row=batch.observation, action=actions)
        batch.step(actions)
        actions[:] = -1
        window.reward(batch.reward, batch.terminated, batch.truncated)
    decisions = window.take()
    rows = [row for (_, _, _), row in sorted(seen.items())]
    assert [row.tobytes() for row in decisions["row"]] == rows
    assert not decisions.rewards[decisions.terminated].all()


ONE: Any = {"seats": np.zeros(2, int), "column": np.zeros((2, 3))}


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"seats": np.zeros(3, int)}, OptionError, r"seats must be whole numbers of shape \(2,\)"),
        ({"seats": np.array([0, 5])}, SeatError, "seats are 0 to 1, or -1 for nobody, not 5"),
        ({"column": np.zeros((2, 4))}, OptionError, r"columns must be .*\(2, 3\).*not.*\(2, 4\)"),
        ({"other": np.zeros(2)}, OptionError, "columns must be .* not .*other"),
    ],
)
def test_a_tick_of_another_shape_is_refused_and_nothing_has_changed(
    changes: dict[str, Any], error: type[FiveUpError], said: str
) -> None:
    window = SeatTrajectories(2, 2, 2)
    window.decide(**ONE)
    window.reward(np.ones((2, 2)), np.zeros(2, bool))
    with pytest.raises(error, match=said):
        window.decide(**ONE | changes)
    window.decide(**ONE)
    with pytest.raises(OptionError, match=r"rewards must be numbers of shape \(2, 2\)"):
        window.reward(np.ones(2), np.zeros(2, bool))
    with pytest.raises(OptionError, match="ends must be bools"):
        window.reward(np.ones((2, 2)), np.zeros(2))
    window.reward(np.ones((2, 2)), np.ones(2, bool))
    assert window.take().rewards.tolist() == [1, 1, 1, 1]


def test_decide_reward_and_take_come_in_this_order() -> None:
    window = SeatTrajectories(1, 2, 2)
    with pytest.raises(WrongMomentError, match=r"decide\(\) comes before reward"):
        window.reward(np.ones((2, 2)), np.zeros(2, bool))
    window.decide(**ONE)
    with pytest.raises(WrongMomentError, match=r"reward\(\) the tick before"):
        window.decide(**ONE)
    with pytest.raises(WrongMomentError, match=r"reward\(\) the last tick"):
        window.take()
    window.reward(np.ones((2, 2)), np.zeros(2, bool))
    with pytest.raises(WrongMomentError, match=r"take\(\) its decisions"):
        window.decide(**ONE)
    assert len(window.take()) == 2
    assert len(window.take()) == 2  # they still wait


@pytest.mark.parametrize("given", [0, -1, 2.0, "2", True, None])
def test_a_size_that_is_no_number_is_refused(given: Any) -> None:
    for sizes in ((given, 1, 1), (1, given, 1), (1, 1, given)):
        with pytest.raises(OptionError, match="must be a positive whole number"):
            SeatTrajectories(*sizes)


def test_where_nobody_decides_there_is_nothing_to_learn_from() -> None:
    window = SeatTrajectories(1, 2, 2)
    window.decide(np.full(2, NOBODY))
    window.reward(np.ones((2, 2)), np.ones(2, bool))
    assert len(window.take()) == 0
