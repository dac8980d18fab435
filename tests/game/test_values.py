"""Tiles, moves, rules, deals and games as values: they compare, they are copied, and say what they are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiveup_env import (
    MOVES,
    TILES,
    Deal,
    Game,
    IllegalMoveError,
    InvalidMoveError,
    Move,
    Rules,
    Tile,
    make_agent,
)
from fiveup_env.errors import AgentError, FiveUpError, GameOverError, TileError
from fiveup_env.game.records import dumps, loads
from fiveup_env.rules import MINIS, PRESETS
from fiveup_env.rules.fields import BOUNDS, CHOICES, FLAGS
from fiveup_env.rules.presets import NAMED_RULES
from tests.support import deal, game_of, play_randomly, push_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

NAMES = {"Deal": Deal, "Move": Move, "Rules": Rules, "Tile": Tile}


def some_rules() -> list[Rules]:
    return [
        *(Rules.preset(name, 3) for name in PRESETS),
        *(Rules.preset(name, 2) for name in MINIS),
        Rules.preset("mini-2", 3, hand_end="armanino", multiple=8, max_pip=3),
        Rules.preset("muggins", 4, teams=False, hand_end="armanino"),
        Rules.preset("all_fives", 2, multiple=3),
        Rules.preset(players=4, hand_end="winner_takes", round_per="side", max_pip=5),
    ]


@pytest.mark.parametrize(
    "value",
    [*TILES[:3], *MOVES[::17], *some_rules(), deal("5-3 6-6", "0-0 1-0", top="2-0")],
    ids=repr,
)
def test_what_a_value_is_shown_as_makes_it_again(value: Any) -> None:
    assert eval(repr(value), NAMES) == value  # noqa: S307  (it is what this module has made)


@pytest.mark.parametrize("value", [Tile(5, 3), Move(37), Rules.preset("muggins", 3)], ids=repr)
def test_copies_are_equal_and_have_the_same_hash(value: Any) -> None:
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert twin == value
        assert hash(twin) == hash(value)
        assert type(twin) is type(value)


def made(make: Callable[..., Rules], **fields: Any) -> Rules | str:
    """Return some rules, or why there are none."""
    try:
        return make(**fields)
    except FiveUpError as error:
        return str(error)


@pytest.mark.parametrize("name", NAMED_RULES)
def test_rules_with_a_field_replaced_are_those_of_the_preset_with_that_field(name: str) -> None:
    values: dict[str, Iterable[Any]] = {**dict.fromkeys(FLAGS, (False, True)), **CHOICES}
    values |= {name: range(low, min(high, 400) + 2) for name, (low, high) in BOUNDS.items()}
    assert {"players", *values} == {field.name for field in dataclasses.fields(Rules)}
    changes = [{field: value} for field, allowed in values.items() for value in allowed]
    for players in range(2, 6):
        preset = partial(Rules.preset, name, players)
        if isinstance(rules := made(preset), Rules):
            for fields in changes:
                assert made(rules.replace, **fields) == made(preset, **fields), (players, fields)
            for count in range(2, 6):
                changed = made(rules.replace, players=count)
                assert changed == made(Rules.preset, name=name, players=count)


def test_a_field_that_was_given_another_value_follows_no_other() -> None:
    assert Rules.preset("all_fives", unit=1).replace(multiple=3).unit == 1
    assert Rules.preset(round_per="side").replace(hand_end="armanino").round_per == "side"
    assert Rules.preset("all_fives", 2, hand_size=6).replace(players=3).hand_size == 6
    assert not Rules.preset(teams=False).replace(players=4).teams


@given(st.integers(0, 6), st.integers(0, 6))
def test_a_tile_is_the_same_from_either_side(high: int, low: int) -> None:
    assert Tile(high, low) == Tile(low, high) == Tile.parse(f"{low}-{high}")
    assert TILES[Tile(low, high).id] == Tile(low, high)


@pytest.mark.parametrize("halves", [(7, 0), (0, -1), (2.5, 1), ("5", 3), (None, 1)])
def test_what_is_not_a_tile_is_refused(halves: Any) -> None:
    with pytest.raises(TileError, match="is not a valid tile; each half has 0 to 6 pips"):
        Tile(*halves)


# --- Games


def a_game() -> Game:
    return play_randomly(Game(players=3, seed=4), Random(4), 30)


@pytest.mark.parametrize(
    "twin_of",
    [copy.deepcopy, Game.copy, lambda game: pickle.loads(pickle.dumps(game))],
    ids=["deepcopy", "copy", "pickle"],
)
def test_a_copy_of_a_game_is_equal_until_one_of_them_goes_on(
    twin_of: Callable[[Game], Game],
) -> None:
    game = a_game()
    twin = twin_of(game)
    assert twin == game
    twin.push(next(iter(twin.legal_moves)))
    assert twin != game
    twin.pop()
    assert twin == game


def test_a_game_that_is_read_again_is_equal() -> None:
    for moves in (30, 10_000):
        game = play_randomly(Game(players=2, seed=1), Random(1), moves)
        assert loads(dumps(game)) == game


def test_games_differ_by_their_rules_their_deals_and_what_nobody_sees() -> None:
    game = Game(players=2, seed=1)
    assert game == Game(players=2, seed=1)
    assert game != Game(players=2, seed=2)
    assert game != Game(players=2, seed=1, target=30)
    first, second = (
        game_of("6-6 1-1", "0-0 2-2", top=top) for top in ("5-5 4-4 3-3", "4-4 5-5 3-3")
    )
    assert first != second
    assert game != "a game"


def test_the_same_move_may_end_one_hand_and_not_the_other() -> None:
    blocked, going = (
        push_all(game_of("0-0 2-1", hand, max_pip=2, reserve=2), "0-0")
        for hand in ("1-1 2-2", "1-0 2-2")
    )
    assert blocked.rules == going.rules
    assert blocked.moves == going.moves
    assert blocked.hand_over
    assert not going.hand_over
    assert blocked != going


def test_a_game_has_no_hash() -> None:
    game = Game(players=2, seed=1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(game)


def test_a_push_returns_the_move_which_peek_tells_and_pop_takes_back() -> None:
    game = game_of("6-6 1-1", "6-5 0-0")
    with pytest.raises(IllegalMoveError, match="there is no last move"):
        game.peek()
    assert game.push("6-6") == Move.parse("6-6") == game.peek()
    assert game.push("6-5@6x") == game.peek() == game.pop()
    assert game.peek() == Move.parse("6-6")


def test_a_game_is_over_when_it_has_an_outcome() -> None:
    game = push_all(game_of("6-4 1-1", "6-5 0-0", target=1, game_end="immediate"), "")
    assert not game.is_game_over()
    assert game.outcome() is None
    play_randomly(game, Random(0))
    assert game.is_game_over()
    assert game.outcome() is not None


def test_an_agent_is_asked_without_a_move_being_made() -> None:
    game = Game(players=2, seed=7)
    before = game.copy()
    greedy = make_agent("greedy")
    move = game.ask(greedy, np.random.default_rng(0))
    assert move in game.legal_moves
    assert game == before
    assert game.ask(lambda views, _rng: np.full(len(views), move.action)) == move


def test_what_cannot_be_asked_is_refused() -> None:
    game = Game(players=2, seed=7)
    wrong: Any = "greedy"
    with pytest.raises(AgentError, match=r"make_agent\('greedy'\) is needed, not 'greedy'"):
        game.ask(wrong)
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
