"""Three ways to learn the opposite: what is usually done with the rewards of seats that take turns.

In each toy game two seats move in turn, and a row is a move: whose it is, what it brought either
seat, and what the mover expected. The advantage of one decision comes out with the wrong sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fiveup_env.seats import seat_advantages


def advantage(moves: list[Any], tick: int) -> float:
    """Return the advantage of a decision in a game that ends with its last move."""
    seats, first, second, values = map(np.array, zip(*moves, strict=True))
    ends = np.arange(len(moves)) == len(moves) - 1
    window = np.stack([first, second], 1)[:, None], values[:, None], seats[:, None], ends[:, None]
    return float(seat_advantages(*window, gamma=1.0, gae_lambda=0.0).advantages[tick, 0])


# 1. A reward that arrives with the next observation is kept beside it: there it is another seat's.
scored = [(0, 0, 0, 0.0), (1, -1, 1, 0.0), (0, 0, 0, 0.0), (1, -1, 1, 0.0)]
beside = [(0, 0, 0, 0.0), (1, 0, 0, 0.0), (0, 1, -1, 0.0), (1, 0, 0, 0.0)]
print("the move of seat 0 that lets seat 1 score again:", end=" ")
print(f"{advantage(scored, 2):+.1f}, beside the next observation {advantage(beside, 2):+.1f}")

# 2. Only who moves is rewarded, so who loses by another's move never hears of it.
lost = [(0, 0, 0, -0.2), (1, 0, 0, 0.2), (0, 0, 0, -0.5), (1, -1, 1, 0.5)]
unheard = [(seat, (seat == 0) * a, (seat == 1) * b, value) for seat, a, b, value in lost]
print("the last move of seat 0, which loses:", end=" ")
print(f"{advantage(lost, 2):+.1f}, when only the mover is rewarded {advantage(unheard, 2):+.1f}")

# 3. The next row's value is added, though it is what the opponent expects.
behind = [(0, 0, 0, 0.0), (1, 0, 0, 0.6), (0, 0, 0, -0.6), (1, -1, 1, 0.6)]
one_player = [(0, a if seat == 0 else b, 0, value) for seat, a, b, value in behind]
print("the first move of seat 0, after which it stands worse:", end=" ")
print(f"{advantage(behind, 0):+.1f}, by the opponent's value {advantage(one_player, 0):+.1f}")
