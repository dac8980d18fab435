"""Encoders show everything that a player can know, and nothing that it cannot."""

from __future__ import annotations

import copy
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fiveup_env import MOVES, TILES, Batch, Game, Piece, get_encoder, register_encoder
from fiveup_env.encoders import ENCODERS, bounds, offsets, piece_of, row_size, table_of
from fiveup_env.encoders.truth import TRUTH_PIECES
from fiveup_env.errors import EncoderError
from tests.library.test_engine_against_reference import any_rules
from tests.support import game_of, play_randomly, push_all, shuffled_hidden

thorough = settings(max_examples=80, suppress_health_check=list(HealthCheck))


def row_of(game: Game, seat: int, name: str = "flat") -> np.ndarray:
    encoder = get_encoder(name)
    row = np.full((1, row_size(encoder)), 99, np.int8)
    encoder.encode(game.view(seat), row)
    return row[0]


def piece(game: Game, seat: int, name: str) -> Any:
    return piece_of(get_encoder("flat"), name, row_of(game, seat)).tolist()


@thorough
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_permuting_hidden_tiles_changes_nothing_that_is_observed(rules: Any, seed: int) -> None:
    random = Random(seed)
    game = play_randomly(Game(rules, seed=seed), random, random.randrange(80))
    if game.outcome():
        return
    for seat in range(rules.players):
        hidden = shuffled_hidden(game, seat, random)
        for name in ENCODERS:
            assert (row_of(hidden, seat, name) == row_of(game, seat, name)).all()
        if seat == game.turn:
            assert (hidden.action_mask() == game.action_mask()).all()


@thorough
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_every_entry_stays_within_its_bounds(rules: Any, seed: int) -> None:
    random = Random(seed)
    game = play_randomly(Game(rules, seed=seed), random, random.randrange(120))
    for name, encoder in ENCODERS.items():
        low, high = bounds(encoder)
        for seat in range(rules.players):
            row = row_of(game, seat, name)
            wrong = np.flatnonzero((row < low) | (row > high))
            assert not len(wrong), [
                p.name for p, start in offsets(encoder.pieces) if start <= wrong[0]
            ][-1]


def public_facts(game: Game, seat: int) -> tuple[Any, ...]:
    """Return the facts that `flat` promises to show, read off the game by other means."""
    state = game.state[0]
    public = state["public"]
    players = game.rules.players
    around = [(seat + k) % players for k in range(players)]
    played = {
        MOVES[a].tile: int(s)
        for a, s in zip(public["play_action"], public["play_seat"], strict=True)
        if a >= 0
    }
    lacks = []
    for other in around:
        for pip in range(7):
            ply = int(public["lack_ply"][other, pip])
            drawn = public["draws"][other] - public["lack_draws"][other, pip]
            lacks.append((ply >= 0) and (int(public["plies"]) - ply, int(drawn)))
    return (
        game.rules,
        game.hand_of(seat),
        tuple(sorted((str(tile), around.index(s)) for tile, s in played.items())),
        game.layout,
        tuple(len(game.hand_of(s)) for s in around),
        tuple(int(public["draws"][s]) for s in around),
        game.boneyard_count,
        tuple(lacks),
        tuple(game.scores[game.rules.side_of(s)] for s in around),
        around.index(game.turn or 0),
        around.index(game.lead),
        int(public["passes"]),
    )


def test_situations_that_differ_in_any_public_fact_never_encode_alike() -> None:
    rows: dict[bytes, tuple[Any, ...]] = {}
    for seed in range(120):
        random = Random(seed)
        rules: dict[str, Any] = {"players": 2 + seed % 4, "teams": False, "max_pip": 3 + seed % 4}
        rules["hand_size"] = 2
        game = Game("five_up", **rules, seed=seed, reserve=seed % 3, exact_target=bool(seed % 2))
        for _ in range(120):
            if game.outcome():
                break
            seat = random.randrange(game.rules.players)
            facts = public_facts(game, seat)
            assert rows.setdefault(row_of(game, seat).tobytes(), facts) == facts
            play_randomly(game, random, 1)
    assert len(rows) > 5_000


def test_a_position_that_somebody_read() -> None:
    game = game_of("6-4 4-1 2-2", "1-1 3-2 5-3", "5-5 6-0 3-3", top="2-0 0-0 6-1")
    push_all(game, "6-4")
    # Seat 1 had neither 6 nor 4 and drew 2-0, 0-0 and 6-1.
    assert game.turn == 1
    assert piece(game, 1, "sizes") == [6, 3, 2, 0, 0]
    assert piece(game, 1, "draws") == [3, 0, 0, 0, 0]
    assert piece(game, 1, "lacks")[0] == [0, 0, 0, 0, 1, 0, 1]
    assert piece(game, 1, "lacks_age")[0] == [0] * 7
    assert piece(game, 1, "plain_ends") == [0, 0, 0, 0, 1, 0, 1]
    assert piece(game, 1, "total") == [10]
    assert piece(game, 1, "total_modulo")[:5] == [1, 0, 0, 0, 0]
    assert piece(game, 1, "turn") == [1, 0, 0, 0, 0]
    assert piece(game, 1, "lead") == [0, 0, 1, 0, 0]
    assert piece(game, 1, "to_go") == [[0, 61], [0, 61], [0, 59], [0, 0], [0, 0]]
    assert [TILES[k].__str__() for k in np.flatnonzero(piece(game, 1, "hand"))] == [
        "0-0", "1-1", "2-0", "3-2", "5-3", "6-1",
    ]  # fmt: skip
    plays = np.array(piece(game, 1, "plays"))
    # 6-1 on the 6 makes 4 + 1 = 5: one point, written as 2.
    assert {str(MOVES[k]): int(plays[k]) for k in np.flatnonzero(plays)} == {"6-1@6": 2}
    played = np.array(piece(game, 1, "played"))
    assert [(seat, str(TILES[tile])) for seat, tile in zip(*played.nonzero(), strict=True)] == [
        (2, "6-4")
    ]
    push_all(game, "6-1@6")
    assert piece(game, 0, "lacks")[1] == [0, 0, 0, 0, 1, 0, 1]
    assert piece(game, 0, "lacks_age")[1] == [0, 0, 0, 0, 1, 0, 1]


