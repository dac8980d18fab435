"""`oddities(game)`: plays that no person would understand.

By a reference search another play was clearly as good, and it was better to look at: it scored
more; or as much, and gave the next player less; or as much, and let go of a double. Clearly, if no
part of the 95 % interval says otherwise: what is within noise does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.analysis.decisions import tried_in
from fiveup_env.analysis.trials import CHANCE, NORMAL, REFERENCE, Estimate, means_of
from fiveup_env.encoders import get_encoder, place_of, row_size
from fiveup_env.opponents.heuristics.features import DOUBLE, REPLY
from fiveup_env.opponents.networks.lookahead import FEATURE_COUNT, STEPS
from fiveup_env.rules.actions import DRAW, MOVES, Move
from fiveup_env.rules.fields import MAX_PLAYERS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from fiveup_env.game.game import Game
    from fiveup_env.opponents.agent import Agent

REASONS: Final = ("scored more", "gave the next player less", "let go of a double")
GIVEN: Final = 1.0  # points that the next player is expected to score more: what people see
_ENCODER: Final = get_encoder("lookahead")
_PLAYS, _FEATURES = (place_of(_ENCODER, piece)[1] for piece in ("plays", "features"))


@dataclass(frozen=True)
class Oddity:
    """A play, and another that was clearly as good and better to look at."""

    number: int  # of the move in the game
    seat: int
    move: Move
    other: Move
    reason: str  # what the other did, one of REASONS
    gain: Estimate  # the chance to win with the other less that with the move


def oddities(
    game: Game,
    seats: Container[int] = range(MAX_PLAYERS),
    reference: str | Agent = REFERENCE,
    seed: int = 0,
) -> Iterator[Oddity | None]:
    """Yield for every play of some seats that had a choice the oddity that it is, or None.

    Args:
        game: The game.
        seats: Whose plays.
        reference: A `pimc`, as `judge` takes it.
        seed: Names its worlds.
    """
    for tried in tried_in(game, reference, seed, seats):
        if tried.move.action >= DRAW:
            continue
        apart = tried.values[..., CHANCE] - tried.values[:, [tried.taken], CHANCE]
        gains, errors = means_of(apart)
        reasons = _reasons(tried.view, tried.actions, tried.move.action)
        reasons[gains < NORMAL * errors] = len(REASONS)
        best = np.lexsort((-gains, reasons))[0]
        if reasons[best] == len(REASONS):
            yield None
            continue
        yield Oddity(
            tried.number,
            tried.seat,
            tried.move,
            MOVES[tried.actions[best]],
            REASONS[reasons[best]],
            Estimate(float(gains[best]), float(errors[best])),
        )


def _reasons(view: np.ndarray, actions: np.ndarray, made: int) -> np.ndarray:
    """Return why each action looks better than one: an index of REASONS, or their number."""
    row = np.zeros((1, row_size(_ENCODER)), np.int8)
    _ENCODER.encode(view, row)
    points = row[0, _PLAYS].astype(int)
    features = row[0, _FEATURES].reshape(-1, FEATURE_COUNT) / STEPS
    gives, doubles = features[:, REPLY], features[:, DOUBLE]
    as_much = points[actions] == points[made]
    return np.select(
        [
            actions >= DRAW,
            points[actions] > points[made],
            as_much & (gives[actions] <= gives[made] - GIVEN),
            as_much & (doubles[actions] > doubles[made]) & (gives[actions] <= gives[made]),
        ],
        [len(REASONS), 0, 1, 2],
        len(REASONS),
    )
