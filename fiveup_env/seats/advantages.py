"""The advantages of decisions that seats made in turn, each from the rewards of its own seat.

What is computed here is the only such loop: `learning.windows` and everything that learns in
PyTorch call it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fiveup_env.checks import finite
from fiveup_env.errors import OptionError, SeatError, shown
from fiveup_env.native import (
    Array,
    DoubleRows,
    Floats,
    FloatTables,
    Int8Rows,
    Int32Rows,
    Int32s,
    compiled,
    inner,
)

NOBODY: Final = -1  # in place of a seat, where no decision is learnt from
# In place of a seat's next decision:
OVER, WAITING, CUT = -1, -2, -3  # in a later window; or in an episode that was cut off
GOES_ON: Final = 0  # in place of OVER and CUT


class Waiting(NamedTuple):
    """The decisions that have no advantage yet when a window ends, at most one of each seat.

    Attributes:
        ticks: the tick of each seat's decision, or -1 [games, players].
        rewards: what the seat received since [games, players].
    """

    ticks: np.ndarray
    rewards: np.ndarray

    def carry(
        self, rewards: np.ndarray, seats: np.ndarray, ends: np.ndarray, *columns: np.ndarray
    ) -> None:
        """Begin the arrays of the next window with these decisions, in place.

        The decision of seat k moves to tick k, in all `columns` [ticks, games, ...]; the window's
        own ticks follow the first `players`. Raises OptionError if there is no room for these.
        """
        ticks, (games, players) = self.ticks.T, self.ticks.shape
        for column in (rewards, seats, ends, *columns):
            if len(column) < players:
                raise OptionError(
                    f"a window begins with {players} ticks for decisions that wait, so it has more "
                    f"than {len(column)}"
                )
        for column in columns:
            kept = column[ticks, np.arange(games)]
            kept[ticks < 0] = 0
            column[:players] = kept
        rewards[:players] = 0
        rewards[range(players), :, range(players)] = self.rewards.T
        seats[:players] = np.where(ticks < 0, NOBODY, np.arange(players)[:, None])
        ends[:players] = False


class SeatAdvantages(NamedTuple):
    """The advantages of a window's decisions.

    Attributes:
        advantages: float32, and 0 where none is known [ticks, games].
        known: whether there is a decision whose seat has decided again, or received the end; all
            others are not to be learnt from [ticks, games].
        waiting: the decisions that the next window begins with.
    """

    advantages: np.ndarray
    known: np.ndarray
    waiting: Waiting


def seat_advantages(
    rewards: np.ndarray,
    values: np.ndarray,
    seats: np.ndarray,
    ends: np.ndarray,
    gamma: float,
    gae_lambda: float,
    *,
    cuts: np.ndarray | None = None,
) -> SeatAdvantages:
    """Estimate generalised advantages, for every seat of every game by itself.

    A tick is a move in every game. At the end of a window, `waiting.carry` begins the arrays of the
    next one with the decisions that wait for their seat's next, so that each is learnt from once.
    As in every estimate of this kind, sums of later errors stop at the window's end.

    Args:
        rewards: What the move brought each seat [ticks, games, players].
        values: What the seat that decided expected from then on [ticks, games].
        seats: The seat that decided, or NOBODY where the move is not learnt from [ticks, games].
        ends: Whether the move ended the episode of its game, for all seats [ticks, games].
        gamma: The discount from a seat's decision to its next one.
        gae_lambda: That of later errors: 0 trusts the values, 1 only what was received.
        cuts: Whether the episode was cut off after the move: the last decision of each seat is then
            not learnt from, because what would have followed is not known.

    Raises:
        OptionError: If the arrays do not fit each other, or a discount is not from 0 to 1.
        SeatError: If there is no such seat.
    """
    shape = np.shape(rewards)
    if len(shape) != 3 or not 0 < shape[2] < 128:
        raise OptionError(f"rewards must be [ticks, games, players], not of shape {shape}")
    ticks, games, players = shape
    rewards = checked_array("rewards", rewards, shape, np.float32)
    values = checked_array("values", values, (ticks, games), np.float32)
    seats = checked_seats(seats, (ticks, games), players)
    how = checked_ends(ends, cuts, (ticks, games))
    check_discounts(gamma, gae_lambda)
    following = np.empty(ticks * games, np.int32)
    received, advantages = np.empty((2, ticks * games), np.float32)
    waiting = linked(rewards, seats, how, received, following)
    estimate(received, values.ravel(), following, float(gamma), float(gae_lambda), advantages)
    known = (seats != NOBODY) & (following >= OVER).reshape(seats.shape)
    return SeatAdvantages(advantages.reshape(seats.shape), known, waiting)


def linked(
    rewards: np.ndarray,
    seats: np.ndarray,
    how: np.ndarray,
    received: np.ndarray,
    following: np.ndarray,
) -> Waiting:
    """Write as `link` does, and return the decisions that wait."""
    games, players = rewards.shape[1:]
    ticks = np.full((games, players), -1, np.int32)
    ahead = np.full((games, players), WAITING, np.int32)
    link(rewards, seats, how, received, following, ticks, ahead, np.zeros(ahead.shape))
    since = received.reshape(seats.shape)[ticks, np.arange(games)[:, None]]
    return Waiting(ticks, np.where(ticks < 0, 0, since))


@compiled
def link(
    rewards: FloatTables,
    seats: Int8Rows,
    how: Int8Rows,
    received: Floats,
    following: Int32s,
    waiting: Int32Rows,
    ahead: Int32Rows,
    coming: DoubleRows,
) -> None:
    """Go back in time; write what follows each decision, and what its seat received until then.

    Decisions are numbered by ticks, then by games. `how` is GOES_ON, or what comes after a move
    that ended an episode: OVER or CUT. `waiting` becomes the ticks of the decisions that wait;
    `ahead` is each seat's next decision, and `coming` what it will receive before that.
    """
    ticks, games, players = rewards.shape
    for tick in range(ticks - 1, -1, -1):
        for game in range(games):
            n, seat, end = tick * games + game, seats[tick, game], how[tick, game]
            if end != GOES_ON:
                for player in range(players):
                    ahead[game, player], coming[game, player] = end, 0
            for player in range(players):
                coming[game, player] += rewards[tick, game, player]
            if seat == NOBODY:
                received[n], following[n] = 0, CUT
            else:
                after = ahead[game, seat]
                received[n], following[n] = coming[game, seat], after
                ahead[game, seat], coming[game, seat] = n, 0
                if after == WAITING:
                    waiting[game, seat] = tick


@compiled
def estimate(
    received: Floats,
    values: Floats,
    following: Int32s,
    gamma: float,
    gae_lambda: float,
    advantages: Floats,
) -> None:
    """Write the advantage of each decision, which is 0 where it is not known."""
    write_advantages(received, values, following, 0, len(values), gamma, gae_lambda, advantages)


@inner
def write_advantages(
    received: Array,
    values: Array,
    following: Array,
    first: int,
    end: int,
    gamma: float,
    gae_lambda: float,
    advantages: Array,
) -> None:
    """Go backwards through some decisions, each of which comes before its seat's next one."""
    for n in range(end - 1, first - 1, -1):
        after, error = following[n], float(received[n]) - values[n]
        if after < OVER:
            advantages[n] = 0
        elif after == OVER:
            advantages[n] = error
        else:
            error += gamma * values[after]
            advantages[n] = error + gamma * gae_lambda * advantages[after]


