"""Advantages of decisions that different seats made in turn, each from its own rewards.

A trajectory belongs to one seat, and its decisions are the moves of that seat alone. The reward of
a decision is everything that the seat received until its next decision, or until the end. The
only values that enter are those of the same seat on its own turns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fiveup_env.native import BoolRows, FloatRows, FloatTables, Int8Rows, Int64Rows, compiled

NOBODY = -1


class Advantages(NamedTuple):
    """The advantages of a window's decisions, and the decisions that cannot have one yet.

    Attributes:
        advantages: the advantage of every decision whose seat has decided again, or whose
            trajectory has ended; 0 elsewhere [ticks x games].
        known: whether there is such an advantage [ticks x games].
        waiting: the tick of each seat's last decision if that has no advantage yet, or -1
            [games x seats].
        since: the rewards of the seat since that tick [games x seats].
    """

    advantages: FloatRows
    known: BoolRows
    waiting: Int64Rows
    since: FloatRows


def estimate(
    seats: np.ndarray,
    values: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> Advantages:
    """Estimate generalised advantages, for every seat separately.

    For each tick and game, `seats` is the seat that made a decision, or NOBODY where the move is
    not learnt from; `values` is what that seat expected; `rewards` [ticks x games x seats] is what
    the move brought each seat; and `ended` is whether it ended the trajectories of all seats.
    """
    ticks, games, players = rewards.shape
    estimated = Advantages(
        np.zeros((ticks, games), np.float32),
        np.zeros((ticks, games), np.bool_),
        np.full((games, players), -1),
        np.zeros((games, players), np.float32),
    )
    _estimate(seats, values, rewards, ended, gamma, gae_lambda, estimated)
    return estimated


@compiled
def _estimate(
    seats: Int8Rows,
    values: FloatRows,
    rewards: FloatTables,
    ended: BoolRows,
    gamma: float,
    gae_lambda: float,
    estimated: Advantages,
) -> None:
    """Go backwards through each game, and write the estimates."""
    advantages, known, waiting, since = estimated
    ticks, games, players = rewards.shape
    # By seat, seen from the current tick:
    coming = np.zeros(players)  # the rewards before the next decision, or before the end
    value = np.zeros(players)  # the value of the next decision; 0 beyond the end
    advantage = np.zeros(players)  # the advantage of the next decision; 0 beyond the end
    followed = np.zeros(players, np.bool_)  # whether the window holds a next decision or the end
    for game in range(games):
        coming[:], value[:], advantage[:], followed[:] = 0, 0, 0, False
        for tick in range(ticks - 1, -1, -1):
            if ended[tick, game]:
                coming[:], value[:], advantage[:], followed[:] = 0, 0, 0, True
            for seat in range(players):
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
