"""An encoder of your own: 15 numbers instead of 557, for every interface.

An encoder turns views, which hold only what a seat may know, into rows of int8. Every piece of a
row has a name, a range and a description, from which its documentation is generated.
"""

from __future__ import annotations

import gymnasium
import numpy as np

from fiveup_env import TILES, Batch, Game, Piece, register_encoder
from fiveup_env.encoders import piece_of, row_size, table_of

HAS_PIP = np.array([[pip in (tile.high, tile.low) for pip in range(7)] for tile in TILES], np.int8)


class Suits:
    """For every pip, the tiles held and the open ends."""

    name = "suits"
    version = 1
    pieces = (
        Piece("held", (7,), 0, 7, "tiles of one's own hand that have the pip"),
        Piece("ends", (7,), 0, 7, "plain ends that show the pip"),
        Piece("total", (1,), 0, 127, "the total of all open ends"),
    )

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for every view."""
        layout = views["public"]["layout"]
        tiles = np.arange(len(TILES), dtype=np.uint32)
        rows[:, :7] = (views["hand"][:, None] >> tiles & 1) @ HAS_PIP
        rows[:, 7:14] = layout["plain"]
        rows[:, 14] = np.minimum(layout["total"], 127)


suits = Suits()
register_encoder(suits)
print(table_of(suits.pieces), "\n")

game = Game("five_up", players=2, seed=1)
for _ in range(4):
    game.push(next(iter(game.legal_moves)))
row = np.empty((1, row_size(suits)), np.int8)
suits.encode(game.view(), row)
print(game, "\n")
for piece in suits.pieces:
    print(f"{piece.name}: {piece_of(suits, piece.name, row)[0]}")

batch = Batch(1000, encoder="suits", seed=0)
batch.reset()
env = gymnasium.make("fiveup/FiveUp-v0", encoder="suits")
print(f"\nBatch: {batch.observation.shape}, Gymnasium: {env.observation_space.shape}")