# The boundary in front of compiled code


def checked_seats(seats: np.ndarray, shape: tuple[int, ...], players: int) -> np.ndarray:
    """Return seats as compiled code takes them; raise SeatError if there is no such seat."""
    given = np.asarray(seats)
    checked = checked_array("seats", given, shape, np.int8)
    wrong = given[(given < NOBODY) | (given >= players)]
    if wrong.size:
        raise SeatError(f"seats are 0 to {players - 1}, or {NOBODY} for nobody, not {wrong[0]}")
    return checked


def checked_ends(ends: np.ndarray, cuts: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Return whether moves ended an episode as compiled code takes it."""
    how = checked_array("ends", ends, shape, np.bool_) * np.int8(OVER)
    if cuts is not None:
        how[checked_array("cuts", cuts, shape, np.bool_) & (how == GOES_ON)] = CUT
    return how


def checked_array(
    name: str, array: np.ndarray, shape: tuple[int, ...], dtype: type[np.generic]
) -> np.ndarray:
    """Return an array as compiled code takes it; raise OptionError if it is another kind."""
    given = np.asarray(array)
    kinds = {np.float32: "fiu", np.int8: "iu", np.bool_: "b"}[dtype]
    if given.shape != shape or given.dtype.kind not in kinds:
        what = {np.float32: "numbers", np.int8: "whole numbers", np.bool_: "bools"}[dtype]
        raise OptionError(
            f"{name} must be {what} of shape {shape}, not {given.dtype} of shape {given.shape}"
        )
    return np.ascontiguousarray(given, dtype)


def check_discounts(gamma: float, gae_lambda: float) -> None:
    """Raise OptionError unless both discounts are from 0 to 1."""
    for name, given in (("gamma", gamma), ("gae_lambda", gae_lambda)):
        if not 0 <= (-1 if (number := finite(given)) is None else number) <= 1:
            raise OptionError(f"{name} must be a number from 0 to 1, not {shown(given)}")
