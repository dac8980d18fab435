"""Whose reward is whose: trajectories and advantages of seats that move in turn, for any learner.

advantages    `seat_advantages`: the advantages of a window's decisions, from its arrays
trajectories  `SeatTrajectories`: windows of play as decisions of one seat after the other
sb3           `SeatsRolloutBuffer`, with which Stable-Baselines3's PPO learns all seats
torchrl       `SeatsGAE`, with which TorchRL's losses do

A trajectory belongs to one seat, and its decisions are the moves of that seat alone. The reward of
a decision is all that its seat received until its next decision, or until the end. The only values
that enter are those of the same seat on its own turns. Nothing here knows dominoes: a game has
seats, of which one decides at a time, and every move may reward every seat.
"""

from fiveup_env.seats.advantages import NOBODY, SeatAdvantages, Waiting, seat_advantages
from fiveup_env.seats.trajectories import Decisions, SeatTrajectories

__all__ = [
    "NOBODY",
    "Decisions",
    "SeatAdvantages",
    "SeatTrajectories",
    "Waiting",
    "seat_advantages",
]
