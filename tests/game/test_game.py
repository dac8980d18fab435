"""`Game`: its manners, undo, copies, agents, bad input, and what always holds."""

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

from fiveup_env import MOVES, TILES, Deal, FiveUpError, Game, Move, Rules, Tile, make_agent
from fiveup_env.engine.play import start_hand
from fiveup_env.errors import (
    AgentError,
    DealError,
    GameOverError,
    IllegalMoveError,
    InvalidMoveError,
    RulesError,
    SeatError,
    SeedError,
)
from fiveup_env.game.records import dumps, loads
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT, mask_of
from tests.engines.test_engine_against_reference import any_rules
from tests.support import EVERY_PRESET, deal, game_of, hidden_otherwise, play_randomly, push_all

a_game = st.builds(Game, any_rules(), seed=st.integers(0, 2**64 - 1))
thorough = settings(max_examples=100, suppress_health_check=list(HealthCheck))


# --- What always holds


def check_tiles(game: Game) -> None:
    """Every tile is somewhere exactly once."""
    state = game.state()[0]
    public = state["public"]
    boneyard = state["order"][public["drawn"] : public["boneyard"]].tolist()
    places = [
        *state["hands"][: game.rules.players].tolist(),
        mask_of(TILES[tile] for tile in boneyard),
        mask_of(move.tile for move in game.plays if move.tile),
    ]
    sizes = [place.bit_count() for place in places]
    assert sum(places) == (1 << game.rules.tile_count) - 1
    assert sum(sizes) == game.rules.tile_count
    assert public["sizes"][: game.rules.players].tolist() == sizes[: game.rules.players]


def check_ends(game: Game) -> None:
    """The running total and the open pips are those of the ends."""
    layout, ends = game.state()[0]["public"]["layout"], game.layout().ends
    assert layout["total"] == sum(end.counts for end in ends)
    numbers = {end.pip + (7 if end.kind == "double" else 0) for end in ends}
    assert layout["open"] == sum(1 << number for number in numbers)


def check_views(game: Game, random: Random) -> None:
    """No view changes when the tiles that its seat does not see are permuted."""
    for seat in range(game.rules.players):
        hidden = hidden_otherwise(game, random, seat)
        assert (hidden.view(seat) == game.view(seat)).all()


@pytest.mark.compiled
@settings(thorough, max_examples=40)
@given(game=a_game, seed=st.integers())
def test_tiles_ends_views_and_undo_are_right_after_every_move(game: Game, seed: int) -> None:
    random, states = Random(seed), []
    for count in range(80):
        check_tiles(game)
        check_ends(game)
        if game.outcome():
            break
        if count % 20 == seed % 20:
            check_views(game, random)
        states.append((game.state().tobytes(), game.last_hand()))
        play_randomly(game, random, 1)
    for state, last_hand in reversed(states):
        game.pop()
        assert (game.state().tobytes(), game.last_hand()) == (state, last_hand)
    assert game.moves == ()


def test_hand_k_of_a_seed_does_not_depend_on_what_was_played_before() -> None:
    def hands(rules: Rules, choices: int) -> list[tuple[Any, ...]]:
        game, random, seen = Game(rules, seed=3), Random(choices), []
        while game.outcome() is None and game.hand_number < 4:
            if not game.plays:
                by_lot = not (end := game.last_hand()) or end.ended == "blocked"
                dealt = tuple(map(game.hand_of, range(rules.players)))
                seen.append((dealt, game.state()["order"].tolist(), game.lead if by_lot else None))
            play_randomly(game, random, 1)
        return seen

    for rules in EVERY_PRESET[::3]:
        for first, second in zip(hands(rules, 1), hands(rules, 2), strict=False):
            assert first[:2] == second[:2]
            assert None in {first[2], second[2]} or first[2] == second[2]


@pytest.mark.compiled
def test_seeds_deal_every_tile_to_every_place_and_the_lead_about_equally_often() -> None:
    places, dealt, leads = np.zeros((TILE_COUNT, 5)), set(), set()
    for seed in range(2_000):
        game = Game(seed=seed)
        for seat in range(4):
            for tile in game.hand_of(seat):
                places[tile.id, seat] += 1
        places[game.state()["order"][0, :8], 4] += 1
        dealt.add(game.state()["hands"].tobytes())
        leads.add(game.lead)
    expected = 2_000 * np.array([5, 5, 5, 5, 8]) / 28
    assert ((places - expected) ** 2 / expected).sum() < 170  # chi-squared, 108 degrees: p < 1e-4
    assert (len(dealt), leads) == (2_000, {0, 1, 2, 3})


