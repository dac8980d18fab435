"""The rules of a hand's end and of the game's end: each case is named after what it checks.

The lead dominoes a hand of one tile, so most deals here are of single tiles.
"""

from __future__ import annotations

from typing import Any

import pytest

from fiveup_env import Game, Rules
from fiveup_env.engine.scoring import FIVES
from fiveup_env.game.values import HandEnd, Outcome
from fiveup_env.rules.fields import MAX_MULTIPLE
from tests.support import EVERY_PRESET, deal, game_of, push_all

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


# --- The end of a hand

OWN: dict[str, Any] = {}
WINNER: dict[str, Any] = {"hand_end": "winner_takes"}
ARMANINO: dict[str, Any] = {"hand_end": "armanino"}
DIFFERENCE: dict[str, Any] = {"block_pays": "difference"}
PARTNERS = ("6-3", "2-1", "2-0", "3-0")  # 2 and 6 pips, or 1 + 1 and 0 rounded hands

# What dominoed hands bring, by the rule that each case checks.
DOMINOED: dict[str, tuple[tuple[str, ...], dict[str, Any], tuple[int, ...]]] = {
    "every side loses its rounded pips": (("6-3", "2-1", "6-6"), OWN, (0, -1, -2)),
    "2 pips round to nothing": (("6-3", "2-0"), OWN, (0, 0)),
    "3 pips round to a five": (("6-3", "2-1"), OWN, (0, -1)),
    "7 pips round to a five": (("6-3", "5-2"), OWN, (0, -1)),
    "8 pips round to two fives": (("6-3", "5-3"), OWN, (0, -2)),
    "each hand of a side is rounded by itself": (PARTNERS, {"round_per": "hand"}, (0, -2)),
    "or the sum of a side is rounded": (PARTNERS, {"round_per": "side"}, (0, -1)),
    "of its own, all is the sum of the side": (PARTNERS, {"round_per": "all"}, (0, -1)),
    "the side that went out loses its partner's": (("6-3", "1-0", "6-6", "1-1"), OWN, (-2, 0)),
    "points come in the unit": (("6-3", "6-6"), {"unit": 5}, (0, -10)),
    "5 pips round to two threes": (("6-3", "4-1"), {"multiple": 3}, (0, -2)),
    "4 pips round to a three": (("6-3", "3-1"), {"multiple": 3}, (0, -1)),
    "2 pips round to no four": (("6-3", "2-0"), {"multiple": 4}, (0, 0)),
    "a winner takes the rounded sum of all": (("6-3", "2-0", "2-1"), WINNER, (1, 0, 0)),
    "a winner's partner counts for nobody": (("6-3", "1-0", "6-6", "1-1"), WINNER, (1, 0)),
    "a winner takes each rounded hand": (PARTNERS, WINNER | {"round_per": "hand"}, (2, 0)),
    "a winner takes each rounded side": (PARTNERS, WINNER | {"round_per": "side"}, (1, 0)),
    "alone, each hand is a side": (
        ("6-3", "2-1", "3-0"), WINNER | {"round_per": "side"}, (2, 0, 0),
    ),
    "alone, the sum of all is rounded": (("6-3", "2-1", "3-0"), WINNER, (1, 0, 0)),
    "who went out is paid in full beside a difference": (
        ("6-3", "1-0", "6-6", "1-1"), WINNER | DIFFERENCE, (1, 0),
    ),
    "two sides by Armanino are paid as winner_takes": (("6-3", "6-6"), ARMANINO, (2, 0)),
    "of three, the lower gains the difference": (("6-3", "2-1", "6-6"), ARMANINO, (3, 2, 0)),
    "of three, the lower may sit last": (("6-3", "6-6", "2-1"), ARMANINO, (3, 0, 2)),
    "of three, the difference is one number": (("6-3", "2-1", "6-2"), ARMANINO, (2, 1, 0)),
    "of three, the winner takes each hand": (
        ("6-3", "2-1", "6-2"), ARMANINO | {"round_per": "hand"}, (3, 1, 0),
    ),
    "of three, equal losers gain nothing": (("6-3", "2-1", "3-0"), ARMANINO, (1, 0, 0)),
    "more than three are paid as winner_takes": (
        ("6-3", "2-1", "6-6", "3-0", "2-0"), ARMANINO | {"round_per": "hand"}, (4, 0, 0, 0, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("hands", "fields", "points"), DOMINOED.values(), ids=DOMINOED)
def test_the_points_of_a_hand_that_is_dominoed(
    hands: tuple[str, ...], fields: dict[str, Any], points: tuple[int, ...]
) -> None:
    assert dominoed(*hands, **fields) == points


# What blocked hands bring.
BLOCKED: dict[str, tuple[Any, dict[str, Any], tuple[int, ...]]] = {
    "every side loses its own": (lowest_of_two, OWN, (0, -2)),
    "the side with fewest pips is paid": (lowest_of_two, WINNER, (2, 0)),
    "of three, too": (lowest_of_three, WINNER, (0, 4, 0)),
    "a tie of two sides brings nothing": (tied_of_two, WINNER, (0, 0)),
    "two that tie of three gain half of the third's": (two_tied_of_three, WINNER, (1, 1, 0)),
    "partners are paid each rounded hand": (
        lower_partners, WINNER | {"round_per": "hand"}, (0, 2),
    ),
    "partners are paid the rounded side": (lower_partners, WINNER | {"round_per": "side"}, (0, 1)),
    "partners are paid the rounded sum": (lower_partners, WINNER, (0, 1)),
    "a block pays the others' pips": (lower_of_two, WINNER, (0, 2)),
    "or those less the winner's own": (lower_of_two, WINNER | DIFFERENCE, (0, 1)),
    "by Armanino's scoring, too": (lower_of_two, ARMANINO | DIFFERENCE, (0, 1)),
    "a difference is rounded as one number": (  # 7 - 6 pips
        lower_partners, WINNER | DIFFERENCE | {"round_per": "hand"}, (0, 0),
    ),
    "two that tie share beside a difference": (
        two_tied_of_three, WINNER | DIFFERENCE, (1, 1, 0),
    ),
    "a tie of two is nothing beside a difference": (tied_of_two, WINNER | DIFFERENCE, (0, 0)),
    "two sides by Armanino are paid as winner_takes": (lowest_of_two, ARMANINO, (2, 0)),
    "two that tie by Armanino are paid nothing": (tied_of_two, ARMANINO, (0, 0)),
    "only the lowest of three gains by Armanino": (lowest_of_three, ARMANINO, (0, 4, 0)),
    "a tie among three brings nothing by Armanino": (two_tied_of_three, ARMANINO, (0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize(("play", "fields", "points"), BLOCKED.values(), ids=BLOCKED)
def test_the_points_of_a_hand_that_is_blocked(
    play: Any, fields: dict[str, Any], points: tuple[int, ...]
) -> None:
    assert points_of(play(**fields)) == points


def test_half_of_the_thirds_pips_is_rounded_to_the_nearest_multiple() -> None:
    for multiple, gained in ((3, 2), (4, 1), (5, 1), (10, 1), (11, 0), (12, 0)):
        assert points_of(two_tied_of_three(**WINNER, multiple=multiple)) == (gained, gained, 0)


def test_of_three_sides_the_lower_gains_whoever_went_out() -> None:
    game = push_all(game_of("2-1", "6-6", "6-3", hand_end="armanino", lead=2), "6-3")
    assert points_of(game) == (2, 0, 3)


# --- What is rounded by default


def test_what_is_rounded_follows_the_hand_end_unless_it_is_given() -> None:
    assert Rules.preset("five_up").round_per == "hand"
    assert Rules.preset("five_up", hand_end="winner_takes").round_per == "all"
    assert Rules.preset("five_up", hand_end="armanino", round_per="side").round_per == "side"
    assert Rules.of("all_fives", hand_end="subtract_own").round_per == "hand"
    plain, by_side = Rules.preset("five_up"), Rules.preset("five_up", round_per="side")
    assert Rules.of(plain, hand_end="winner_takes").round_per == "all"
    assert Rules.of(by_side, hand_end="subtract_own", target=30).round_per == "side"


def test_presets_keep_their_names_and_round_as_their_hand_end_does() -> None:
    for rules in EVERY_PRESET:
        assert rules.name is not None
        assert rules.round_per == ("hand" if rules.hand_end == "subtract_own" else "all")
        assert Rules.of(rules, round_per="side").name is None
        assert Rules.from_struct(rules.to_struct().reshape(1)[0]) == rules
    assert Rules.preset(players=3, hand_size=4, max_pip=5).boneyard_size == 21 - 12


# --- The end of the game


def test_the_hand_in_which_the_target_is_reached_is_played_to_its_end() -> None:
    game = push_all(game_of("6-4 1-1", "5-4 6-0", target=2), "6-4")
    assert game.scores == (2, 0)
    assert game.outcome() is None


def test_the_highest_side_wins_once_the_hand_is_scored() -> None:
    game = push_all(game_of("6-4", "6-6", target=2), "6-4")
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
    for target, before in ((1, 0), (2, 1)):  # even by one
        game = game_of("6-4 1-1", "5-4 6-0", target=target, exact_target=True)
        game._state["public"]["scores"][0, 0] = before
        assert push_all(game, "6-4").scores == (before, 0)


def test_points_past_an_exact_target_are_not_scored_at_a_hands_end() -> None:
    fields: dict[str, Any] = {"target": 1, "exact_target": True, "hand_end": "winner_takes"}
    game = push_all(game_of("6-3", "6-6", **fields), "6-3")
    assert points_of(game) == (0, 0)
    assert game.outcome() is None


def test_an_exact_target_is_won_when_hit() -> None:
    assert push_all(game_of("6-4", "1-0", target=2, exact_target=True), "6-4").outcome() is not None


def test_who_went_out_leads_the_next_hand() -> None:
    deals = [deal("6-3", "6-6", lead=0), deal("1-0", "2-0", lead=1)]
    game = push_all(Game("five_up", 2, hand_size=1, deals=deals, seed=0), "6-3")
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


def test_a_single_point_wins_a_game_that_ends_at_once() -> None:
    game = game_of("4-1 0-0", "6-6 6-5", unit=1, target=1, game_end="immediate")
    outcome = push_all(game, "4-1").outcome()
    assert outcome is not None
    assert (outcome.winner, outcome.ended) == (0, "target")


def test_the_table_of_points_has_every_multiple_and_the_pips_of_a_whole_set() -> None:
    assert FIVES.shape == (MAX_MULTIPLE + 1, 168 + 1)
