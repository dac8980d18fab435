"""Any course of games whose seats move in turn, and what each decision is worth, seat by seat."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from fiveup_env.seats import NOBODY

PLAYERS = 3


class Course(NamedTuple):
    """What happened in some games, tick by tick."""

    rewards: np.ndarray
    values: np.ndarray
    seats: np.ndarray
    ends: np.ndarray
    cuts: np.ndarray

    @property
    def window(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """All but the cuts."""
        return self.rewards, self.values, self.seats, self.ends


def course_of(rng: np.random.Generator, ticks: int, games: int) -> Course:
    """Return any course, in whole numbers, so that sums are exact."""
    shape = ticks, games
    return Course(
        rng.integers(-8, 9, (*shape, PLAYERS)).astype(np.float32),
        rng.integers(-8, 9, shape).astype(np.float32),
        rng.integers(NOBODY, PLAYERS, shape),
        rng.random(shape) < 0.2,
        rng.random(shape) < 0.1,
    )


@st.composite
def courses(draw: st.DrawFn) -> Course:
    """Draw any course: of any seats, twice in a row too, with moves that nobody decided."""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    course = course_of(rng, draw(st.integers(1, 40)), draw(st.integers(1, 3)))
    if draw(st.booleans()):
        course.ends[:] = False
    if draw(st.booleans()):
        course.cuts[:] = False
    return course


class Decided(NamedTuple):
    """A decision, and what came of it."""

    tick: int
    game: int
    seat: int
    received: float
    next_tick: int | None  # of its seat's next decision
    ended: int | None  # the tick at which the episode ended before that


def decisions_of(course: Course) -> list[Decided]:
    """Return all decisions, in the plainest way: by games, by seats, by time.

    What neither goes on nor has ended still waits, or was cut off.
    """
    rewards, _, seats, ends, cuts = course
    ticks, games = seats.shape
    made = []
    for game in range(games):
        for seat in range(PLAYERS):
            for tick in range(ticks):
                if seats[tick, game] != seat:
                    continue
                received, next_tick, ended = 0.0, None, None
                for later in range(tick, ticks):
                    if later > tick and seats[later, game] == seat:
                        next_tick = later
                        break
                    received += float(rewards[later, game, seat])
                    if ends[later, game]:
                        ended = later
                        break
                    if cuts[later, game]:
                        break
                made.append(Decided(tick, game, seat, received, next_tick, ended))
    return made


def advantages_of(
    course: Course, gamma: float, gae_lambda: float, cut: int | None = None
) -> dict[tuple[int, int], float]:
    """Return the advantages of all decisions that have one, by tick and game.

    With a cut between two windows, a decision adds the later errors of its own window alone: of
    that in which its seat decided again, or the episode ended.
    """

    def window(one: Decided) -> bool:
        known_at = one.next_tick if one.ended is None else one.ended
        assert known_at is not None
        return cut is not None and known_at >= cut

    known = {
        (one.tick, one.game): one
        for one in decisions_of(course)
        if not (one.next_tick is None and one.ended is None)
    }
    advantages: dict[tuple[int, int], float] = {}
    for (tick, game), one in sorted(known.items(), reverse=True):
        found = one.received - float(course.values[tick, game])
        if one.next_tick is not None:
            found += gamma * float(course.values[one.next_tick, game])
            after = known.get((one.next_tick, game))
            if after and window(after) == window(one):
                found += gamma * gae_lambda * advantages[one.next_tick, game]
        advantages[tick, game] = found
    return advantages
