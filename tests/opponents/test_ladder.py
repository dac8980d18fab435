"""The heuristic ladder: features are what their names say, and each rung beats the one below."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from fiveup_env import Game, Rules, Tile
from fiveup_env.native import Array, compiled
from fiveup_env.opponents.heuristics.features import (
    EVERY_FEATURE,
    FEATURE_NAMES,
    FEATURES,
    SCRATCH,
    look_around,
    write_features,
)
from fiveup_env.opponents.heuristics.ladder import LADDER, weights_of
from fiveup_env.opponents.search.inference import shipped_model
from fiveup_env.opponents.search.outlook import outlook_of
from tests.support import choices, game_of, push_all


def test_nobody_can_write_into_what_all_share() -> None:
    outlook = outlook_of(Rules.preset(players=2).to_struct())
    for shared in (weights_of("partner"), shipped_model(), outlook):
        with pytest.raises(ValueError, match="read-only"):
            shared[...] = 0


@compiled
def weighed(views: Array, action: int, weights: Array, scratch: Array) -> float:
    public, hand = views[0].public, views[0].hand
    unseen = look_around(public, hand, EVERY_FEATURE, scratch[0])
    write_features(public, hand, unseen, action, weights, scratch[0])
    return (weights * scratch[0].features).sum()


def feature(name: str, game: Game, move: str) -> float:
    """What a feature of a move comes to."""
    weights = (np.array(FEATURE_NAMES) == name).astype(float)
    return weighed(game.view(), game.parse(move).action, weights, np.zeros(1, SCRATCH))


def mean_over_hands(game: Game, kept: str, size: int, of: Callable[[set[str]], float]) -> float:
    """The mean over every hand that could be made of the tiles that the seat to move cannot see."""
    seen = {*kept.split(), *(str(move.tile) for move in game.moves if move.tile)}
    tiles = [f"{high}-{low}" for high in range(4) for low in range(high + 1)]
    unseen = [tile for tile in tiles if tile not in seen]
    return float(np.mean([of(set(hand)) for hand in itertools.combinations(unseen, size)]))


def has(hand: set[str], *pips: int) -> bool:
    return any(
        pip in (Tile.parse(tile).high, Tile.parse(tile).low) for tile in hand for pip in pips
    )


@pytest.fixture
def small() -> Game:
    """Double-three, 2-1 led; the next player holds 3-1 3-3 and is to move."""
    return push_all(game_of("2-1 1-0", "3-1 3-3", max_pip=3), "2-1")


# --- Features


def test_the_expected_reply_is_the_mean_over_all_hands(small: Game) -> None:
    # 3-1 on 1 leaves ends 3 and 2.
    def reply(hand: set[str]) -> float:
        best = 0
        for tile in hand:
            high, low = (int(pip) for pip in tile.split("-"))
            for end, other in ((3, 2), (2, 3)):
                if end in (high, low):
                    shows = 2 * end if high == low else high + low - end
                    total = other + shows
                    best = max(best, total // 5 if total % 5 == 0 else 0)
        return best

    expected = mean_over_hands(small, "3-1 3-3", 1, reply)
    assert feature("reply", small, "3-1@1") == pytest.approx(expected)


def test_the_chance_that_the_next_player_is_stuck_is_the_share_of_such_hands(small: Game) -> None:
    expected = mean_over_hands(small, "3-1 3-3", 1, lambda hand: not has(hand, 3, 2))
    assert 0 < expected < 1
    assert feature("starve", small, "3-1@1") == pytest.approx(expected)


def test_what_a_player_was_shown_to_lack_is_not_expected_of_it() -> None:
    # Seat 1 draws all it may and passes: it has no threes, and so all six other tiles.
    hands, top = ("3-3 3-2 3-1", "0-0 1-0 2-0"), "1-1 2-1 2-2 3-0"
    game = push_all(game_of(*hands, top=top, reserve=1, max_pip=3), "3-3")
    assert game.turn == 0
    # After 3-2 the total is 6 + 2; it must have 2-2, which makes 10.
    assert feature("reply", game, "3-2@3x") == pytest.approx(2)


def test_pips_doubles_and_what_is_kept(small: Game) -> None:
    assert feature("pips", small, "3-1@1") == pytest.approx(4 / 5)
    assert feature("double", small, "3-1@1") == 0
    # 3-3 is kept; the ends are 3 and 2. It fits, and makes 6 + 2 = 8.
    assert feature("follow", small, "3-1@1") == 0
    unseen = ["3-2", "3-0", "2-2", "2-0"]  # those that fit
    assert feature("control", small, "3-1@1") == pytest.approx(1 / (1 + len(unseen)))
    led = game_of("5-5 5-0 0-0 6-1 2-1", "1-1 2-2 3-3 4-4 6-6")
    assert feature("double", led, "5-5") == 1
    assert feature("follow", led, "5-5") == 2  # 5-0 leaves the total at 10


def test_players_that_one_knows_as_much_about_are_expected_to_do_as_well() -> None:
    game = game_of("6-5 1-0", "5-4 2-2", "4-4 3-3", "0-0 6-6")
    assert feature("feed", game, "6-5") == feature("reply", game, "6-5") > 0
    assert feature("starve_last", game, "6-5") == feature("starve", game, "6-5") > 0


def test_without_a_partner_there_is_nothing_to_feed(small: Game) -> None:
    for name in LADDER["partner"]:
        assert feature(name, small, "3-1@1") == 0


# --- The rungs


def test_every_rung_weighs_its_own_features_and_those_below() -> None:
    allowed: set[str] = set()
    for rung, names in LADDER.items():
        allowed |= set(names)
        used = set(np.array(FEATURE_NAMES)[weights_of(rung) != 0])
        assert used <= allowed
        assert used & set(names), rung
    assert allowed == set(FEATURES)


def test_greedy_takes_the_most_points_now_and_any_of_equals() -> None:
    game = push_all(game_of("6-4 1-0 2-2", "6-6 5-4 3-2"), "6-4")
    # 6-6 makes 4 + 12 = 16, 5-4 makes 6 + 5 = 11: nothing either way.
    assert choices("greedy", game) == {"6-6@6", "5-4@4"}
    game = push_all(game_of("6-3 1-0 2-2", "6-2 3-1 5-4"), "6-3")
    # 6-2 makes 3 + 2 = 5, 3-1 makes 6 + 1 = 7.
    assert choices("greedy", game) == {"6-2@6"}


def test_defensive_minds_what_the_next_player_may_answer() -> None:
    # Neither lead scores. After 0-0 only 5-0 scores, one point; after 6-6 only 6-3, three.
    game = game_of("0-0 6-6", "4-1 5-2")
    assert choices("greedy", game) == {"0-0", "6-6"}
    assert choices("defensive", game) == {"0-0"}
