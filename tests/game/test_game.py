"""`Game`: its manners, undo, copies, bad input, and what always holds."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fiveup_env import MOVES, TILES, Deal, FiveUpError, Game, Move, Rules, Tile
from fiveup_env.engine.play import start_hand
from fiveup_env.errors import (
    DealError,
    GameOverError,
    IllegalMoveError,
    InvalidMoveError,
    RulesError,
    SeatError,
    SeedError,
    TileError,
)
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT, mask_of
from tests.engines.test_engine_against_reference import any_rules
from tests.support import (
    EVERY_PRESET,
    deal,
    game_of,
    label,
    play_randomly,
    push_all,
    shuffled_hidden,
)

a_game = st.builds(Game, any_rules(), seed=st.integers(0, 2**64 - 1))
thorough = settings(max_examples=100, suppress_health_check=list(HealthCheck))


# --- What always holds


@pytest.mark.compiled
@thorough
@given(game=a_game, seed=st.integers())
def test_every_tile_is_always_somewhere_exactly_once(game: Game, seed: int) -> None:
    random = Random(seed)
    for _ in range(60):
        state = game.state()[0]
        public = state["public"]
        boneyard = state["order"][public["drawn"] : public["boneyard"]].tolist()
        places = [
            *state["hands"][: game.rules.players].tolist(),
            mask_of(TILES[tile] for tile in boneyard),
            mask_of(move.tile for move in game.plays if move.tile),
        ]
        assert sum(places) == (1 << game.rules.tile_count) - 1
        assert sum(place.bit_count() for place in places) == game.rules.tile_count
        sizes = [place.bit_count() for place in places[: game.rules.players]]
        assert public["sizes"][: game.rules.players].tolist() == sizes
        play_randomly(game, random, 1)


@pytest.mark.compiled
@thorough
@given(game=a_game, seed=st.integers())
def test_the_running_total_and_the_open_pips_are_those_of_the_ends(game: Game, seed: int) -> None:
    random = Random(seed)
    for _ in range(60):
        layout = game.state()[0]["public"]["layout"]
        ends = game.layout().ends
        assert layout["total"] == sum(end.counts for end in ends)
        numbers = {end.pip + (7 if end.kind == "double" else 0) for end in ends}
        assert layout["open"] == sum(1 << number for number in numbers)
        play_randomly(game, random, 1)


@pytest.mark.compiled
@thorough
@given(game=a_game, seed=st.integers())
def test_pop_undoes_push_bit_for_bit(game: Game, seed: int) -> None:
    random, states = Random(seed), []
    for _ in range(120):
        if game.outcome():
            break
        states.append((game.state().tobytes(), game.last_hand()))
        play_randomly(game, random, 1)
    for state, last_hand in reversed(states):
        game.pop()
        assert (game.state().tobytes(), game.last_hand()) == (state, last_hand)
    assert game.moves == ()


@pytest.mark.parametrize("rules", EVERY_PRESET, ids=label)
def test_hand_k_of_a_seed_does_not_depend_on_what_was_played_before(rules: Rules) -> None:
    def hands(choices: int) -> list[tuple[Any, ...]]:
        game, random, seen = Game(rules, seed=3), Random(choices), []
        while game.outcome() is None and game.hand_number < 4:
            if not game.plays:
                by_lot = not (end := game.last_hand()) or end.ended == "blocked"
                dealt = tuple(map(game.hand_of, range(rules.players)))
                seen.append((dealt, game.state()["order"].tolist(), game.lead if by_lot else None))
            play_randomly(game, random, 1)
        return seen

    first, second = hands(1), hands(2)
    for (deal_1, order_1, lead_1), (deal_2, order_2, lead_2) in zip(first, second, strict=False):
        assert (deal_1, order_1) == (deal_2, order_2)
        assert lead_1 is None or lead_2 is None or lead_1 == lead_2


def test_seeds_deal_different_hands_and_every_seat_leads() -> None:
    games = [Game(seed=seed) for seed in range(200)]
    assert len({game.state()["hands"].tobytes() for game in games}) == 200
    assert {game.lead for game in games} == {0, 1, 2, 3}


@pytest.mark.compiled
def test_every_tile_is_dealt_to_every_place_about_equally_often() -> None:
    places = np.zeros((TILE_COUNT, 5))
    for seed in range(2_000):
        game = Game(seed=seed)
        for seat in range(4):
            for tile in game.hand_of(seat):
                places[tile.id, seat] += 1
        places[game.state()["order"][0, :8], 4] += 1
    expected = 2_000 * np.array([5, 5, 5, 5, 8]) / 28
    assert ((places - expected) ** 2 / expected).sum() < 170  # chi-squared, 108 degrees: p < 1e-4


@given(action=st.integers(0, ACTION_COUNT - 1))
def test_text_to_move_to_text(action: int) -> None:
    move = MOVES[action]
    assert Move.parse(str(move)) is not None
    assert Move.parse(str(move)) == move
    assert str(Move.parse(f" {move} ")) == str(move) if move.tile else True


def test_a_tile_may_be_written_either_way_round() -> None:
    assert Move.parse("3-5@5x") == Move.parse("5-3@5x")
    assert Tile.parse("3-5") == Tile.parse("5-3") == Tile.parse((3, 5)) == Tile(5, 3)


# --- Manners


@pytest.mark.compiled
def test_a_loop_of_legal_moves_reaches_an_outcome() -> None:
    game, random = Game("five_up", players=4, seed=7), Random(7)
    while game.outcome() is None:
        game.push(random.choice(list(game.legal_moves)))
    outcome = game.outcome()
    assert outcome is not None
    assert outcome.scores == game.scores
    assert outcome.scores[outcome.winner] == max(game.scores) >= 61
    assert outcome.seats == ((0, 2), (1, 3))[outcome.winner]
    assert game.turn is None
    assert game.hand_over
    assert not game.legal_moves


def test_legal_moves_are_looked_up_when_asked() -> None:
    game = game_of("6-4 1-1", "4-0 2-2")
    moves = game.legal_moves
    assert Move.parse("6-4") in moves
    assert Move.parse("4-0") not in moves
    assert len(moves) == 2
    game.push("6-4")
    assert list(map(str, moves)) == ["4-0@4"]
    assert repr(moves) == "<LegalMoves: 4-0@4>"


def test_legal_moves_come_by_action_number() -> None:
    for seed in range(20):
        moves = list(play_randomly(Game(seed=seed), Random(seed), seed).legal_moves)
        assert moves == sorted(moves)


def test_hand_over_tells_that_the_last_move_ended_a_hand() -> None:
    game = Game(seed=5)
    told = []
    while game.hand_number < 2:
        play_randomly(game, Random(0), 1)
        told.append(game.hand_over)
    assert told.count(True) == 2
    assert told[-1]


def test_a_copy_goes_its_own_way() -> None:
    game = play_randomly(Game(seed=1), Random(1), 30)
    before = game.state().tobytes()
    twin = game.copy()
    play_randomly(twin, Random(2), 40)
    for _ in range(70):
        twin.pop()
    assert game.state().tobytes() == before
    assert len(game.moves) == 30


@pytest.mark.parametrize(
    "duplicate", [Game.copy, copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_duplicates_made_in_the_middle_of_a_hand_play_on_alike(duplicate: Any) -> None:
    game = play_randomly(Game("five_up", players=3, seed=1), Random(1), 30)
    twin = duplicate(game)
    play_randomly(game, Random(2), 100)
    play_randomly(twin, Random(2), 100)
    assert twin.state().tobytes() == game.state().tobytes()
    assert twin.moves == game.moves


def test_moves_may_be_pushed_as_text() -> None:
    game = push_all(game_of("6-4 1-1", "4-0 2-2"), "4-6 0-4@4")
    assert game.moves == (Move.parse("6-4"), Move.parse("4-0@4"))
    assert str(game.pop()) == "4-0@4"


def test_a_game_says_where_it_stands() -> None:
    game = push_all(game_of("6-4 1-1", "4-0 2-2"), "6-4")
    assert repr(game) == "<Game custom rules, 2 players, hand 0, 2 : 0, seat 1 to move>"


def test_a_game_goes_on_from_given_deals_to_seeded_ones() -> None:
    given_deal = deal("6-3", "6-6")
    first, second = (Game("five_up", 2, hand_size=1, deals=[given_deal], seed=9) for _ in range(2))
    push_all(first, "6-3")
    push_all(second, "6-3")
    assert first.state().tobytes() == second.state().tobytes()
    assert Game("five_up", 2, hand_size=1, seed=9).hand_of(0) != (Tile(6, 3),)


# --- Views


@pytest.mark.compiled
@thorough
@given(game=a_game, seed=st.integers())
def test_a_view_does_not_change_when_hidden_tiles_are_permuted(game: Game, seed: int) -> None:
    random = Random(seed)
    play_randomly(game, random, random.randrange(60))
    if game.turn is None:
        return
    for seat in range(game.rules.players):
        before = game.view(seat)
        hidden = shuffled_hidden(game, seat, random)
        assert hidden.view(seat).tobytes() == before.tobytes()


def test_a_view_shows_the_seats_own_tiles_and_the_public_history() -> None:
    game = push_all(game_of("6-4 4-1", "1-1 2-2", top="3-3 1-0 6-0 6-6"), "6-4")
    mine, theirs = game.view(1)[0], game.view(0)[0]
    assert mine["seat"] == 1
    assert mine["hand"] == mask_of(game.hand_of(1))
    assert [str(TILES[tile]) for tile in mine["drawn"][:3]] == ["3-3", "1-0", "6-0"]
    assert set(theirs["drawn"].tolist()) == {-1}
    for view in (mine, theirs):
        public = view["public"]
        assert public["draw_seat"][:3].tolist() == [1, 1, 1]
        assert public["draw_ply"][:3].tolist() == [1, 1, 1]
        assert public["play_seat"][:1].tolist() == [0]
        assert MOVES[public["play_action"][0]] == Move.parse("6-4")
        assert public["sizes"][:2].tolist() == [1, 5]


# --- Bad input


def refused(error: type[FiveUpError], match: str, make: Any) -> None:
    with pytest.raises(error, match=match) as caught:
        make()
    message = str(caught.value)
    assert "\n" not in message


def test_text_that_is_no_move_names_what_was_allowed() -> None:
    game = game_of("6-4 1-1", "4-0 2-2")
    before = game.state().tobytes()
    for text in ("", "six", "7-1", "6-4@", "6-4@3", "5-5@5x", "6-4@6y", "DRAW"):
        refused(
            InvalidMoveError,
            "is not a valid move.*allowed here: 1-1, 6-4",
            partial(game.push, text),
        )
    assert game.state().tobytes() == before


def test_a_move_that_is_not_allowed_names_what_was_allowed() -> None:
    game = push_all(game_of("6-4 1-1", "4-0 2-2"), "6-4")
    before = game.state().tobytes()
    for text in ("4-0", "4-0@0", "6-6@6", "4-0@4x", "6-4"):
        refused(
            IllegalMoveError,
            "not allowed for seat 1; allowed here: 4-0@4",
            partial(game.push, text),
        )
        with pytest.raises(IllegalMoveError):
            game.push(Move.parse(text))
    assert game.state().tobytes() == before
    assert len(game.moves) == 1


def test_a_move_after_the_end_of_the_game_is_refused() -> None:
    game = push_all(game_of("6-4", "6-6", target=2), "6-4")
    refused(GameOverError, "the game is over and side 0 has won", lambda: game.push("6-6"))


def test_there_is_nothing_to_take_back_at_the_beginning() -> None:
    refused(IllegalMoveError, "no move to take back", Game(seed=1).pop)


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (RulesError, "no preset 'five_upp'.*did you mean 'five_up'", {"rules": "five_upp"}),
        (RulesError, "no rule field 'handsize'.*did you mean 'hand_size'", {"handsize": 5}),
        (RulesError, "value of draw 'never'.*until_playable, optional", {"draw": "never"}),
        (RulesError, "hand_size must be a whole number", {"hand_size": 0}),
        (RulesError, "4 hands of 8 need 32 tiles.*at most hand_size=7", {"hand_size": 8}),
        (RulesError, "at most hand_size=1 can be dealt", {"max_pip": 2}),
        (RulesError, "partners need four players", {"players": 3, "teams": True}),
        (RulesError, "unit must be 1", {"unit": 2}),
        (RulesError, "can never be hit", {"unit": 5, "target": 61, "exact_target": True}),
        (RulesError, "needs a hand_end by which a block pays", {"block_pays": "difference"}),
        (RulesError, "value of round_per 'seat'.*hand, side, all", {"round_per": "seat"}),
        (RulesError, "value of leader 'lot'.*winner, rotate", {"leader": "lot"}),
        (RulesError, "target must be", {"target": 0}),
        (RulesError, "reserve must be", {"reserve": 3}),
        (RulesError, "multiple must be", {"multiple": 0}),
        (RulesError, "max_pip must be", {"max_pip": 7}),
        (RulesError, "exact_target must be True or False", {"exact_target": 1}),
        (SeatError, "there must be 2 to 5 players, not 6", {"players": 6}),
        (SeatError, "there must be 2 to 5 players, not 1", {"players": 1}),
        (SeatError, "there must be 2 to 5 players", {"players": "4"}),
        (SeedError, "a seed is a whole number", {"seed": -1}),
        (SeedError, "a seed is a whole number", {"seed": 2**64}),
        (SeedError, "a seed is a whole number", {"seed": 1.5}),
    ],
)
def test_rules_that_do_not_exist_or_cannot_be_dealt(error: Any, match: str, arguments: Any) -> None:
    refused(error, match, lambda: Game(**arguments))


def test_finished_rules_may_be_changed_too() -> None:
    rules = Rules.preset("all_fives", players=2)
    assert Game(rules, reserve=2, seed=1).rules.reserve == 2
    misspelt: Any = {"reserv": 2}
    refused(RulesError, "did you mean 'reserve'", lambda: Game(rules, **misspelt))


@pytest.mark.parametrize(
    ("match", "given_deal"),
    [
        ("hands of \\[1, 2\\] tiles", deal("6-3", "6-6 1-1")),
        ("3-2 0 times, 6-6 2 times", Deal([["6-3"], ["6-6"]], ["6-6", *(str(t) for t in TILES if str(t) not in {"6-3", "6-6", "3-2"})])),
        ("'7-1' is not a valid tile", Deal([["7-1"], ["6-6"]], [])),
        ("lead must be a seat from 0 to 1", deal("6-3", "6-6", lead=2)),
        ("double-6 set once", Deal([["6-3"], ["6-6"]], ["1-1"])),
    ],
)  # fmt: skip
def test_deals_that_are_no_whole_set(match: str, given_deal: Deal) -> None:
    refused(DealError, match, lambda: Game("five_up", 2, hand_size=1, deals=[given_deal]))


def test_seats_that_the_game_does_not_have() -> None:
    game = Game("five_up", players=3, seed=1)
    for ask in (game.hand_of, game.view):
        refused(SeatError, "seat must be from 0 to 2, not 3", partial(ask, 3))


def test_names_that_are_no_tile() -> None:
    for text in ("7-0", "5", "", None, 5, (1,), (1, 9), ("a", "b")):
        refused(TileError, "is not a valid tile; tiles are written 5-3", partial(Tile.parse, text))


def test_numbers_that_are_no_action() -> None:
    for number in (-1, ACTION_COUNT):
        refused(InvalidMoveError, "actions are numbered 0 to 120", partial(Move, number))


# Of seed 2**63 + 5, by the number of the hand: who leads, the hands as masks, the boneyard.
DEALT = {
    0: (1, [11075592, 201337088, 16908817], [22, 20, 6, 12, 7, 15, 18, 5, 1, 25, 14, 10, 2]),
    1: (1, [67274768, 6619264, 8389730], [3, 8, 19, 20, 27, 9, 12, 24, 0, 13, 25, 2, 14]),
    2: (0, [1151008, 37749124, 25168912], [0, 21, 14, 9, 26, 27, 19, 3, 17, 18, 6, 13, 1]),
}


@pytest.mark.parametrize("hand", DEALT)
def test_every_hand_of_a_seed_is_dealt_as_ever(hand: int) -> None:
    state = Game(players=3, seed=2**63 + 5).state()
    state["public"]["hand_number"] = hand
    start_hand(state, 0)
    lead, hands, boneyard = DEALT[hand]
    assert state["public"]["lead"][0] == lead
    assert state["hands"][0].tolist() == hands + [0] * (MAX_PLAYERS - 3)
    assert state["order"][0].tolist() == boneyard + [-1] * (TILE_COUNT - len(boneyard))
