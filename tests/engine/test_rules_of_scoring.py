"""The rules of a hand's end and of the game's end: each case is named after what it checks.

The lead dominoes a hand of one tile, so most deals here are of single tiles.
"""

from __future__ import annotations

from typing import Any

import pytest

from fiveup_env import Deal, Game, Rules
from fiveup_env.engine.scoring import FIVES
from fiveup_env.game.values import HandEnd, Outcome
from fiveup_env.rules.fields import MAX_MULTIPLE
from tests.support import EVERY_PRESET, deal, game_of, label, push_all

# Hands that block in double-three without spinners, where the last two tiles stay in the boneyard.
BLOCKS: dict[str, Any] = {"max_pip": 3, "reserve": 2, "spinners": "none"}


def end_of(game: Game) -> HandEnd:
    end = game.last_hand()
    assert end is not None
    return end


def points_of(game: Game) -> tuple[int, ...]:
    points = end_of(game).end_points
    assert points is not None
    return points


def dominoed(*hands: str, **fields: Any) -> tuple[int, ...]:
    """Return the end points of a hand that seat 0 dominoes with its lead."""
    game = game_of(*hands, **fields)
    return points_of(push_all(game, hands[0]))


def pips_left(game: Game) -> list[int]:
    return [sum(tile.pips for tile in hand) for hand in end_of(game).left]


def lowest_of_two(**fields: Any) -> Game:
    top = "3-2 1-1 3-3 1-0 2-0 2-2"
    game = push_all(game_of("0-0 2-1", "3-0 3-1", top=top, **BLOCKS, **fields), "2-1 3-1@1 3-2@3")
    assert pips_left(game) == [0, 12]
    return game


def tied_of_two(**fields: Any) -> Game:
    game = game_of("2-0 2-2", "2-1 3-2", lead=1, top="1-1 3-0 0-0 1-0 3-1 3-3", **BLOCKS, **fields)
    push_all(game, "3-2 2-0@2 3-0@0")
    assert pips_left(game) == [5, 5]
    return game


def lowest_of_three(**fields: Any) -> Game:
    game = game_of("2-1 3-0", "0-0 2-0", "1-0 3-2", top="3-3 2-2 1-1 3-1", **BLOCKS, **fields)
    push_all(game, "2-1 2-0@2 1-0@0")
    assert pips_left(game) == [13, 0, 5]
    return game


def two_tied_of_three(**fields: Any) -> Game:
    top = "1-1 2-1 1-0 0-0"
    game = game_of("3-1 3-2", "2-2 3-0", "2-0 3-3", lead=2, top=top, **BLOCKS, **fields)
    push_all(game, "2-0 3-2@2 3-0@3")
    assert pips_left(game) == [4, 4, 11]
    return game


def lower_of_two(**fields: Any) -> Game:
    game = game_of("3-2 3-3", "2-2 3-1", top="3-0 2-1 0-0 2-0 1-1 1-0", **BLOCKS, **fields)
    push_all(game, "3-2 3-1@3 2-1@2")
    assert pips_left(game) == [9, 6]
    return game


def lower_partners(**fields: Any) -> Game:
    hands = ("2-0 3-0", "1-1 3-3", "2-1 3-1", "0-0 1-0")
    game = push_all(game_of(*hands, lead=3, **BLOCKS, **fields), "1-0 2-0@0 1-1@1 2-1@1x")
    assert pips_left(game) == [3, 6, 4, 0]  # 7 pips against 6
    return game


# --- subtract_own


def test_every_side_loses_the_rounded_pips_that_it_holds() -> None:
    assert dominoed("6-3", "2-1", "6-6") == (0, -1, -2)


@pytest.mark.parametrize(
    ("tile", "lost"), [("2-0", 0), ("2-1", 1), ("5-2", 1), ("5-3", 2), ("6-6", 2)]
)
def test_pips_round_to_the_nearest_five(tile: str, lost: int) -> None:
    assert dominoed("6-3", tile) == (0, -lost)


def test_each_hand_of_a_side_is_rounded_by_itself() -> None:
    assert dominoed("6-3", "2-1", "2-0", "3-0", round_per="hand") == (0, -2)


