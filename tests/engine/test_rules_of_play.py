"""The rules of the layout, of drawing and of turns: each case is named after what it checks."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from fiveup_env import Game, IllegalMoveError, Tile
from fiveup_env.engine.legality import (
    is_legal,
    is_legal_at,
    legal_count,
    legal_count_at,
    list_legal,
    mark_legal_at,
    nth_legal,
)
from fiveup_env.rules.actions import ACTION_COUNT, PASS
from fiveup_env.rules.fields import CHOICES
from tests.support import ending_of, game_of, play_randomly, push_all

ALL_SIXES = "6-6 6-5 6-4 6-3 6-2 6-1 6-0"
NO_SIXES = "5-5 5-4 5-3 5-2 5-1 5-0 4-4"


def ends(game: Game) -> str:
    """Return the open ends, doubles with an x, and what each counts."""
    return " ".join(f"{end}:{end.counts}" for end in game.layout().ends)


def allowed(game: Game) -> set[str]:
    return set(map(str, game.legal_moves))


# --- The layout


def test_the_lead_may_be_any_tile_of_the_leaders_hand() -> None:
    assert allowed(game_of("5-5 4-1 2-0", "6-6 6-5 6-4")) == {"5-5", "4-1", "2-0"}


def highest_double(*hands: str, **fields: Any) -> Game:
    """Return a game that the highest double leads; the lot would fall on seat 0."""
    return game_of(*hands, lead_tile="highest_double", **fields)


def test_the_highest_double_dealt_leads_and_must_be_set() -> None:
    game = highest_double("4-4 6-5 6-4", "6-3 5-5 1-1", "3-3 6-2 6-1")
    assert game.turn == game.lead == 1
    assert allowed(game) == {"5-5"}
    with pytest.raises(IllegalMoveError, match="1-1 is not allowed for seat 1; allowed here: 5-5"):
        game.push("1-1")


@pytest.mark.parametrize(
    ("hands", "seat", "tile"),
    [
        (("6-5 6-4", "0-0 1-0"), 1, "0-0"),  # a double before every other tile
        (("5-3 6-0", "5-4 2-0", "6-2 1-0"), 1, "5-4"),  # without doubles, most pips
        (("5-4 2-0", "6-3 1-0"), 1, "6-3"),  # of equal tiles, the higher half
    ],
)
def test_without_that_double_the_next_in_order_leads(
    hands: tuple[str, ...], seat: int, tile: str
) -> None:
    game = highest_double(*hands)
    assert game.lead == seat
    assert allowed(game) == {tile}


def test_everybody_sees_which_tile_must_be_led() -> None:
    game = highest_double("6-5 6-4", "5-5 1-0")
    for seat in range(2):
        assert game.view(seat)["public"]["forced_lead"] == Tile(5, 5).id
    assert set(game_of("6-5 6-4", "5-5 1-0").view(0)["public"]["forced_lead"]) == {-1}


def test_a_drawn_double_changes_neither_the_leader_nor_the_tile() -> None:
    game = highest_double("6-5 6-4", "5-5 1-0", top="6-6", draw="optional")
    assert allowed(game) == {"draw", "5-5"}
    push_all(game, "draw")
    assert game.turn == 1
    assert allowed(game) == {"draw", "5-5"}


def test_a_plain_lead_has_two_plain_ends() -> None:
    assert ends(push_all(game_of("6-4 1-0", "4-4 6-6"), "6-4")) == "4:4 6:6"


def test_a_double_lead_counts_twice_its_pip_until_both_sides_are_covered() -> None:
    game = game_of("5-5 5-1 6-6", "5-0 2-2 3-3")
    push_all(game, "5-5")
    assert game.layout().total == 10
    push_all(game, "5-0@5x")
    assert game.layout().total == 10
    assert ends(game) == "0:0 5x:10"
    push_all(game, "5-1@5x")
    assert game.layout().total == 1
    assert game.scores == (2, 2)


def test_cross_ends_open_only_when_both_sides_are_covered() -> None:
    game = game_of("5-5 5-1 5-3 5-4", "5-0 5-2 6-6 4-4")
    assert push_all(game, "5-5").layout().doubles[5] == "two sides"
    assert push_all(game, "5-0@5x").layout().doubles[5] == "one side"
    assert push_all(game, "5-1@5x").layout().doubles[5] == "two crosses"
    assert push_all(game, "5-2@5x").layout().doubles[5] == "one cross"
    assert push_all(game, "5-3@5x").layout().doubles[5] == "closed"


def test_an_open_cross_counts_nothing_and_an_arm_on_it_counts_like_any_other() -> None:
    game = push_all(game_of("5-5 5-1 5-3", "5-0 5-2 6-6"), "5-5 5-0@5x 5-1@5x")
    assert ends(game) == "0:0 1:1 5x:0"
    push_all(game, "5-2@5x")
    assert ends(game) == "0:0 1:1 2:2 5x:0"
    assert game.layout().total == 3


def test_a_double_on_an_arm_counts_twice_its_pip_until_covered_then_nothing() -> None:
    game = push_all(game_of("6-4 4-1 0-0", "4-4 6-6 6-1"), "6-4 4-4@4")
    assert ends(game) == "6:6 4x:8"
    assert game.layout().total == 14
    push_all(game, "4-1@4x")
    assert ends(game) == "1:1 6:6 4x:0"
    assert game.layout().total == 7


def test_every_double_spins_in_five_up() -> None:
    game = push_all(game_of("6-4 4-1 6-0", "4-4 6-6 3-3"), "6-4 4-4@4 4-1@4x 6-6@6 6-0@6x")
    assert game.hand_over
    assert ending_of(game) == "domino"
    game = push_all(game_of("6-4 4-1 6-0 5-0", "4-4 6-6 3-3 2-2"), "6-4 4-4@4 4-1@4x 6-6@6 6-0@6x")
    assert game.layout().doubles[4] == game.layout().doubles[6] == "two crosses"


def test_only_the_first_double_played_spins_in_all_fives() -> None:
    game = game_of("6-4 4-1 6-0 5-0", "4-4 6-6 3-3 2-2", spinners="first")
    push_all(game, "6-4 4-4@4 4-1@4x 6-6@6 6-0@6x")
    assert game.layout().doubles[4] == "two crosses"
    assert game.layout().doubles[6] == "closed"


def test_no_double_spins_in_muggins() -> None:
    game = push_all(game_of("5-5 5-1 6-6", "5-0 2-2 3-3", spinners="none"), "5-5 5-0@5x 5-1@5x")
    assert game.layout().doubles[5] == "closed"
    assert ends(game) == "0:0 1:1"


def test_a_plain_end_and_the_double_with_the_same_pip_are_two_moves() -> None:
    game = game_of("5-5 5-1 5-4 6-5", "5-0 5-2 4-2 0-0")
    push_all(game, "5-5 5-0@5x 5-4@5x 4-2@4 5-1@5x 5-2@2")
    assert ends(game) == "0:0 1:1 5:5 5x:0"
    assert allowed(game) == {"6-5@5", "6-5@5x"}


def test_two_plain_ends_with_the_same_pip_are_one_move() -> None:
    game = push_all(game_of("5-5 5-1 3-2", "5-3 3-1 3-3"), "5-5 5-3@5x 5-1@5x 3-1@1")
    assert ends(game) == "3:3 3:3 5x:0"
    assert allowed(game) == {"3-2@3"}


# --- What scores


@pytest.mark.parametrize(
    ("lead", "fields", "points"),
    [
        ("6-4", {}, 2),  # a fifth of a multiple of five
        ("6-4", {"unit": 5}, 10),  # as the pips show it, where the unit is the multiple
        ("6-3", {"multiple": 3}, 3),
        ("6-5", {}, 0),
    ],
)
def test_a_total_that_is_a_multiple_scores(lead: str, fields: dict[str, Any], points: int) -> None:
    assert push_all(game_of(f"{lead} 1-1", "4-4 6-6", **fields), lead).scores == (points, 0)


def test_a_total_of_nothing_scores_nothing() -> None:
    game = push_all(game_of("0-0 1-1", "1-0 6-6"), "0-0")
    assert game.layout().total == 0
    assert game.scores == (0, 0)


def test_partners_score_together() -> None:
    game = push_all(game_of("6-4 1-0", "5-4 1-1", "6-5 2-2", "5-0 2-1"), "6-4 5-4@4 6-5@6")
    assert game.layout().total == 10
    assert game.scores == (2 + 2, 0)


# --- Drawing and passing


def test_who_can_play_may_not_draw() -> None:
    game = push_all(game_of("6-4 1-1", "4-0 2-2"), "6-4")
    assert allowed(game) == {"4-0@4"}
    assert game.boneyard_count == 24


def test_who_cannot_play_draws_until_a_tile_fits_and_must_set_it_at_once() -> None:
    game = push_all(game_of("6-4 4-1", "1-1 2-2", top="3-3 1-0 6-0 6-6"), "6-4")
    assert game.turn == 1
    assert set(map(str, game.hand_of(1))) == {"1-1", "2-2", "3-3", "1-0", "6-0"}
    assert game.boneyard_count == 21
    assert allowed(game) == {"6-0@6"}


def test_the_player_still_chooses_the_end_for_a_drawn_tile() -> None:
    game = push_all(game_of("6-4 2-2", "4-1 5-5", top="3-3 6-1"), "6-4 4-1@4")
    assert game.turn == 0
    assert allowed(game) == {"6-1@6", "6-1@1"}


@pytest.mark.parametrize("reserve", [0, 1, 2])
def test_the_boneyard_is_drawn_to_its_reserve_before_a_pass_and_that_ends_nothing(
    reserve: int,
) -> None:
    game = push_all(game_of(ALL_SIXES, NO_SIXES, reserve=reserve), "6-6")
    assert len(game.hand_of(1)) == 7 + 14 - reserve
    assert game.boneyard_count == reserve
    assert not game.hand_over
    assert game.turn == game.lead == 0  # twice running, as all others pass


def test_nothing_can_be_drawn_from_a_boneyard_within_the_reserve() -> None:
    game = game_of("2-0 2-2", "1-0 1-1", max_pip=2, reserve=2)
    assert push_all(game, "2-2").turn == 0
    assert game.boneyard_count == 2


def test_a_player_stuck_before_a_layout_that_nobody_can_follow_still_draws_everything() -> None:
    top = "3-2 1-1 3-3 1-0 2-0 2-2"
    game = game_of("0-0 2-1", "3-0 3-1", top=top, max_pip=3, reserve=2, spinners="none")
    push_all(game, "2-1 3-1@1 3-2@3")
    end = game.last_hand()
    assert end is not None
    assert set(map(str, end.left[1])) == {"3-0", "1-1", "3-3", "1-0"}


def test_a_hand_is_blocked_when_every_player_in_turn_has_passed() -> None:
    game = game_of(
        "0-0 2-0", "2-2 3-2", "1-0 2-1", "1-1 3-1",
        lead=1, top="3-3 3-0", max_pip=3, reserve=2, spinners="none",
    )  # fmt: skip
    assert not push_all(game, "3-2 2-1@2").hand_over
    push_all(game, "3-1@1")
    assert ending_of(game) == "blocked"


# --- The optional draw


def test_an_optional_draw_may_be_taken_with_a_playable_tile_and_again() -> None:
    game = game_of("6-4 1-1", "4-0 2-2", draw="optional")
    push_all(game, "6-4 draw draw")
    assert game.turn == 1
    assert len(game.hand_of(1)) == 4
    assert {"draw", "4-0@4"} <= allowed(game)


def test_the_leader_may_draw_too_where_draws_are_optional() -> None:
    game = push_all(game_of("6-4 1-1", "4-0 2-2", top="5-5", draw="optional"), "draw")
    assert allowed(game) == {"draw", "6-4", "1-1", "5-5"}


def test_an_optional_draw_is_all_there_is_to_do_when_nothing_fits() -> None:
    game = push_all(game_of("6-4 1-1", "0-0 2-2", draw="optional"), "6-4")
    assert allowed(game) == {"draw"}


def test_a_pass_is_allowed_only_when_nothing_can_be_played_and_nothing_drawn() -> None:
    game = game_of("0-0 1-0", "1-1 2-2", max_pip=2, reserve=2, draw="optional")
    push_all(game, "0-0")
    assert allowed(game) == {"pass"}
    push_all(game, "pass")
    assert game.turn == 0
    assert allowed(game) == {"1-0@0x"}


def test_a_forced_draw_or_pass_is_no_move() -> None:
    game = game_of("6-4 1-1", "4-0 2-2")
    for word in ("draw", "pass"):
        with pytest.raises(IllegalMoveError, match=f"{word} is not allowed"):
            game.push(word)


def test_every_form_of_the_legal_actions_allows_the_same() -> None:
    random, games = Random(1), list[Game]()
    for seed in range(40):
        rules: dict[str, Any] = {"players": 2 + seed % 4, "draw": CHOICES["draw"][seed // 4 % 2]}
        rules |= {"teams": False, "lead_tile": CHOICES["lead_tile"][seed // 8 % 2]}
        game = Game("five_up", **rules, seed=seed)
        games.append(play_randomly(game, random, random.randrange(60)))
    for draw in CHOICES["draw"]:
        games.append(highest_double("6-5 6-4", "5-5 1-0", draw=draw))
    for game in games:
        view, over = game.view(0 if game.turn is None else game.turn)[0], game.turn is None
        public, hand, mask = view["public"], view["hand"], game.action_mask()
        actions = set(mask.nonzero()[0].tolist())
        assert set(mask.tolist()) <= {0, 1}
        assert over == (not actions)
        rows = np.zeros((2, ACTION_COUNT), np.int8)
        mark_legal_at(game.state(), 0, rows)
        assert (rows == [mask, 0 * mask]).all()
        every = range(-2, ACTION_COUNT + 2)
        assert {a for a in every if is_legal(public, hand, a)} == actions
        assert {a for a in every if is_legal_at(game.state(), 0, a)} == actions
        assert legal_count(public, hand) == legal_count_at(game.state(), 0) == len(actions)
        if not over:
            assert {nth_legal(public, hand, n) for n in range(len(actions))} == actions
            listed = np.full(ACTION_COUNT, -1)
            assert list_legal(public, hand, listed) == len(actions)
            assert set(listed.tolist()) == actions | {-1}


# --- What a game stores


def test_a_leader_never_passes_even_where_nobody_can_draw() -> None:
    game = Game("five_up", 4, draw="optional", hand_size=7, seed=1)
    assert game.boneyard_count == 0
    assert not is_legal_at(game.state(), 0, PASS)


def test_what_a_seat_lacks_is_kept_with_the_ply_and_its_draws() -> None:
    game = game_of("6-4 4-1 2-2", "1-1 3-2 5-3", top="2-0 0-0 6-1 3-0", spinners="none")
    push_all(game, "6-4")  # seat 1 draws 2-0, 0-0 and 6-1
    public = game.state()["public"][0]
    shown = np.zeros((2, 7), bool)
    shown[1, [4, 6]] = True
    assert public["lacked"].tolist() == [0, 1 << 4 | 1 << 6, 0, 0, 0]
    assert (public["lack_ply"][:2] == np.where(shown, 1, -1)).all()
    assert (public["lack_draws"][:2] == np.where(shown, 3, -1)).all()


def test_lacks_add_up_and_the_last_time_counts() -> None:
    top = "5-3 6-0 0-0 6-6"
    game = game_of("6-4 4-4 2-2", "1-1 3-2 5-5", top=top, spinners="none")
    push_all(game, "6-4 6-0@6 4-4@4")  # seat 1 has neither 0 nor 4, and draws 0-0
    public = game.state()["public"][0]
    assert public["lacked"].tolist() == [0, 1 << 0 | 1 << 4 | 1 << 6, 0, 0, 0]
    assert public["lack_ply"][1].tolist() == [3, -1, -1, -1, 3, -1, 1]
    assert public["lack_draws"][1].tolist() == [3, -1, -1, -1, 3, -1, 2]


def test_a_new_hand_forgets_the_one_before_and_marks_what_is_not_there() -> None:
    game = Game("five_up", 2, max_pip=3, hand_size=3, seed=3)
    played = play_randomly(game, Random(3), 1_000)
    for state in [*played.hand_states(), played.state()]:
        public, tiles = state["public"][0], 10
        assert (state["order"][0, tiles:] == -1).all()
        for name in ("play_seat", "play_action"):
            assert (public[name][public["plies"] :] == -1).all()
        for name in ("draw_seat", "draw_ply"):
            assert (public[name][public["drawn"] :] == -1).all()
