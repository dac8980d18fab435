"""The encoder of the heuristics' features and of what the others' plays tell."""

from __future__ import annotations

import numpy as np
import pytest

from fiveup_env import Batch, Game
from fiveup_env.encoders import bounds, piece_of, row_size
from fiveup_env.opponents.heuristics.hidden import HIDDEN, LAPSE, WEIGHTS, fill_chances
from fiveup_env.opponents.networks.lookahead import CERTAIN, FEATURES_SIZE, STEPS, Lookahead
from tests.support import game_of, push_all, random_views

ENCODER = Lookahead()


def rows_of(views: np.ndarray) -> np.ndarray:
    rows = np.full((len(views), row_size(ENCODER)), 99, np.int8)
    ENCODER.encode(views, rows)
    return rows


def test_features_are_those_of_the_heuristics() -> None:
    game = push_all(game_of("2-1 1-0", "3-1 3-3", max_pip=3), "2-1")
    features = piece_of(ENCODER, "features", rows_of(game.view()))[0]
    (action,) = (move.action for move in game.legal_moves)
    # 3-1 on the 1 makes 5: a point, 4 pips, no double; 3-3 is kept and fits, as do four unseen tiles.
    points, _, pips, double, follow, control, *_ = features[action] / STEPS
    assert (points, double, follow) == (1, 0, 0)
    assert pips == pytest.approx(4 / 5, abs=0.5 / STEPS)
    assert control == pytest.approx(1 / 5, abs=0.5 / STEPS)
    assert (np.delete(features, action, 0) == 0).all()


def test_rows_keep_their_bounds_and_hold_flat() -> None:
    batch = Batch(60, ["five_up", "all_fives", "muggins"], [2, 3, 4, 5], seed=3)
    rng = np.random.default_rng(0)
    batch.reset()
    low, high = bounds(ENCODER)
    flat = slice(FEATURES_SIZE, FEATURES_SIZE + batch.observation.shape[1])
    for _ in range(40):
        rows = rows_of(batch.views())
        assert (low <= rows).all()
        assert (rows <= high).all()
        assert np.array_equal(rows[:, flat], batch.observation)
        assert not piece_of(ENCODER, "features", rows)[batch.action_mask == 0].any()
        batch.step(batch.random_actions(rng))


def test_a_seat_out_of_turn_has_no_features() -> None:
    game = Game(seed=1)
    other = (int(game.turn or 0) + 1) % 4
    assert not piece_of(ENCODER, "features", rows_of(game.view(other))).any()


def test_chances_are_those_of_the_others_the_next_seat_first() -> None:
    for players in (2, 3, 4, 5):
        views = random_views(20, 12, [players])
        chances, told = np.zeros((len(views), 6, 28)), piece_of(ENCODER, "chances", rows_of(views))
        fill_chances(views, WEIGHTS, LAPSE, np.zeros(1, HIDDEN), chances)
        for i, view in enumerate(views):
            for k in range(4):
                seat = (int(view["seat"]) + 1 + k) % players
                expected = chances[i, seat] * CERTAIN if k < players - 1 else np.zeros(28)
                assert np.array_equal(told[i, k], np.rint(expected))
        assert told.any()