def test_or_the_sum_of_a_side_is_rounded() -> None:
    assert dominoed("6-3", "2-1", "2-0", "3-0", round_per="side") == (0, -1)


def test_the_sum_of_all_that_a_side_holds_is_the_sum_of_the_side() -> None:
    assert dominoed("6-3", "2-1", "2-0", "3-0", round_per="all") == (0, -1)


def test_the_side_that_went_out_still_loses_what_its_partner_holds() -> None:
    assert dominoed("6-3", "1-0", "6-6", "1-1") == (-2, 0)


def test_a_blocked_hand_is_subtracted_in_the_same_way() -> None:
    assert points_of(lowest_of_two()) == (0, -2)


def test_a_score_may_go_below_zero() -> None:
    assert push_all(game_of("6-3", "6-6"), "6-3").scores == (0, -2)


def test_end_points_come_in_the_unit() -> None:
    assert dominoed("6-3", "6-6", unit=5) == (0, -10)


def test_another_multiple_rounds_to_itself() -> None:
    assert dominoed("6-3", "4-1", multiple=3) == (0, -2)
    assert dominoed("6-3", "3-1", multiple=3) == (0, -1)
    assert dominoed("6-3", "2-0", multiple=4) == (0, 0)


# --- winner_takes


def test_the_side_that_went_out_gains_the_rounded_sum_of_all_others() -> None:
    assert dominoed("6-3", "2-0", "2-1", hand_end="winner_takes") == (1, 0, 0)


def test_what_the_winners_partner_holds_counts_for_nobody() -> None:
    assert dominoed("6-3", "1-0", "6-6", "1-1", hand_end="winner_takes") == (1, 0)


def test_in_a_blocked_hand_the_side_with_fewest_pips_gains_the_sum_of_the_others() -> None:
    assert points_of(lowest_of_two(hand_end="winner_takes")) == (2, 0)
    assert points_of(lowest_of_three(hand_end="winner_takes")) == (0, 4, 0)


def test_a_tie_for_fewest_pips_brings_two_sides_nothing() -> None:
    assert points_of(tied_of_two(hand_end="winner_takes")) == (0, 0)


def test_of_three_sides_the_two_that_tie_gain_half_the_pips_of_the_third() -> None:
    assert points_of(two_tied_of_three(hand_end="winner_takes")) == (1, 1, 0)


def test_half_of_the_thirds_pips_is_rounded_to_the_nearest_multiple() -> None:
    for multiple, gained in ((3, 2), (4, 1), (5, 1), (10, 1), (11, 0), (12, 0)):
        game = two_tied_of_three(hand_end="winner_takes", multiple=multiple)
        assert points_of(game) == (gained, gained, 0)


@pytest.mark.parametrize(("round_per", "gained"), [("hand", 2), ("side", 1), ("all", 1)])
def test_a_winner_is_paid_each_opposing_hand_rounded_or_each_side_or_the_sum(
    round_per: str, gained: int
) -> None:
    fields = {"hand_end": "winner_takes", "round_per": round_per}
    assert dominoed("6-3", "2-1", "2-0", "3-0", **fields) == (gained, 0)
    assert points_of(lower_partners(**fields)) == (0, gained)


@pytest.mark.parametrize(("round_per", "gained"), [("hand", 2), ("side", 2), ("all", 1)])
def test_without_partners_each_opposing_hand_is_a_side(round_per: str, gained: int) -> None:
    fields = {"hand_end": "winner_takes", "round_per": round_per}
    assert dominoed("6-3", "2-1", "3-0", **fields) == (gained, 0, 0)


@pytest.mark.parametrize(("block_pays", "gained"), [("others", 2), ("difference", 1)])
def test_a_block_pays_the_others_pips_or_those_less_the_winners_own(
    block_pays: str, gained: int
) -> None:
    for hand_end in ("winner_takes", "armanino"):
        fields = {"hand_end": hand_end, "block_pays": block_pays}
        assert points_of(lower_of_two(**fields)) == (0, gained)


@pytest.mark.parametrize("round_per", ["hand", "side", "all"])
def test_a_difference_is_rounded_as_one_number(round_per: str) -> None:
    fields = {"hand_end": "winner_takes", "block_pays": "difference", "round_per": round_per}
    assert points_of(lower_partners(**fields)) == (0, 0)  # 7 - 6 = 1 pip