# Of seed 2**63 + 5, by the number of the hand: who leads, the hands as masks, the boneyard.
DEALT = {
    0: (1, [11075592, 201337088, 16908817], [22, 20, 6, 12, 7, 15, 18, 5, 1, 25, 14, 10, 2]),
    1: (1, [67274768, 6619264, 8389730], [3, 8, 19, 20, 27, 9, 12, 24, 0, 13, 25, 2, 14]),
    2: (0, [1151008, 37749124, 25168912], [0, 21, 14, 9, 26, 27, 19, 3, 17, 18, 6, 13, 1]),
}


def test_every_hand_of_a_seed_is_dealt_as_ever() -> None:
    for number, (lead, hands, boneyard) in DEALT.items():
        state = Game(players=3, seed=2**63 + 5).state()
        state["public"]["hand_number"] = number
        start_hand(state, 0)
        assert state["public"]["lead"][0] == lead
        assert state["hands"][0].tolist() == hands + [0] * (MAX_PLAYERS - 3)
        assert state["order"][0].tolist() == boneyard + [-1] * (TILE_COUNT - len(boneyard))


# --- Manners


@pytest.mark.compiled
def test_a_loop_of_legal_moves_reaches_an_outcome() -> None:
    game, random, hands_over = Game("five_up", players=4, seed=7), Random(7), 0
    while game.outcome() is None:
        assert not game.is_game_over()
        moves = list(game.legal_moves)
        assert moves == sorted(moves)
        game.push(random.choice(moves))
        hands_over += game.hand_over
    outcome = game.outcome()
    assert outcome is not None
    assert outcome.scores == game.scores
    assert outcome.scores[outcome.winner] == max(game.scores) >= 61
    assert outcome.seats == ((0, 2), (1, 3))[outcome.winner]
    assert game.turn is None
    assert game.is_game_over()
    assert hands_over == game.hand_number + 1
    assert not game.legal_moves


def test_moves_are_pushed_as_text_looked_at_and_taken_back() -> None:
    game = game_of("6-4 1-1", "4-0 2-2")
    moves = game.legal_moves
    assert (len(moves), Move.parse("6-4") in moves, Move.parse("4-0") in moves) == (2, True, False)
    with pytest.raises(IllegalMoveError, match="there is no last move"):
        game.peek()
    assert game.push("4-6") == Move.parse("6-4") == game.peek()
    assert repr(moves) == "<LegalMoves: 4-0@4>"
    assert repr(game) == "<Game custom rules, 2 players, hand 0, 2 : 0, seat 1 to move>"
    assert str(game.push("0-4@4")) == "4-0@4"
    assert game.moves == (Move.parse("6-4"), Move.parse("4-0@4"))
    assert str(game.pop()) == "4-0@4"
    assert game.peek() == Move.parse("6-4")


