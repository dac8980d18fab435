"""The compiled loop of a chunk: make moves in many games, and count what they score."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np

from fiveup_env.engine.chance import deal
from fiveup_env.engine.play import begin_hand, play
from fiveup_env.engine.state import HAND_OVER, PLAYING, Games, side_of
from fiveup_env.native import (
    Array,
    Entries,
    Int8Rows,
    Int32Rows,
    Int64Rows,
    Int64s,
    Struct,
    compiled,
    inlined,
    signed,
)
from fiveup_env.rules.actions import DRAW
from fiveup_env.rules.tiles import TILE_COUNT

FIRST, SECOND, NOBODY = 0, 1, -1
MOST_HANDS = 1_000  # a game that nobody has won by then is decided by its scores
MOST_POINTS = 64  # of a hand, on the cribbage scale; totals beyond it, either way, are clipped

# Counts over all games of a chunk. Where the first axis is 2, it is the agent.
TALLY = np.dtype(
    [
        ("plies", np.int64, (2, TILE_COUNT)),  # how often it set the k-th tile of a hand
        ("ply_points", np.int64, (2, TILE_COUNT)),  # the points that these plays scored
        ("hand_points", np.int64, (2, 2 * MOST_POINTS + 1)),  # hands of its sides by points + 64
        ("hand_margins", np.int64, (2 * MOST_POINTS + 1,)),  # hands by the first's margin + 64
    ],
    align=True,
)
Tallies: TypeAlias = Annotated[np.ndarray, Entries(TALLY)]


@compiled
def queue_games(
    games: Games, going: Int64s, seated: Int8Rows, queues: Int64Rows
) -> tuple[int, int, int]:
    """Move the unfinished games to the front of `going`, and queue each for the agent to move.

    Return the number of unfinished games and the lengths of the two queues.
    """
    left = first = second = 0
    for k in range(len(going)):
        i = going[k]
        public = games[i].public
        if public.phase == PLAYING:
            going[left] = i
            left += 1
            if seated[i, public.turn] == FIRST:
                queues[FIRST, first] = i
                first += 1
            else:
                queues[SECOND, second] = i
                second += 1
    return left, first, second


@compiled
def advance(
    games: Games,
    games_i: Int64s,
    actions: Int64s,
    seated: Int8Rows,
    bases: Int32Rows,
    one_hand: bool,  # noqa: FBT001  (compiled functions take their arguments by position)
    tallies: Tallies,
) -> None:
    """Make legal moves and count what they score; deal the next hand where one ended.

    `bases` holds the sides' scores at the start of the hand, and is updated when a hand ends.
    """
    for k in range(len(games_i)):
        i = games_i[k]
        game = games[i]
        public, tally = game.public, tallies[0]
        ply, agent = public.plies, seated[i, public.turn]
        side = side_of(public.rules, public.turn)
        before = public.scores[side]
        play(game, actions[k])
        if actions[k] < DRAW:
            tally.plies[agent, ply] += 1
            tally.ply_points[agent, ply] += public.scores[side] - before - public.end_points[side]
        if public.phase != PLAYING:
            _count_hand(public, seated, bases, i, tally)
            if public.phase == HAND_OVER and not one_hand and public.hand_number + 1 < MOST_HANDS:
                public.hand_number += 1
                begin_hand(game, deal(game))


@inlined
def _count_hand(public: Struct, seated: Array, bases: Array, i: int, tally: Struct) -> None:
    """Count the points of a finished hand, and make its final scores the next one's bases."""
    sides, unit = public.rules.sides, public.rules.unit
    total = own = 0
    for side in range(sides):
        points = signed((public.scores[side] - bases[i, side]) // unit)
        bases[i, side] = public.scores[side]
        total += points
        if seated[i, side] == FIRST:
            own = points
        tally.hand_points[seated[i, side], _bin(points)] += 1
    margin = own - (total - own) / (sides - 1)
    tally.hand_margins[_bin(signed(np.floor(margin + 0.5)))] += 1


@inlined
def _bin(points: int) -> int:
    return min(max(points, -MOST_POINTS), MOST_POINTS) + MOST_POINTS