def test_who_went_out_is_paid_in_full_where_a_block_pays_the_difference() -> None:
    fields = {"hand_end": "winner_takes", "block_pays": "difference"}
    assert dominoed("6-3", "1-0", "6-6", "1-1", **fields) == (1, 0)


def test_two_that_tie_share_as_before_where_a_block_pays_the_difference() -> None:
    fields = {"hand_end": "winner_takes", "block_pays": "difference"}
    assert points_of(two_tied_of_three(**fields)) == (1, 1, 0)
    assert points_of(tied_of_two(**fields)) == (0, 0)


# --- armanino


def test_two_sides_in_armaninos_scoring_are_paid_as_winner_takes() -> None:
    assert dominoed("6-3", "6-6", hand_end="armanino") == (2, 0)
    assert points_of(lowest_of_two(hand_end="armanino")) == (2, 0)
    assert points_of(tied_of_two(hand_end="armanino")) == (0, 0)


def test_of_three_sides_the_lower_of_the_other_two_gains_the_difference() -> None:
    assert dominoed("6-3", "2-1", "6-6", hand_end="armanino") == (3, 2, 0)
    assert dominoed("6-3", "6-6", "2-1", hand_end="armanino") == (3, 0, 2)


@pytest.mark.parametrize(("round_per", "gained"), [("hand", 3), ("side", 3), ("all", 2)])
def test_of_three_sides_the_difference_is_rounded_as_one_number(
    round_per: str, gained: int
) -> None:
    # 3 and 8 pips: 1 and 2 fives, or 11 pips: 2 fives; 8 - 3 pips: 1 five.
    fields = {"hand_end": "armanino", "round_per": round_per}
    assert dominoed("6-3", "2-1", "6-2", **fields) == (gained, 1, 0)


def test_of_three_sides_the_lower_gains_whoever_went_out() -> None:
    game = push_all(game_of("2-1", "6-6", "6-3", hand_end="armanino", lead=2), "6-3")
    assert points_of(game) == (2, 0, 3)


def test_of_three_sides_two_equal_losers_gain_nothing() -> None:
    assert dominoed("6-3", "2-1", "3-0", hand_end="armanino") == (1, 0, 0)


def test_in_a_block_only_the_lowest_of_three_gains_the_others_pips_less_its_own() -> None:
    assert points_of(lowest_of_three(hand_end="armanino")) == (0, 4, 0)


def test_in_a_block_a_tie_among_three_brings_nothing() -> None:
    assert points_of(two_tied_of_three(hand_end="armanino")) == (0, 0, 0)


@pytest.mark.parametrize("round_per", ["hand", "all"])
def test_more_than_three_sides_are_paid_as_winner_takes(round_per: str) -> None:
    hands = ("6-3", "2-1", "6-6", "3-0", "2-0")
    armanino, winner_takes = (
        dominoed(*hands, hand_end=hand_end, round_per=round_per)
        for hand_end in ("armanino", "winner_takes")
    )
    assert armanino == winner_takes


# --- What is rounded by default


def test_what_is_rounded_follows_the_hand_end_unless_it_is_given() -> None:
    assert Rules.preset("five_up").round_per == "hand"
    assert Rules.preset("five_up", hand_end="winner_takes").round_per == "all"
    assert Rules.preset("five_up", hand_end="armanino", round_per="side").round_per == "side"
    assert Rules.of("all_fives", hand_end="subtract_own").round_per == "hand"


def test_another_hand_end_brings_its_own_rounding() -> None:
    plain, by_side = Rules.preset("five_up"), Rules.preset("five_up", round_per="side")
    assert Rules.of(plain, hand_end="winner_takes").round_per == "all"
    assert Rules.of(plain, hand_end="winner_takes", round_per="hand").round_per == "hand"
    assert Rules.of(Rules.preset("all_fives"), hand_end="subtract_own").round_per == "hand"
    assert Rules.of(by_side, hand_end="subtract_own", target=30).round_per == "side"


