"""`lookahead`: an encoder that adds the heuristics' features of every allowed action.

Sums modulo five over unseen tiles are hard to learn but cheap to compute. A row begins with the
features of every action, as `fiveup_env.opponents.features` computes them; all of `flat` follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.encoders import Piece, register_encoder
from fiveup_env.encoders.flat import FLAT_PIECES, VERSIONS, write_flat
from fiveup_env.engine.compiled import Array, Struct, compiled, inlined
from fiveup_env.engine.legality import list_legal
from fiveup_env.opponents.features import (
    FEATURE_NAMES,
    FEATURES,
    SCRATCH,
    unseen_by,
    write_features,
)
from fiveup_env.rules.actions import ACTION_COUNT, DRAW

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS: Final = 24  # a feature of one point is encoded as this number
MOST: Final = 127
FEATURE_COUNT: Final = len(FEATURE_NAMES)
FEATURES_SIZE: Final = ACTION_COUNT * FEATURE_COUNT
PIECE: Final = Piece(
    "features",
    (ACTION_COUNT, FEATURE_COUNT),
    0,
    MOST,
    f"for every allowed action, in {STEPS}ths of a point: {'; '.join(FEATURES.values())}",
)


class Lookahead:
    """The heuristics' features of every action, and everything that a player can know."""

    name = "lookahead"

    def __init__(self, version: int = VERSIONS[-1]) -> None:
        self.version, self.pieces = version, (PIECE, *FLAT_PIECES[version])

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        _WRITERS[self.version](views, np.ones(FEATURE_COUNT), np.zeros(1, SCRATCH), rows)


def _writer(version: int) -> Callable[..., None]:
    """Return the compiled loop over views for one version."""

    @compiled
    def write(views: Array, weights: Array, scratches: Array, rows: Array) -> None:
        for r in range(len(views)):
            _write_features(views[r], weights, scratches[0], rows, r)
            write_flat(views[r], version, rows, r, FEATURES_SIZE)

    return write


@inlined
def _write_features(view: Struct, weights: Array, scratch: Struct, rows: Array, r: int) -> None:
    public, hand = view.public, view.hand
    for entry in range(FEATURES_SIZE):
        rows[r, entry] = 0
    if public.turn != view.seat:
        return
    count = list_legal(public, hand, scratch.actions)
    unseen = unseen_by(public, hand)
    for k in range(count):
        action = scratch.actions[k]
        if action < DRAW:
            write_features(public, hand, unseen, action, weights, scratch)
            for name in range(FEATURE_COUNT):
                steps = int(np.rint(scratch.features[name] * STEPS))
                rows[r, action * FEATURE_COUNT + name] = max(0, min(MOST, steps))


_WRITERS: Final = {version: _writer(version) for version in VERSIONS}

for _version in VERSIONS:
    register_encoder(Lookahead(_version))