@pytest.mark.parametrize(
    "duplicate", [Game.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_a_copy_is_equal_until_one_of_them_goes_on(duplicate: Any) -> None:
    game = play_randomly(Game("five_up", players=3, seed=1), Random(1), 30)
    twin = duplicate(game)
    assert twin == game
    play_randomly(game, Random(2), 40)
    assert twin != game
    play_randomly(twin, Random(2), 40)
    assert twin == game
    assert (twin.state().tobytes(), twin.moves) == (game.state().tobytes(), game.moves)
    for _ in range(60):
        twin.pop()
    assert len(game.moves) == 70


def test_games_differ_by_their_rules_their_deals_and_what_nobody_sees() -> None:
    game = Game(players=2, seed=1)
    assert game == Game(players=2, seed=1)
    for other in (Game(players=2, seed=2), Game(players=2, seed=1, target=30), "a game"):
        assert game != other
    tops = ("5-5 4-4 3-3", "4-4 5-5 3-3")
    first, second = (game_of("6-6 1-1", "0-0 2-2", top=top) for top in tops)
    assert first != second
    with pytest.raises(TypeError, match="unhashable"):
        hash(game)
    for moves in (30, 10_000):
        played = play_randomly(Game(players=2, seed=1), Random(1), moves)
        assert loads(dumps(played)) == played


def test_the_same_move_may_end_one_hand_and_not_the_other() -> None:
    blocked, going = (
        push_all(game_of("0-0 2-1", hand, max_pip=2, reserve=2), "0-0")
        for hand in ("1-1 2-2", "1-0 2-2")
    )
    assert (blocked.rules, blocked.moves) == (going.rules, going.moves)
    assert (blocked.hand_over, going.hand_over) == (True, False)
    assert blocked != going


def test_a_game_goes_on_from_given_deals_to_seeded_ones() -> None:
    given_deal = deal("6-3", "6-6")
    first, second = (Game("five_up", 2, hand_size=1, deals=[given_deal], seed=9) for _ in range(2))
    push_all(first, "6-3")
    push_all(second, "6-3")
    assert first.state().tobytes() == second.state().tobytes()
    assert Game("five_up", 2, hand_size=1, seed=9).hand_of(0) != (Tile(6, 3),)


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


# --- Agents


def test_an_agent_is_asked_without_a_move_being_made() -> None:
    game = Game(players=2, seed=7)
    before = game.copy()
    move = game.ask("greedy", np.random.default_rng(0))
    assert move in game.legal_moves
    assert game == before
    assert game.ask(lambda views, _rng: np.full(len(views), move.action)) == move


def test_what_cannot_be_asked_is_refused() -> None:
    game = Game(players=2, seed=7)
    wrong: Any = 3
    with pytest.raises(AgentError, match="an agent such as 'greedy' is needed, not 3"):
        game.ask(wrong)
    with pytest.raises(AgentError, match="did you mean 'greedy'"):
        game.ask("gredy")
    for count in (0, 2):
        with pytest.raises(AgentError, match="one action for one view, not array"):
            game.ask(lambda _views, _rng, count=count: np.zeros(count, np.int64))  # type: ignore[misc]
    with pytest.raises(IllegalMoveError, match="draw is not allowed for seat"):
        game.ask(lambda views, _rng: np.full(len(views), 119))
    with pytest.raises(InvalidMoveError, match="is not a valid action"):
        game.ask(lambda views, _rng: np.full(len(views), 500))
    play_randomly(game, Random(0))
    with pytest.raises(GameOverError, match="the game is over"):
        game.ask(make_agent("greedy"))


# --- Bad input


def refused(error: type[FiveUpError], match: str, make: Any) -> None:
    with pytest.raises(error, match=match) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_moves_that_are_none_or_not_allowed_name_what_was_and_change_nothing() -> None:
    game = game_of("6-4 1-1", "4-0 2-2")
    before = game.state().tobytes()
    for text in ("", "six", "7-1", "6-4@", "6-4@3", "5-5@5x", "6-4@6y", "DRAW"):
        allowed = "is not a valid move.*allowed here: 1-1, 6-4"
        refused(InvalidMoveError, allowed, partial(game.push, text))
    refused(IllegalMoveError, "no move to take back", game.pop)
    assert game.state().tobytes() == before
    game.push("6-4")
    before = game.state().tobytes()
    for text in ("4-0", "4-0@0", "6-6@6", "4-0@4x", "6-4"):
        for move in (text, Move.parse(text)):
            allowed = "not allowed for seat 1; allowed here: 4-0@4"
            refused(IllegalMoveError, allowed, partial(game.push, move))
    assert game.state().tobytes() == before
    over = push_all(game_of("6-4", "6-6", target=2), "6-4")
    refused(GameOverError, "the game is over and side 0 has won", lambda: over.push("6-6"))


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (RulesError, "no preset 'five_upp'.*did you mean 'five_up'", {"rules": "five_upp"}),
        (RulesError, "no rule field 'handsize'.*did you mean 'hand_size'", {"handsize": 5}),
        (RulesError, "value of draw 'never'.*until_playable, optional", {"draw": "never"}),
        (RulesError, "hand_size must be a whole number", {"hand_size": 0}),
        (RulesError, "4 hands of 8 need 32 tiles.*at most hand_size=7", {"hand_size": 8}),
        (RulesError, "partners need four players", {"players": 3, "teams": True}),
        (RulesError, "can never be hit", {"unit": 5, "target": 61, "exact_target": True}),
        (RulesError, "needs a hand_end by which a block pays", {"block_pays": "difference"}),
        (RulesError, "value of round_per 'seat'.*hand, side, all", {"round_per": "seat"}),
        (RulesError, "exact_target must be True or False", {"exact_target": 1}),
        (SeatError, "there must be 2 to 5 players, not 6", {"players": 6}),
        (SeatError, "there must be 2 to 5 players", {"players": "4"}),
        (SeedError, "a seed is a whole number", {"seed": 2**64}),
    ],
)
def test_rules_that_do_not_exist_or_cannot_be_dealt(error: Any, match: str, arguments: Any) -> None:
    refused(error, match, lambda: Game(**arguments))


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
