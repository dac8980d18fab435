"""Advantages of decisions that seats made in turn, against a plain computation seat by seat."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiveup_env.errors import FiveUpError, OptionError, SeatError
from fiveup_env.seats import NOBODY, advantages, seat_advantages
from tests.seats.games import PLAYERS, Course, advantages_of, course_of, courses, decisions_of

DISCOUNTS = st.sampled_from([0.0, 0.5, 0.9, 1.0])


def found_in(
    course: Course, gamma: float, gae_lambda: float, compute: Any = seat_advantages
) -> Any:
    """Return the advantages that are known, by tick and game."""
    result = compute(*course.window, gamma, gae_lambda, cuts=course.cuts)
    assert not result.advantages[~result.known].any()
    return {(tick, game): result.advantages[tick, game] for tick, game in np.argwhere(result.known)}


def close(found: Any, wanted: Any) -> bool:
    """Whether both have the same keys, and values that differ by a millionth of the largest."""
    most = 1e-6 * max(1, *map(abs, wanted.values())) if wanted else 0
    return found.keys() == wanted.keys() and all(
        abs(found[key] - wanted[key]) <= most for key in wanted
    )


@given(courses(), DISCOUNTS, DISCOUNTS)
def test_any_course_is_as_seat_by_seat(course: Course, gamma: float, gae_lambda: float) -> None:
    assert close(found_in(course, gamma, gae_lambda), advantages_of(course, gamma, gae_lambda))


@given(courses())
def test_decisions_that_wait_are_named_with_what_they_received(course: Course) -> None:
    ticks, rewards = seat_advantages(*course.window, 1, 1, cuts=course.cuts).waiting
    over = course.ends | course.cuts
    waiting = {
        (one.game, one.seat): (one.tick, one.received)
        for one in decisions_of(course)
        if one.next_tick is None and not over[one.tick :, one.game].any()
    }
    for (game, seat), tick in np.ndenumerate(ticks):
        found = int(tick), float(rewards[game, seat])
        assert found == waiting.get((game, seat), (-1, 0.0))


@given(courses(), st.data(), DISCOUNTS, DISCOUNTS)
def test_windows_cut_anywhere_learn_from_every_decision_once(
    course: Course, data: st.DataObject, gamma: float, gae_lambda: float
) -> None:
    ticks, games = course.seats.shape
    cut = data.draw(st.integers(0, ticks))
    names = np.arange(ticks * games).reshape(ticks, games)
    found: dict[tuple[int, int], float] = {}
    waits: tuple[np.ndarray, ...] | None = None
    for part in (slice(0, cut), slice(cut, ticks)):
        rewards, values, seats, ends, cuts, named = (
            np.concatenate([np.zeros((PLAYERS, *array.shape[1:]), array.dtype), array[part]])
            for array in (*course, names)
        )
        seats[:PLAYERS] = NOBODY
        if waits is not None:  # the last window's arrays, with this one's ticks
            for array, before in zip((rewards, seats, values, named), waits, strict=True):
                array[:PLAYERS] = before[:PLAYERS]
        result = seat_advantages(rewards, values, seats, ends, gamma, gae_lambda, cuts=cuts)
        for tick, game in np.argwhere(result.known):
            key = divmod(int(named[tick, game]), games)
            assert key not in found
            found[key] = result.advantages[tick, game]
        result.waiting.carry(rewards, seats, ends, values, named)
        assert not ends[:PLAYERS].any()
        waits = rewards, seats, values, named
    assert close(found, advantages_of(course, gamma, gae_lambda, cut))
    if gae_lambda == 0:
        assert close(found, advantages_of(course, gamma, gae_lambda))


FAULTS = {
    "the move's reward is the next seat's": (
        "rewards[tick, game, player]",
        "rewards[tick, game, (player + 1) % players]",
    ),
    "only who moves is rewarded": (
        "coming[game, player] += rewards[tick, game, player]",
        "coming[game, player] += rewards[tick, game, player] * (player == seat)",
    ),
    "a decision is worth what another seat expects": (
        "ahead[game, seat], coming[game, seat] = n, 0",
        "ahead[game, :], coming[game, seat] = n, 0",
    ),
    "an episode goes on after its end": (
        "ahead[game, player], coming[game, player] = end, 0",
        "pass",
    ),
    "rewards of the next episode are added": (
        "ahead[game, player], coming[game, player] = end, 0",
        "ahead[game, player] = end",
    ),
    "a decision that waits is taken as the last": ("(following >= OVER)", "(following >= WAITING)"),
    "a cut is an end": ("how[checked_array", "how[~checked_array"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault: str) -> None:
    source, (right, wrong) = inspect.getsource(advantages), FAULTS[fault]
    assert source.count(right) == 1
    plain = source.replace("@compiled\n", "").replace("@inner\n", "")
    whole: dict[str, Any] = {"__name__": advantages.__name__}
    planted: dict[str, Any] = {"__name__": advantages.__name__}
    exec(plain, whole)
    exec(plain.replace(right, wrong), planted)
    course = course_of(np.random.default_rng(1), 30, 3)
    wanted = advantages_of(course, 0.9, 0.5)
    assert close(found_in(course, 0.9, 0.5, whole["seat_advantages"]), wanted)
    assert not close(found_in(course, 0.9, 0.5, planted["seat_advantages"]), wanted)


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"rewards": np.zeros((2, 3))}, OptionError, r"\[ticks, games, players\], not of shape"),
        ({"values": np.zeros((2, 4))}, OptionError, r"values must be numbers of shape \(2, 3\)"),
        ({"ends": np.zeros((3, 3), bool)}, OptionError, r"ends must be bools of shape \(2, 3\)"),
        ({"ends": np.zeros((2, 3))}, OptionError, "ends must be bools .* not float64"),
        ({"cuts": np.zeros((2, 3), int)}, OptionError, "cuts must be bools"),
        ({"seats": np.zeros((2, 3))}, OptionError, "seats must be whole numbers"),
        ({"seats": np.full((2, 3), 2)}, SeatError, "seats are 0 to 1, or -1 for nobody, not 2"),
        ({"seats": np.full((2, 3), -2)}, SeatError, "not -2"),
        ({"seats": np.full((2, 3), 256)}, SeatError, "not 256"),
        ({"gamma": 1.5}, OptionError, "gamma must be a number from 0 to 1, not 1.5"),
        ({"gae_lambda": float("nan")}, OptionError, "gae_lambda must be a number from 0 to 1"),
        ({"gamma": "1"}, OptionError, "gamma must be a number"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(
    changes: dict[str, Any], error: type[FiveUpError], said: str
) -> None:
    given: dict[str, Any] = {
        "rewards": np.zeros((2, 3, 2)),
        "values": np.zeros((2, 3)),
        "seats": np.zeros((2, 3), int),
        "ends": np.zeros((2, 3), bool),
        "gamma": 1,
        "gae_lambda": 1,
    }
    seat_advantages(**given)
    with pytest.raises(error, match=said):
        seat_advantages(**given | changes)


def test_arrays_of_other_kinds_and_orders_are_read_and_never_written() -> None:
    course = course_of(np.random.default_rng(3), 20, 2)
    rewards, values, seats, ends = map(np.asfortranarray, course.window)
    other = rewards, values.astype(np.float64), seats, ends
    for array in other:
        array.setflags(write=False)
    found = seat_advantages(*other, 1, 1)
    wanted = seat_advantages(*course.window, 1, 1)
    assert (found.advantages == wanted.advantages).all()


def test_decisions_that_wait_find_room_in_any_window_that_has_it() -> None:
    rewards, ends = np.zeros((2, 1, 2)), np.zeros((2, 1), bool)
    seats, names = np.array([[1], [0]]), np.array([[7], [8]])
    rewards[1, 0] = 5, 6
    found = seat_advantages(rewards, np.zeros((2, 1)), seats, ends, 1, 1)
    found.waiting.carry(rewards, seats, ends, names)
    assert names.tolist() == [[8], [7]]
    assert seats.tolist() == [[0], [1]]
    assert rewards.tolist() == [[[5, 0]], [[0, 6]]]
    with pytest.raises(OptionError, match=r"begins with 2 ticks .* more than 1"):
        found.waiting.carry(rewards[:1], seats[:1], ends[:1])