@pytest.mark.parametrize("rules", EVERY_PRESET, ids=label)
def test_presets_keep_their_names_and_round_as_their_hand_end_does(rules: Rules) -> None:
    assert rules.name is not None
    assert rules.round_per == ("hand" if rules.hand_end == "subtract_own" else "all")
    assert Rules.of(rules, round_per="side").name is None
    assert Rules.from_struct(rules.to_struct().reshape(1)[0]) == rules


# --- The end of the game


def single(lead: str, other: str) -> Deal:
    """Return a deal of single tiles, whose leader dominoes with the lead."""
    return deal(lead, other)


def game_of_hands(*deals: Deal, **fields: Any) -> Game:
    """Return a game of two in which whoever leads a hand dominoes with the lead."""
    rules = Rules.preset(players=2, hand_size=1, **fields)
    return Game(rules, deals=deals, seed=0)


def test_the_hand_in_which_the_target_is_reached_is_played_to_its_end() -> None:
    game = push_all(game_of("6-4 1-1", "5-4 6-0", target=2), "6-4")
    assert game.scores == (2, 0)
    assert game.outcome() is None


def test_the_highest_side_wins_once_the_hand_is_scored() -> None:
    game = push_all(game_of_hands(single("6-4", "6-6"), target=2), "6-4")
    assert game.outcome() == Outcome(winner=0, seats=(0,), ended="domino", scores=(2, -2))


def test_any_of_three_sides_may_win() -> None:
    for winner in range(3):
        hands = ["6-6", "6-5", "6-2"]  # they lose 2, 2 and 2 fives
        game = game_of(*hands, target=1, lead=winner)
        game._state["public"]["scores"][0, :3] = [[9, 5, 4], [5, 9, 4], [4, 5, 9]][winner]
        push_all(game, hands[winner])
        outcome = game.outcome()
        assert outcome is not None
        assert outcome.winner == winner


def test_a_tie_at_the_top_is_played_off_in_further_hands() -> None:
    deals = (deal("5-5 1-0", "5-0 1-1"), deal("3-2 1-1", "5-4 5-0"))
    game = Game("five_up", 2, hand_size=2, target=2, deals=deals, seed=0)
    push_all(game, "5-5 5-0@5x 1-0@0")
    assert game.scores == (2, 2)
    assert game.hand_over
    assert game.outcome() is None


def test_the_game_ends_at_once_with_the_play_that_reaches_the_target() -> None:
    game = push_all(game_of("6-4 1-1", "5-4 6-0", target=2, game_end="immediate"), "6-4")
    assert game.outcome() == Outcome(winner=0, seats=(0,), ended="target", scores=(2, 0))


def test_a_play_that_scores_nothing_does_not_end_a_game_that_is_played_off() -> None:
    game = game_of("6-3 1-1", "5-4 6-0", target=2, game_end="immediate")
    game._state["public"]["scores"][0, :2] = 2
    push_all(game, "6-3")
    assert game.outcome() is None


def test_nothing_left_in_the_hands_counts_after_an_immediate_end() -> None:
    game = push_all(game_of("6-4", "6-6", target=2, game_end="immediate"), "6-4")
    assert end_of(game).ended == "target"
    assert end_of(game).end_points is None
    assert game.scores == (2, 0)


def test_an_immediate_game_may_also_be_won_by_the_end_of_a_hand() -> None:
    fields: dict[str, Any] = {"target": 2, "game_end": "immediate", "hand_end": "winner_takes"}
    game = push_all(game_of("6-3", "6-6", **fields), "6-3")
    assert game.outcome() == Outcome(winner=0, seats=(0,), ended="domino", scores=(2, 0))


def test_points_past_an_exact_target_are_not_scored_at_a_play() -> None:
    game = push_all(game_of("6-4 1-1", "5-4 6-0", target=1, exact_target=True), "6-4")
    assert game.scores == (0, 0)


def test_not_even_one_point_past_an_exact_target_is_scored() -> None:
    game = game_of("4-1 1-1", "5-4 6-0", target=1, exact_target=True)
    game._state["public"]["scores"][0, 0] = 1
    push_all(game, "4-1")
    assert game.scores == (1, 0)


def test_points_past_an_exact_target_are_not_scored_at_a_hands_end() -> None:
    fields: dict[str, Any] = {"target": 1, "exact_target": True, "hand_end": "winner_takes"}
    game = push_all(game_of("6-3", "6-6", **fields), "6-3")
    assert points_of(game) == (0, 0)
    assert game.outcome() is None


