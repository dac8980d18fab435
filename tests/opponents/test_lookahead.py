"""The encoder of the heuristics' features and of what the others' plays tell."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from fiveup_env import TILES, Batch, Game, Move, Rules, Tile
from fiveup_env.encoders import bounds, piece_of, row_size
from fiveup_env.opponents.networks.lookahead import FEATURES_SIZE, STEPS, Lookahead
from tests.engines.reference import Reference
from tests.engines.test_engine_against_reference import in_reference, pips
from tests.support import game_of, label, push_all

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


# --- What the others' plays tell


class Observer:
    """Follows a hand on the reference of the rules, and notes what every tile would have scored."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.game, fields = Game(rules, seed=seed), rules.fields()
        self.reference = Reference(fields, rules.players, rules.teams)
        hands = [[pips(tile) for tile in self.game.hand_of(k)] for k in range(rules.players)]
        order = [TILES[tile] for tile in self.game.state()["order"][0] if tile >= 0]
        self.reference.deal(hands, [pips(tile) for tile in order], self.game.lead)
        self.notes: list[tuple[int, Tile, int]] = []  # seat, a tile that would fit, points forgone

    def push(self, move: Move) -> None:
        """Make a move; what was noted of a seat that draws, forced or not, is void."""
        seat, before = int(self.game.turn or 0), self.reference
        if move.tile is not None:
            scored = self._points(in_reference(move))
            for tile in TILES:
                if best := [self._points(play) for play in self._plays(seat, tile)]:
                    self.notes.append((seat, tile, max(0, max(best) - scored)))
        self.game.push(move)
        self.reference = after = before.copy()
        after.play(in_reference(move))
        passes = [entry for entry in after.log[len(before.log) :] if entry["play"] is None]
        drawers = {entry["player"] for entry in passes if entry["draws"]}
        drawers |= {after.turn} if after._draws else set()
        self.notes = [note for note in self.notes if note[0] not in drawers]

    def _plays(self, seat: int, tile: Tile) -> list[Any]:
        """How the seat to move could set a tile, if it had that one alone."""
        twin = self.reference.copy()
        twin.hands[seat] = [pips(tile)]
        return sorted(twin._plays(), key=str)

    def _points(self, play: Any) -> int:
        """What a play scores, in units."""
        twin, multiple = self.reference.copy(), self.game.rules.multiple
        twin._attach(*play)
        return twin.total // multiple if twin.total % multiple == 0 else 0

    def pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """What a row should say to the seat to move: how often passed over, and points forgone."""
        me, players = int(self.game.turn or 0), self.game.rules.players
        passed, forgone = np.zeros((2, 4, 28), int)
        known = {*self.game.hand_of(me), *(move.tile for move in self.game.plays)}
        for seat, tile, points in self.notes:
            if seat != me and tile not in known:
                place = (seat - me) % players - 1, tile.id
                passed[place] += 1
                forgone[place] = max(forgone[place], points)
        return passed, forgone


EVIDENCE_RULES = [
    Rules.preset("five_up", 4),
    Rules.preset("all_fives", 3, draw="optional"),
    Rules.preset("muggins", 2, lead_tile="highest_double"),
]


@pytest.mark.parametrize("rules", EVIDENCE_RULES, ids=label)
def test_what_others_passed_over_is_what_the_reference_of_the_rules_says(rules: Rules) -> None:
    points = 0
    for seed in range(4):
        observer, random = Observer(rules, seed), Random(seed)
        while observer.game.hand_number == 0 and not observer.game.outcome():
            row = rows_of(observer.game.view())
            passed, forgone = observer.pieces()
            assert np.array_equal(piece_of(ENCODER, "passed_over", row)[0], passed)
            assert np.array_equal(piece_of(ENCODER, "forgone", row)[0], forgone)
            points += forgone.sum()
            observer.push(random.choice(list(observer.game.legal_moves)))
    assert points > 30