def test_what_was_lacked_before_a_later_draw_is_told_with_the_tiles_drawn_since() -> None:
    found = 0
    for seed in range(300):
        game = Game(seed=seed, players=2)
        random = Random(seed)
        for _ in range(25):
            if game.outcome():
                break
            for seat in (0, 1):
                other = 1 - seat
                public = game.view(seat)[0]["public"]
                drawn = [
                    int(p)
                    for p, s in zip(public["draw_ply"], public["draw_seat"], strict=True)
                    if s == other
                ]
                for pip in range(7):
                    ply = int(public["lack_ply"][other, pip])
                    if ply < 0:
                        continue
                    since = sum(p > ply for p in drawn)
                    assert piece(game, seat, "lacks_draws")[1][pip] == since
                    found += since > 0
                    held = sum(pip in tile for tile in game.hand_of(other))
                    assert held <= since + (game.turn == other)
            play_randomly(game, random, 1)
    assert found > 100


def test_actions_and_masks_agree_with_the_plays_piece() -> None:
    batch = Batch(64, ["five_up", "all_fives"], [2, 3, 4], draw="optional", seed=5)
    batch.reset()
    random = np.random.default_rng(0)
    for _ in range(300):
        plays = piece_of(batch.encoder, "plays", batch.observation)
        assert ((plays > 0) == (batch.mask > 0)).all()
        batch.step(batch.random_actions(random))


def test_plays_tell_what_each_action_would_score() -> None:
    random = Random(4)
    for seed in range(40):
        game = play_randomly(Game(seed=seed, unit=1), random, random.randrange(60))
        if game.outcome():
            continue
        plays = piece(game, game.turn or 0, "plays")
        for move in list(game.legal_moves):
            before = game.copy()
            before.push(move)
            step = list(before.steps())[-1]
            public = step.after[0]["public"]
            total = int(public["layout"]["total"])
            assert plays[move.action] == 1 + (total // 5 if total % 5 == 0 else 0)


def test_tokens_tell_the_history_in_order() -> None:
    game = game_of("6-4 4-1 2-2", "1-1 3-2 5-3", "5-5 6-0 3-3", top="2-0 0-0 6-1")
    push_all(game, "6-4 6-1@6")
    events = piece_of(get_encoder("tokens"), "events", row_of(game, 1, "tokens")).tolist()
    ids = {str(tile): tile.id for tile in TILES}
    assert events[:5] == [
        [1, 3, 1 + ids["6-4"], 0, 0, 0],
        [2, 1, 1 + ids["2-0"], 0, 0, 0],
        [2, 1, 1 + ids["0-0"], 0, 0, 0],
        [2, 1, 1 + ids["6-1"], 0, 0, 0],
        [1, 1, 1 + ids["6-1"], 7, 1, 2],
    ]
    theirs = piece_of(get_encoder("tokens"), "events", row_of(game, 0, "tokens")).tolist()
    assert [event[2] for event in theirs[1:4]] == [0, 0, 0]
    assert events[-1] == [0] * 6
    assert (row_of(game, 1, "tokens")[56 * 6 :] == row_of(game, 1)).all()


def test_an_encoder_from_outside_can_be_registered_and_chosen() -> None:
    class HandOnly:
        name = "hand_only"
        version = 1
        pieces = (Piece("hand", (28,), 0, 1, "the hand"),)

        def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
            rows[:] = views["hand"][:, None] >> np.arange(28, dtype=np.uint32) & 1

    register_encoder(HandOnly())
    try:
        batch = Batch(8, encoder="hand_only")
        batch.reset()
        assert (batch.observation.sum(1) == 5).all()
        with pytest.raises(EncoderError, match="already"):
            register_encoder(HandOnly())
    finally:
        del ENCODERS["hand_only"]
    with pytest.raises(EncoderError, match="is not an encoder"):
        register_encoder(copy)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["flat", "tokens"])
def test_the_page_on_encoding_lists_every_entry(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "encoding.md").read_text()
    public = table_of(get_encoder(name).pieces)
    if name == "tokens":
        public = table_of(get_encoder(name).pieces[:1])
    assert public in page
    assert table_of(TRUTH_PIECES) in page