def test_an_exact_target_is_won_when_hit() -> None:
    game = push_all(game_of("6-4", "1-0", target=2, exact_target=True), "6-4")
    assert game.outcome() is not None


def test_who_went_out_leads_the_next_hand() -> None:
    game = push_all(game_of_hands(deal("6-3", "6-6", lead=0), deal("1-0", "2-0", lead=1)), "6-3")
    assert game.hand_number == 1
    assert game.lead == 0


def after_a_block(lot: int = 1, **fields: Any) -> Game:
    """Return a game whose first hand, led by seat 0, was blocked, and with the lot for the next."""
    first = deal("0-0 2-1", "3-0 3-1", top="3-2 1-1 3-3 1-0 2-0 2-2", max_pip=3)
    second = deal("0-0 2-1", "3-0 3-1", lead=lot, max_pip=3)
    game = Game("five_up", 2, hand_size=2, deals=[first, second], seed=0, **BLOCKS, **fields)
    return push_all(game, "2-1 3-1@1 3-2@3")


def test_the_lot_decides_who_leads_after_a_blocked_hand() -> None:
    assert after_a_block().lead == 1


def test_the_lead_rotates_however_a_hand_ended() -> None:
    hands = ("6-3", "6-6", "1-0")
    deals = [deal(*hands, lead=2), deal(*hands, lead=2), deal(*hands, lead=2)]
    game = Game("five_up", 3, hand_size=1, deals=deals, seed=0, leader="rotate")
    assert game.lead == 2  # by lot
    push_all(game, "1-0")
    assert game.lead == 0
    push_all(game, "6-3")
    assert game.lead == 1
    assert after_a_block(leader="rotate", lot=0).lead == 1


def test_the_highest_double_leads_again_after_a_block() -> None:
    first = deal("1-0 2-1", "2-0 3-2", top="3-1 2-2 1-1 0-0 3-0 3-3", max_pip=3)
    second = deal("1-1 0-0", "2-2 2-1", lead=0, max_pip=3)
    fields: dict[str, Any] = {"lead_tile": "highest_double", **BLOCKS}
    game = Game("five_up", 2, hand_size=2, deals=[first, second], seed=0, **fields)
    push_all(game, "3-2 2-1@2 3-1@1")
    assert end_of(game).ended == "blocked"
    assert game.lead == 1
    assert list(map(str, game.legal_moves)) == ["2-2"]


@pytest.mark.parametrize("leader", ["winner", "rotate"])
def test_who_leads_without_a_lot_may_lead_any_tile(leader: str) -> None:
    deals = [deal("6-5 1-0", "5-5 5-4"), deal("6-6 4-1", "5-5 6-4")]
    fields: dict[str, Any] = {"lead_tile": "highest_double", "leader": leader}
    game = Game("five_up", 2, hand_size=2, deals=deals, seed=0, **fields)
    push_all(game, "5-5 6-5@5x 5-4@5x")
    assert game.hand_number == 1
    assert game.lead == (1 if leader == "winner" else 0)
    assert len(game.legal_moves) == 2


def test_partners_sit_opposite_each_other_and_everybody_else_plays_alone() -> None:
    for teams, sides in ((True, [0, 1, 0, 1]), (False, [0, 1, 2, 3])):
        rules = Rules.preset(players=4, teams=teams)
        assert [rules.side_of(seat) for seat in range(4)] == sides


def test_what_is_not_dealt_is_the_boneyard() -> None:
    assert Rules.preset(players=3, hand_size=4, max_pip=5).boneyard_size == 21 - 12


def test_a_single_point_wins_a_game_that_ends_at_once() -> None:
    game = game_of("4-1 0-0", "6-6 6-5", unit=1, target=1, game_end="immediate")
    outcome = push_all(game, "4-1").outcome()
    assert outcome is not None
    assert (outcome.winner, outcome.ended) == (0, "target")


def test_the_table_of_points_has_every_multiple_and_the_pips_of_a_whole_set() -> None:
    assert FIVES.shape == (MAX_MULTIPLE + 1, 168 + 1)
