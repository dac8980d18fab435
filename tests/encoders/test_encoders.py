"""Encoders show everything that a player can know, and nothing that it cannot."""

from __future__ import annotations

import copy
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fiveup_env import (
    MOVES,
    TILES,
    Batch,
    Game,
    Piece,
    Rules,
    Tile,
    env,
    get_encoder,
    register_encoder,
)
from fiveup_env.belief import BONEYARD, marginals
from fiveup_env.encoders import ENCODERS, bounds, piece_of, row_size, rows_of, table_of
from fiveup_env.encoders.truth import TRUTH_PIECES, TRUTH_SIZE, write_truths
from fiveup_env.envs.rows import RowSpace
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import EncoderError
from fiveup_env.rules.fields import CHOICES, MAX_TARGET
from tests.engines.test_engine_against_reference import any_rules
from tests.own_encoders import COUNTS, PLACE
from tests.support import game_of, hidden_otherwise, impossible_view, play_randomly, push_all

if TYPE_CHECKING:
    from collections.abc import Iterator

thorough = settings(max_examples=80, suppress_health_check=list(HealthCheck))


FLAT = get_encoder("flat")


def encoded(view: np.ndarray, name: str) -> np.ndarray:
    encoder = get_encoder(name)
    row = np.full((1, row_size(encoder)), 99, np.int8)
    encoder.encode(view, row)
    return row[0]


def row_of(game: Game, seat: int, name: str = "flat") -> np.ndarray:
    return encoded(game.view(seat), name)


def piece(game: Game, seat: int, name: str) -> Any:
    return piece_of(FLAT, name, row_of(game, seat)).tolist()


@pytest.mark.compiled
@thorough
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_entries_stay_within_bounds_and_say_nothing_of_hidden_tiles(rules: Any, seed: int) -> None:
    random = Random(seed)
    game = play_randomly(Game(rules, seed=seed), random, random.randrange(100))
    for seat in range(rules.players):
        hidden = None if game.outcome() else hidden_otherwise(game, random, seat)
        for name, encoder in ENCODERS.items():
            low, high = bounds(encoder)
            row = row_of(game, seat, name)
            wrong = np.flatnonzero((row < low) | (row > high))
            assert not len(wrong), name
            assert hidden is None or (row_of(hidden, seat, name) == row).all()
        if hidden and seat == game.turn:
            assert (hidden.action_mask() == game.action_mask()).all()


