"""`lookahead`: an encoder that also tells, for every allowed action, what the heuristics look at.

Sums modulo five over tiles that are not seen are hard to learn and cheap to count. Before all of
`flat`, a row has what `values.py` sees of every action.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.play.values import LOOKED_AT, NAMES, ROOM, look, unseen_by
from fiveup_env.actions import ACTION_COUNT, DRAW
from fiveup_env.compiled import Array, compiled
from fiveup_env.encoders import Piece, register_encoder
from fiveup_env.encoders.flat import FLAT_PIECES, write_flat
from fiveup_env.engine import list_legal

STEPS: Final = 24  # a look is told in so many steps to the point
MOST: Final = 127
LOOKS: Final = len(NAMES)


class Lookahead:
    """What the heuristics look at in every action, and all that a player can know."""

    name = "lookahead"
    version = 1
    pieces = (
        Piece(
            "looks",
            (ACTION_COUNT, LOOKS),
            0,
            MOST,
            f"for every allowed action, in {STEPS}ths of a point: {'; '.join(LOOKED_AT.values())}",
        ),
        *FLAT_PIECES,
    )

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        encode_lookahead(views, np.ones(LOOKS), np.zeros(1, ROOM), rows)


@compiled
def encode_lookahead(views: Array, weights: Array, rooms: Array, rows: Array) -> None:
    """Write a row for each view."""
    for r in range(len(views)):
        table, hand, room = views[r].table, views[r].hand, rooms[0]
        for entry in range(ACTION_COUNT * LOOKS):
            rows[r, entry] = 0
        if table.turn == views[r].seat:
            count = list_legal(table, hand, room.actions)
            unseen = unseen_by(table, hand)
            for k in range(count):
                action = room.actions[k]
                if action < DRAW:
                    look(table, hand, unseen, action, weights, room)
                    for name in range(LOOKS):
                        steps = int(np.rint(room.looks[name] * STEPS))
                        rows[r, action * LOOKS + name] = max(0, min(MOST, steps))
        write_flat(views[r], rows, r, ACTION_COUNT * LOOKS)


register_encoder(Lookahead())
