"""Windows of play as decisions of one seat after the other, for any learner.

window = SeatTrajectories(ticks=64, games=len(batch), players=2)
while learning:
    while not window.is_full:
        window.decide(batch.turn, row=batch.observation, action=actions, value=values)
        batch.step(actions)
        window.reward(batch.reward, batch.terminated)
    learn(window.take())
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.errors import OptionError, WrongMomentError, shown
from fiveup_env.seats.advantages import (
    CUT,
    GOES_ON,
    NOBODY,
    OVER,
    check_discounts,
    checked_array,
    checked_ends,
    checked_seats,
    estimate,
    linked,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Decisions:
    """Decisions of one seat after the other: by games, then by seats, then by time.

    Attributes:
        columns: what was kept of each decision, by name [decisions, ...].
        games: the game that it was made in [decisions].
        seats: whose it is [decisions].
        rewards: what its seat received until its next decision, or until the end [decisions].
        following: the number of its seat's next decision, or OVER, or WAITING if that is in a later
            window, or CUT if the episode was cut off before it [decisions].
    """

    columns: dict[str, np.ndarray]
    games: np.ndarray
    seats: np.ndarray
    rewards: np.ndarray
    following: np.ndarray

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.seats)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a column."""
        return self.columns[name]

    @property
    def terminated(self) -> np.ndarray:
        """Whether the episode ended before the seat would have decided again [decisions]."""
        return self.following == OVER

    @property
    def known(self) -> np.ndarray:
        """Whether all is known that the seat received for it; others are not to be learnt from.

        Those that wait come again in the next window.
        """
        return self.following >= OVER

    def advantages(self, values: np.ndarray, gamma: float, gae_lambda: float) -> np.ndarray:
        """Return the generalised advantages of all decisions, 0 where they are not known.

        Raises OptionError as `seat_advantages` does.
        """
        check_discounts(gamma, gae_lambda)
        values = checked_array("values", values, self.seats.shape, np.float32)
        advantages = np.empty(len(self), np.float32)
        estimate(self.rewards, values, self.following, float(gamma), float(gae_lambda), advantages)
        return advantages


