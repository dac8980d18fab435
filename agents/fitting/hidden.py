"""Fit what plays tell of hidden tiles: `python -m agents.fitting.hidden`.

The model of `fiveup_env.opponents.heuristics.hidden` is fitted to positions of strong players'
games, such that the true places of the hidden tiles become likeliest by its chances: each number in
turn is moved up or down for as long as that helps, by steps that are halved when it does not.
"""

from __future__ import annotations

import sys
from typing import Final

import numpy as np

from agents.fitting.fitting import FITTING_SEED, POWER_SEED, played
from fiveup_env.belief import marginals
from fiveup_env.cli.shared import Parser, answer
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES
from fiveup_env.opponents.heuristics.hidden import (
    BONEYARD,
    HIDDEN,
    LAPSE,
    MODEL,
    WEIGHTS,
    fill_chances,
)
from fiveup_env.rules.tiles import TILE_COUNT

PLAYERS: Final = ("student", "policy:partners", "partner")
APART: Final = 8  # moves between the positions that are taken of a game
LEAST: Final = 1e-5  # what an impossible place counts as
HALVINGS: Final = 6


class Positions:
    """Views, and where their hidden tiles really are."""

    def __init__(self, seed: int, rounds: int) -> None:
        views, places = [], []
        for player in PLAYERS:
            for number, (batch, seen, _) in enumerate(played(player, seed, rounds)):
                if number % APART == 0:
                    views.append(seen.copy())
                    places.append(places_of(seen, batch.states["hands"]))
        self.views, self.places = np.concatenate(views), np.concatenate(places)
        self._chances = np.zeros(self.places.shape)

    def nats(self, model: np.ndarray) -> float:
        """Return the mean log likelihood of the true places of all tiles of a position."""
        weights = np.zeros(len(FEATURE_NAMES))
        weights[[FEATURE_NAMES.index(name) for name in MODEL]] = model[:-1]
        fill_chances(self.views, weights, model[-1], np.zeros(1, HIDDEN), self._chances)
        return self._mean(self._chances)

    def unread(self) -> float:
        """Return the same by the exact belief, which infers nothing from plays."""
        return self._mean(marginals(self.views))

    def _mean(self, chances: np.ndarray) -> float:
        true = np.maximum(LEAST, chances[self.places])
        return float(np.log(true).sum() / len(self.views))


def places_of(views: np.ndarray, hands: np.ndarray) -> np.ndarray:
    """Return whether a seat or the boneyard has a tile that a view does not show, for each."""
    chances = np.zeros((len(views), BONEYARD + 1, TILE_COUNT))
    fill_chances(views, WEIGHTS, LAPSE, np.zeros(1, HIDDEN), chances)
    unseen, places = chances.max(1) > 0, np.zeros(chances.shape, np.bool_)
    held = hands[:, :, None] >> np.arange(TILE_COUNT, dtype=np.uint32)
    places[:, :BONEYARD] = (held & 1).astype(np.bool_) & unseen[:, None]
    places[:, BONEYARD] = unseen & ~places.any(1)
    return places


def fit(positions: Positions, model: np.ndarray) -> np.ndarray:
    """Return the numbers by which the true places are likeliest, from some numbers on."""
    best, steps = positions.nats(model), np.abs(model) / 4
    for _ in range(HALVINGS):
        is_better = True
        while is_better:
            is_better = False
            for k, step in enumerate(steps):
                for change in (step, -step):
                    other = model.copy()
                    other[k] += change
                    nats = positions.nats(other)
                    if nats > best:
                        best, model, is_better = nats, other, True
                        break
        steps = steps / 2
    return model


def main() -> int:
    """Fit the model, and print it."""
    return answer("hidden", _run)


def _run() -> int:
    parser = Parser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=160, help="of moves in 256 games")
    options = parser.parse_args()
    start = np.array([*MODEL.values(), LAPSE])
    model = fit(Positions(FITTING_SEED, options.rounds), start)
    held_out = Positions(POWER_SEED, options.rounds)
    for name, number in zip((*MODEL, "lapse"), model, strict=True):
        print(f"{name}: {number:.3f}")
    unread = held_out.unread()
    for title, numbers in (("now", start), ("fitted", model)):
        print(f"{title}: {held_out.nats(numbers) - unread:.3f} nats of a position")
    return 0


if __name__ == "__main__":
    sys.exit(main())
