"""`flat_belief`: an encoder that adds to `flat` where every hidden tile may be.

What draws and passes tell of the hidden tiles is exact, but not easy to learn: a network that reads
it need not count worlds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.belief.marginals import fill_marginals
from fiveup_env.belief.structs import BELIEF, BONEYARD, Beliefs
from fiveup_env.encoders import Piece, register_encoder
from fiveup_env.encoders.flat import FLAT_PIECES, FLAT_SIZE, write_flat
from fiveup_env.encoders.pieces import CompiledEncoder
from fiveup_env.engine.state import PLAYING, Views, next_seat
from fiveup_env.native import Array, Int8Rows, Struct, compiled, inlined, signed
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

CERTAIN: Final = 64  # the entry of a tile that is there in every world
ROUNDING: Final = 1e-9  # of a sum of probabilities
PLACES: Final = MAX_PLAYERS  # the other seats, and the boneyard
BELIEF_PIECE: Final = Piece(
    "belief",
    (PLACES, TILE_COUNT),
    0,
    CERTAIN,
    f"the probability of every hidden tile, in {CERTAIN}ths, to be in the hand of each other seat, "
    f"the next one first, or in the boneyard, which is last: 0 is impossible, {CERTAIN} certain; "
    "all 0 after the end of a hand",
)


class FlatBelief(CompiledEncoder):
    """Everything that a player can know, and what follows for every hidden tile."""

    name, version, pieces = "flat_belief", 1, (*FLAT_PIECES, BELIEF_PIECE)

    def encode_unchecked(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        _write(views, np.zeros(1, BELIEF), rows)


@compiled
def _write(views: Views, beliefs: Beliefs, rows: Int8Rows) -> None:
    shares = np.zeros((BONEYARD + 1, TILE_COUNT))
    for r in range(len(views)):
        write_flat(views[r], rows, r, 0)
        for place in range(PLACES):
            for tile in range(TILE_COUNT):
                rows[r, FLAT_SIZE + place * TILE_COUNT + tile] = 0
        shares[:] = 0
        playing = views[r].public.phase == PLAYING
        if playing and fill_marginals(views[r : r + 1], beliefs, shares):
            _write_belief(views[r], shares, rows, r)


@inlined
def _write_belief(view: Struct, shares: Array, rows: Array, r: int) -> None:
    """Write the probabilities, with seats counted from the observer."""
    rules, holder = view.public.rules, signed(view.seat)
    for place in range(rules.players):
        holder = BONEYARD if place == rules.players - 1 else next_seat(rules, holder)
        at = FLAT_SIZE + TILE_COUNT * (PLACES - 1 if holder == BONEYARD else place)
        for tile in range(TILE_COUNT):
            rows[r, at + tile] = _entry_of(shares[holder, tile])


@inlined
def _entry_of(share: float) -> int:
    """Return a probability as it is encoded, which tells the impossible and the certain apart."""
    if share <= 0:
        return 0
    if share > 1 - ROUNDING:
        return CERTAIN
    return max(1, min(CERTAIN - 1, int(np.rint(share * CERTAIN))))


register_encoder(FlatBelief())
