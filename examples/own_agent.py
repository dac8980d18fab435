"""An agent of your own, entered in the arena against agents of the library.

An agent is a dataclass whose fields are its options; one call chooses actions for many views.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fiveup_env import MOVES, Rules, get_encoder, legal_masks, register_agent
from fiveup_env.arena import Terms, Tournament, play_tournament, standings_of, standings_text
from fiveup_env.encoders import piece_of, row_size

FLAT = get_encoder("flat")
# The pips that leave the hand with each action.
WEIGHTS = np.array([move.tile.pips if move.tile else 0 for move in MOVES])


@dataclass(frozen=True)
class Heavy:
    """The heaviest tile, with each point that it scores counted as `point` pips."""

    point: float = field(default=0.0, metadata={"help": "pips that a point counts as"})

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        rows = np.empty((len(views), row_size(FLAT)), np.int8)
        FLAT.encode(views, rows)
        points = piece_of(FLAT, "plays", rows) - 1
        values = WEIGHTS + self.point * points + rng.random((len(views), len(MOVES)))
        return np.where(legal_masks(views), values, -np.inf).argmax(1)


register_agent("heavy", Heavy)


tournament = Tournament(
    agents=("random", "greedy", "heavy", "heavy:point=5"),
    terms=Terms(Rules.preset("five_up", players=4)),
    deals=100,
    seed=900_000,
)
print(standings_text(standings_of(play_tournament(tournament, cores=1))))
