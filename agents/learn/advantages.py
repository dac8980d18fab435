"""Whose reward is whose: advantages of decisions that different seats made in turn.

A trajectory is one seat's. Its decisions are the moves of that seat alone; the reward of one is all
that the seat was given until its next, or until the end. Values are only ever those of the same
seat, when it was its turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fiveup_env.engine.compiled import Array, compiled

NOBODY = -1


class Advantages(NamedTuple):
    """What is known of every move [ticks x games], and which decisions still wait for more.

    Attributes:
        advantages: of every decision whose seat has moved again since, or whose end has come.
        known: whether it is one of those.
        waiting: the tick of each seat's decision that is none of those, or -1 [games x seats].
        since: what the seat was given since then [games x seats].
    """

    advantages: np.ndarray
    known: np.ndarray
    waiting: np.ndarray
    since: np.ndarray


def estimate(
    seats: np.ndarray,
    values: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> Advantages:
    """Generalised advantage estimation for every seat by itself.

    At each tick of a game `seats` says who made a decision (or nobody whom it is asked of),
    `values` what it was worth to that seat, `rewards` [ticks x games x seats] what the move brought
    each seat, and `ended` whether it ended the trajectories of all of them.
    """
    ticks, games, most = rewards.shape
    found = Advantages(
        np.zeros((ticks, games), np.float32),
        np.zeros((ticks, games), np.bool_),
        np.full((games, most), -1),
        np.zeros((games, most), np.float32),
    )
    _estimate(seats, values, rewards, ended, gamma, gae_lambda, *found)
    return found


@compiled
def _estimate(
    seats: Array,
    values: Array,
    rewards: Array,
    ended: Array,
    gamma: float,
    gae_lambda: float,
    advantages: Array,
    known: Array,
    waiting: Array,
    since: Array,
) -> None:
    """Go back through each game, with what every seat has coming to it from a tick on."""
    ticks, games, most = rewards.shape
    coming = np.zeros(most)  # rewards before the seat's next decision, or before the end
    value = np.zeros(most)  # of the next decision; 0 beyond the end
    advantage = np.zeros(most)  # of the next decision
    followed = np.zeros(most, np.bool_)  # a next decision or the end is in sight
    for game in range(games):
        coming[:], value[:], advantage[:], followed[:] = 0, 0, 0, False
        for tick in range(ticks - 1, -1, -1):
            if ended[tick, game]:
                coming[:], value[:], advantage[:], followed[:] = 0, 0, 0, True
            for seat in range(most):
                coming[seat] += rewards[tick, game, seat]
            seat = seats[tick, game]
            if seat == NOBODY:
                continue
            if followed[seat]:
                delta = coming[seat] + gamma * value[seat] - values[tick, game]
                advantage[seat] = delta + gamma * gae_lambda * advantage[seat]
                advantages[tick, game] = advantage[seat]
                known[tick, game] = True
            else:
                waiting[game, seat] = tick
                since[game, seat] = coming[seat]
            value[seat] = values[tick, game]
            coming[seat] = 0
            followed[seat] = True
