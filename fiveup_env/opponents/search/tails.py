"""The last tiles of a hand in one world, solved: best play by two sides that see every tile.

Values are those of playouts, a side's chance to win or its points, and so the search needs no
moves: alpha-beta over the hand's ends. It keeps its path in an array, because Numba cannot cache
recursive functions.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.compiled import Array, Struct, compiled, inlined, signed
from fiveup_env.engine.layout import total_after
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.opponents.search.outlook import hand_value
from fiveup_env.rules.actions import DRAW, PASS

MOST_MOVES: Final = 40  # of a tail with a choice
BEYOND: Final = 1e9  # no value is

# A position on the path of the search.
NODE = np.dtype(
    [
        ("game", GAME),
        ("alpha", np.float64),  # the value is exact between these bounds
        ("beta", np.float64),
        ("best", np.float64),  # the best value found, for the side to move
        ("own", np.bool_),  # whether that is the side whose value is asked for
        ("count", np.int64),  # how many actions are legal; 0 if the hand is over
        ("tried", np.int64),
        ("actions", np.int64, (PASS + 1,)),
    ],
    align=True,
)


@compiled
def solve_tail(
    game: Struct, before: Struct, side: int, chances: Array, nodes: Array, values: Array, at: int
) -> None:
    """Write a hand's value to one of two sides when both play their best, all tiles known.

    `before` and `chances` are those of `hand_value`; `nodes` has space for MOST_MOVES + 1.
    """
    depth = 0
    nodes[0].game = game
    _open(nodes[0], -BEYOND, BEYOND, side)
    while True:
        node = nodes[depth]
        if node.count > 0 and node.tried < node.count and node.alpha < node.beta:
            depth += 1
            nodes[depth].game = node.game
            play(nodes[depth].game, node.actions[node.tried])
            node.tried += 1
            _open(nodes[depth], node.alpha, node.beta, side)
            continue
        value = node.best if node.count > 0 else hand_value(node.game.public, before, side, chances)
        if depth == 0:
            values[at] = value
            return
        depth -= 1
        node = nodes[depth]
        if node.own:
            node.best, node.alpha = max(node.best, value), max(node.alpha, value)
        else:
            node.best, node.beta = min(node.best, value), min(node.beta, value)


@inlined
def _open(node: Struct, alpha: float, beta: float, side: int) -> None:
    """Make the moves that leave no choice, and list the first actions that do, by their points."""
    public = node.game.public
    node.alpha, node.beta, node.tried, node.count = alpha, beta, 0, 0
    while public.phase == PLAYING:
        node.count = list_legal(public, node.game.hands[public.turn], node.actions)
        if node.count > 1:
            break
        play(node.game, node.actions[0])
        node.count = 0
    node.own = side_of(public.rules, public.turn) == side
    node.best = -BEYOND if node.own else BEYOND
    for k in range(1, node.count):
        action, j = node.actions[k], k
        while j > 0 and _points(public, node.actions[j - 1]) < _points(public, action):
            node.actions[j] = node.actions[j - 1]
            j -= 1
        node.actions[j] = action


@inlined
def _points(public: Struct, action: int) -> int:
    if action >= DRAW:
        return -1
    return signed(FIVES[public.rules.multiple, total_after(public.layout, action)])