class SeatTrajectories:
    """A window of play in many games, tick by tick, and the decisions that wait from the last one.

    Args:
        ticks: The moves of a window, in every game.
        games: The number of games.
        players: The number of seats, in the games that have most.

    Raises:
        OptionError: If a number is not a positive one.
    """

    def __init__(self, ticks: int, games: int, players: int) -> None:
        """Begin the first window."""
        for name, given in (("ticks", ticks), ("games", games), ("players", players)):
            if whole(given, 1, 127 if name == "players" else 1 << 31) is None:
                raise OptionError(f"{name} must be a positive whole number, not {shown(given)}")
        length = players + ticks  # the first ticks are the decisions that wait, by seats
        self._rewards = np.zeros((length, games, players), np.float32)
        self._seats = np.full((length, games), NOBODY, np.int8)
        self._how = np.full((length, games), GOES_ON, np.int8)  # the moves ended episodes
        self._columns: dict[str, np.ndarray] = {}
        self._next, self._is_decided = players, False

    @property
    def is_full(self) -> bool:
        """Whether the window has all its ticks."""
        return self._next == len(self._seats)

    def decide(self, seats: np.ndarray, **columns: np.ndarray) -> None:
        """Keep copies of what is known of the decisions of a tick, before the move.

        Args:
            seats: The seat that decides, or NOBODY where the move is not learnt from [games].
            **columns: Whatever the learner needs, by the same names in every tick [games, ...].

        Raises:
            WrongMomentError: If the window is full, or the last tick has no rewards yet.
            SeatError: If there is no such seat.
            OptionError: If something has another shape than in the first tick.
        """
        if self.is_full or self._is_decided:
            missing = "take() its decisions" if self.is_full else "reward() the tick before"
            raise WrongMomentError(f"{missing} before another tick is decided")
        games, players = self._rewards.shape[1:]
        seats = checked_seats(seats, (games,), players)
        given = {name: np.asarray(column) for name, column in columns.items()}
        kinds = {name: (games, *column.shape[2:]) for name, column in self._columns.items()}
        shapes = {name: column.shape for name, column in given.items()}
        if (self._columns and shapes != kinds) or any(s[:1] != (games,) for s in shapes.values()):
            raise OptionError(f"columns must be {kinds or f'[{games}, ...]'}, not {shapes}")
        if not self._columns:
            self._allocate(given)
        self._seats[self._next] = seats
        for name, column in given.items():
            self._columns[name][self._next] = column
        self._is_decided = True

    def reward(self, rewards: np.ndarray, ends: np.ndarray, cuts: np.ndarray | None = None) -> None:
        """Keep what the moves of a tick brought, and where they ended an episode.

        Args:
            rewards: What the move brought each seat [games, players].
            ends: Whether it ended the episode, for all seats [games].
            cuts: Whether the episode was cut off instead [games].

        Raises:
            WrongMomentError: If nothing was decided before.
            OptionError: If the arrays are of other shapes.
        """
        if not self._is_decided:
            raise WrongMomentError("decide() comes before reward(), once in every tick")
        rewards = checked_array("rewards", rewards, self._rewards.shape[1:], np.float32)
        self._how[self._next] = checked_ends(ends, cuts, self._how.shape[1:])
        self._rewards[self._next] = rewards
        self._next, self._is_decided = self._next + 1, False

    def cut(self, games: np.ndarray) -> None:
        """Cut off the episodes of some games after the last tick, as where they begin anew.

        Episodes that ended with it are left alone. `games` says of each whether it is one [games].
        """
        last = self._how[self._next - 1]
        last[checked_array("games", games, last.shape, np.bool_) & (last == GOES_ON)] = CUT

    def take(self) -> Decisions:
        """Return the decisions so far, and begin the next window with those that wait.

        Raises WrongMomentError if the last tick has no rewards yet.
        """
        if self._is_decided:
            raise WrongMomentError("reward() the last tick before its decisions are taken")
        ticks, (games, players) = self._next, self._rewards.shape[1:]
        seats = self._seats[:ticks].ravel()
        received, following = np.empty(seats.size, np.float32), np.empty(seats.size, np.int32)
        waiting = linked(
            self._rewards[:ticks], self._seats[:ticks], self._how[:ticks], received, following
        )
        made = np.flatnonzero(seats != NOBODY)
        made = made[np.argsort(made % games * players + seats[made], kind="stable")]
        number = np.empty(seats.size, np.int32)
        number[made] = np.arange(len(made))
        after = following[made]
        taken = Decisions(
            {name: column[divmod(made, games)] for name, column in self._columns.items()},
            made % games,
            seats[made],
            received[made],
            np.where(after < 0, after, number[after]),
        )
        waiting.carry(self._rewards, self._seats, self._how, *self._columns.values())
        self._next = players
        return taken

    def state(self) -> dict[str, np.ndarray]:
        """Return copies of the decisions that wait, between two windows."""
        return {name: array.copy() for name, array in self._waiting().items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Begin with the decisions that another window's `state` returned."""
        prefix = "column."
        self._allocate(
            {name[len(prefix) :]: state[name][0] for name in state if name.startswith(prefix)}
        )
        for name, array in self._waiting().items():
            array[:] = state[name]

    def _waiting(self) -> dict[str, np.ndarray]:
        arrays = {f"column.{name}": column for name, column in self._columns.items()}
        arrays |= {"seats": self._seats, "rewards": self._rewards}
        return {name: array[: self._rewards.shape[2]] for name, array in arrays.items()}

    def _allocate(self, columns: Mapping[str, np.ndarray]) -> None:
        """Make the arrays of a window for columns such as those of a tick."""
        self._columns = {
            name: np.zeros((len(self._seats), *column.shape), column.dtype)
            for name, column in columns.items()
        }