def public_facts(game: Game, seat: int) -> tuple[Any, ...]:
    """Return the facts that `flat` promises to show, read off the game by other means."""
    state = game.state()[0]
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
    rules = game.rules.fields() | {"target": -(-game.rules.target // game.rules.unit)}
    return (
        (players, game.rules.teams, *rules.values()),
        game.hand_of(seat),
        tuple(sorted((str(tile), around.index(s)) for tile, s in played.items())),
        game.layout(),
        tuple(len(game.hand_of(s)) for s in around),
        tuple(int(public["draws"][s]) for s in around),
        game.boneyard_count,
        tuple(lacks),
        tuple(game.scores[game.rules.side_of(s)] for s in around),
        around.index(game.turn or 0),
        around.index(game.lead),
        int(public["forced_lead"]),
        int(public["passes"]),
    )


@pytest.mark.compiled
def test_situations_that_differ_in_any_public_fact_never_encode_alike() -> None:
    rows: dict[bytes, tuple[Any, ...]] = {}
    for seed in range(80):
        random = Random(seed)
        rules: dict[str, Any] = {"players": 2 + seed % 4, "teams": False, "max_pip": 3 + seed % 4}
        rules |= {"hand_size": 2, "reserve": seed % 3, "draw": CHOICES["draw"][seed // 4 % 2]}
        if seed < 40:
            rules |= {"hand_end": "subtract_own", "exact_target": bool(seed % 2)}
        else:  # the hands alone decide, whatever the rules that are changed here
            rules |= {"hand_end": "winner_takes", "unit": 5, "target": 20 + seed % 2}
            rules["block_pays"] = CHOICES["block_pays"][seed // 8 % 2]
        for number, field in enumerate(
            ("round_per", "leader", "game_end", "spinners", "lead_tile")
        ):
            rules[field] = CHOICES[field][seed // 3 // (number + 1) % len(CHOICES[field])]
        game = Game("five_up", **rules, seed=seed // 2)
        for _ in range(120):
            if game.outcome():
                break
            seat = random.randrange(game.rules.players)
            facts = public_facts(game, seat)
            assert rows.setdefault(row_of(game, seat).tobytes(), facts) == facts
            play_randomly(game, random, 1)
    assert len(rows) > 2_500


def digits(row: Any) -> Any:
    """Return the numbers that are written as digits in base 128."""
    return (np.array(row) * 128 ** np.arange(2, -1, -1)).sum(-1).tolist()


@pytest.mark.parametrize("multiple", [2, 5, 12])
def test_units_still_needed_tell_all_targets_and_scores_apart(multiple: int) -> None:
    most = MAX_TARGET // multiple
    for units in (1, 12, 13, 128, 8_192, most):
        for target in ((units - 1) * multiple + 1, units * multiple):
            rules: dict[str, Any] = {"unit": multiple, "multiple": multiple, "target": target}
            view = Game("all_fives", players=2, **rules).view(0)
            for score in (0, units - 1, units, units + 3, -1, -9_000, -most):
                view["public"]["scores"][0, :2] = multiple * score, 0
                row = encoded(view, "flat")
                assert digits(piece_of(FLAT, "target", row)) == units
                assert digits(piece_of(FLAT, "to_go", row))[:2] == [units - score, units]


@pytest.mark.compiled
@given(rules=any_rules())
def test_every_rule_can_be_read_off_a_row(rules: Rules) -> None:
    def entry(name: str) -> Any:
        values = piece(game, 0, name)
        return values[0] if len(values) == 1 else values

    game = Game(rules, seed=1)
    words = ("spinners", "hand_end", "round_per")
    read: dict[str, Any] = {name: CHOICES[name][entry(name).index(1)] for name in words}
    flags = {
        "draw": "draw_optional",
        "block_pays": "block_difference",
        "leader": "leader_rotates",
        "lead_tile": "lead_highest_double",
        "game_end": "immediate",
    }
    read |= {name: CHOICES[name][entry(flag)] for name, flag in flags.items()}
    numbers = ("hand_size", "reserve", "unit", "multiple", "max_pip")
    read |= {name: entry(name) for name in numbers}
    read |= {"players": 2 + entry("players").index(1), "teams": bool(entry("teams"))}
    read |= {"exact_target": bool(entry("exact_target")), "target": digits(entry("target"))}
    assert Rules(**read | {"target": rules.target}) == rules
    assert read["target"] == -(-rules.target // rules.unit)


def test_a_tile_that_had_to_be_led_is_named() -> None:
    forced = game_of("6-4 4-1 2-2", "1-1 3-2 5-3", "3-3 6-0 6-5", lead_tile="highest_double")
    for _ in ("before it is led", "afterwards"):
        for seat in range(3):
            tiles = np.flatnonzero(piece(forced, seat, "forced_lead"))
            assert tiles.tolist() == [Tile.parse("3-3").id]
        forced.push(next(iter(forced.legal_moves)))
    free = game_of("6-4 4-1 2-2", "1-1 3-2 5-3", "3-3 6-0 6-5", lead=2)
    push_all(free, "3-3")
    assert not any(piece(free, 0, "forced_lead"))


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
    assert piece(game, 1, "to_go") == [
        [0, 0, 61], [0, 0, 61], [0, 0, 59], [0, 0, 0], [0, 0, 0],
    ]  # fmt: skip
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


def test_tiles_that_a_seat_drew_after_it_lacked_a_pip_are_counted() -> None:
    top = "4-3 3-2 3-3 4-1"
    game = game_of("3-0 3-1 4-0", "2-2 4-2 4-4", top=top, max_pip=4)
    # Seat 1 lacks 1 and 3, and draws 4-3. Later it lacks 0 and 1, and draws three tiles.
    push_all(game, "3-1 4-3@3 4-0@4")
    assert piece(game, 0, "draws")[:2] == [0, 4]
    assert piece(game, 0, "lacks")[1] == [1, 1, 0, 1, 0, 0, 0]
    assert piece(game, 0, "lacks_draws")[1] == [0, 0, 0, 3, 0, 0, 0]


def test_plays_tell_what_each_action_would_score() -> None:
    random = Random(4)
    for seed in range(40):
        game = play_randomly(Game(seed=seed, unit=1), random, random.randrange(60))
        if game.outcome():
            continue
        plays = piece(game, game.turn or 0, "plays")
        assert ((np.array(plays) > 0) == game.action_mask()).all()
        for move in list(game.legal_moves):
            before = game.copy()
            before.push(move)
            step = list(before.steps())[-1]
            public = step.after[0]["public"]
            total = int(public["layout"]["total"])
            assert plays[move.action] == 1 + (total // 5 if total % 5 == 0 else 0)


def test_tokens_are_the_history_in_order() -> None:
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


def test_critics_see_every_hand_and_the_order_of_the_boneyard() -> None:
    top = "2-0 0-0 6-1 5-5"
    game = push_all(game_of("6-4 4-1 2-2", "1-1 3-2 5-3", "5-1 6-0 3-3", top=top), "6-4")
    rows = np.full((3, TRUTH_SIZE), 99, np.int8)
    write_truths(game.state().repeat(3), np.arange(3), rows)
    hands, places = rows[:, : 5 * 28].reshape(3, 5, 28), rows[:, 5 * 28 :]
    for seat in range(3):
        for k in range(3):
            shown = {TILES[tile] for tile in np.flatnonzero(hands[seat, k])}
            assert shown == set(game.hand_of((seat + k) % 3))
        assert not hands[seat, 3:].any()
        assert hands.max() == 1
        left = game.state()["order"][0, 3 : game.boneyard_count + 3]  # seat 1 has drawn three
        assert TILES[left[0]] == Tile(5, 5)
        assert places[seat, left].tolist() == list(range(1, game.boneyard_count + 1))
        assert np.count_nonzero(places[seat]) == game.boneyard_count


def test_an_encoder_is_chosen_by_itself_and_hidden_tiles_are_none() -> None:
    assert get_encoder(FLAT) is FLAT
    with pytest.raises(EncoderError, match="hidden tiles are never an observation"):
        get_encoder("oracle")
    with pytest.raises(KeyError, match="haand"):
        piece_of(FLAT, "haand", np.zeros((1, row_size(FLAT)), np.int8))


class HandOnly:
    """An encoder from outside."""

    name, version = "hand_only", 1
    pieces = (Piece("hand", (28,), 0, 1, "the hand"),)

    def encode(self, views: np.ndarray, rows: np.ndarray) -> None:
        """Write a row for each view."""
        rows[:] = views["hand"][:, None] >> np.arange(28, dtype=np.uint32) & 1


@pytest.fixture
def _kept() -> Iterator[None]:
    """Forget the encoders that a test registers."""
    before = dict(ENCODERS)
    yield
    ENCODERS.clear()
    ENCODERS.update(before)


@pytest.mark.usefixtures("_kept")
def test_an_encoder_from_outside_can_be_registered_and_chosen() -> None:
    register_encoder(HandOnly())
    batch = Batch(8, encoder="hand_only", seed=0)
    batch.reset()
    assert (batch.observation.sum(1) == 5).all()
    with pytest.raises(EncoderError, match="is not an encoder"):
        register_encoder(copy)  # type: ignore[arg-type]


@pytest.mark.usefixtures("_kept")
def test_an_encoder_defined_again_replaces_the_former_and_no_other_does() -> None:
    def define() -> Any:
        return type("Again", (HandOnly,), {})()  # as in a cell that is run again and again

    register_encoder(define())
    again = define()
    register_encoder(again)
    assert get_encoder("hand_only") is again
    with pytest.raises(EncoderError, match=r"'hand_only' already, of the class .*Again; give"):
        register_encoder(HandOnly())


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_flat_belief_adds_the_marginals_of_hidden_tiles_by_place(players: int) -> None:
    encoder, batch = get_encoder("flat_belief"), Batch(20, players=players, seed=1)
    batch.reset()
    for _ in range(9):
        batch.step(batch.random_actions(np.random.default_rng(0)))
    views = batch.views()
    rows = rows_of(encoder, views, scaled=False)
    assert (rows[:, : row_size(FLAT)] == rows_of(FLAT, views, scaled=False)).all()
    belief = piece_of(encoder, "belief", rows)
    for view, shown, shares in zip(views, belief, marginals(views), strict=True):
        others = [(view["seat"] + k) % players for k in range(1, players)]
        exact = shares[[*others, BONEYARD]]
        entries = np.vstack([shown[: players - 1], shown[-1:]])
        assert not shown[players - 1 : -1].any()
        assert np.abs(entries / 64 - exact).max() < 1 / 64
        assert ((entries > 0) == (exact > 0)).all()
        assert ((entries == 64) == (exact > 1 - 1e-9)).all()


def test_after_a_hand_and_where_no_deal_is_possible_the_belief_is_empty() -> None:
    over = push_all(game_of("6-4", "6-6", target=2), "6-4").view(0)
    for view in (over, impossible_view()):
        rows = rows_of(get_encoder("flat_belief"), view, scaled=False)
        assert not piece_of(get_encoder("flat_belief"), "belief", rows).any()


@pytest.mark.parametrize("place", [PLACE, COUNTS])
def test_an_encoder_is_named_by_its_place_in_every_interface(place: str) -> None:
    encoder = get_encoder(place)
    batch = Batch(3, encoder=place, seed=1)
    batch.reset()
    rows = rows_of(encoder, batch.views(), scaled=False)
    assert (batch.observation == rows).all()
    space = FiveUpEnv(encoder=place).observation_space
    assert isinstance(space, RowSpace)
    assert (space.name, space.version) == (encoder.name, encoder.version)
    assert FiveUpVectorEnv(2, encoder=place).single_observation_space == space
    assert env(encoder=place).observation_space("player_0")["observation"] == space
    assert encoder.name not in ENCODERS


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("tests.own_encoders:Impostor", r"there is an encoder 'flat' already, of the class .*Flat"),
        ("tests.own_encoders:NOTHING", "'no encoder' is not an encoder"),
        ("tests.own_encoders:Nobody", "there is no Nobody in the module tests.own_encoders"),
        ("tests.no_encoders:Mine", "there is no encoder 'tests.no_.*named module:Class"),
        ("tests.own_encoders", "there is no encoder 'tests.own_encoders'"),
    ],
)
def test_a_place_without_an_encoder_is_refused(place: str, why: str) -> None:
    with pytest.raises(EncoderError, match=why):
        get_encoder(place)


@pytest.mark.parametrize("name", ["flat", "tokens"])
def test_the_page_on_encoding_lists_every_entry(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "understand" / "encoding.md").read_text()
    pieces = get_encoder(name).pieces
    assert table_of(pieces[:1] if name == "tokens" else pieces) in page
    assert table_of(TRUTH_PIECES) in page
