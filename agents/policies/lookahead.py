"""`lookahead`: an encoder that adds the heuristics' features of every allowed action.

Sums modulo five over unseen tiles are hard to learn but cheap to compute. A row begins with the
features of every action, as `fiveup_env.opponents.features` computes them; all of `flat` follows.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.encoders import Piece, register_encoder
from fiveup_env.encoders.flat import FLAT_PIECES, write_flat
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.engine.legality import list_legal
from fiveup_env.opponents.features import (
    FEATURE_NAMES,
    FEATURES,
    SCRATCH,
    unseen_by,
    write_features,
)
from fiveup_env.rules.actions import ACTION_COUNT, DRAW

STEPS: Final = 24  # a feature of one point is encoded as this number
MOST: Final = 127
FEATURE_COUNT: Final = len(FEATURE_NAMES)


class Lookahead:
    """The heuristics' features of every action, and everything that a player can know."""

    name = "lookahead"
    version = 1
    pieces = (
        Piece(
            "features",
            (ACTION_COUNT, FEATURE_COUNT),
            0,
            MOST,
            f"for every allowed action, in {STEPS}ths of a point: {'; '.join(FEATURES.values())}",
        ),
        *FLAT_PIECES,
    )

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        encode_lookahead(views, np.ones(FEATURE_COUNT), np.zeros(1, SCRATCH), rows)


@compiled
def encode_lookahead(views: Array, weights: Array, scratches: Array, rows: Array) -> None:
    """Write a row for each view."""
    for r in range(len(views)):
        public, hand, scratch = views[r].public, views[r].hand, scratches[0]
        for entry in range(ACTION_COUNT * FEATURE_COUNT):
            rows[r, entry] = 0
        if public.turn == views[r].seat:
            count = list_legal(public, hand, scratch.actions)
            unseen = unseen_by(public, hand)
            for k in range(count):
                action = scratch.actions[k]
                if action < DRAW:
                    write_features(public, hand, unseen, action, weights, scratch)
                    for name in range(FEATURE_COUNT):
                        steps = int(np.rint(scratch.features[name] * STEPS))
                        rows[r, action * FEATURE_COUNT + name] = max(0, min(MOST, steps))
        write_flat(views[r], rows, r, ACTION_COUNT * FEATURE_COUNT)


register_encoder(Lookahead())
