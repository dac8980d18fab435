"""Tiles, moves, rules and deals as values: they compare, are copied, and say what they are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest

from fiveup_env import MOVES, TILES, Deal, FiveUpError, InvalidMoveError, Move, Rules, Tile
from fiveup_env.errors import TileError
from fiveup_env.rules.fields import BOUNDS, CHOICES, FLAGS
from fiveup_env.rules.presets import FAMILY, MINIS, NAMED_RULES
from tests.support import deal

NAMES = {"Deal": Deal, "Move": Move, "Rules": Rules, "Tile": Tile}
SOME_RULES = [
    *(Rules.preset(name, 3) for name in FAMILY),
    *(Rules.preset(name, 2) for name in MINIS),
    Rules.preset("mini-2", 3, hand_end="armanino", multiple=8, max_pip=3),
    Rules.preset("muggins", 4, teams=False, hand_end="armanino"),
    Rules.preset("all_fives", 2, multiple=3),
    Rules.preset(players=4, hand_end="winner_takes", round_per="side", max_pip=5),
]


def test_what_a_value_is_shown_as_makes_it_again() -> None:
    for value in (*TILES, *MOVES, *SOME_RULES, deal("5-3 6-6", "0-0 1-0", top="2-0")):
        assert eval(repr(value), NAMES) == value  # noqa: S307  (it is what this module has made)
    for move in MOVES:
        assert Move.parse(str(move)) == move


@pytest.mark.parametrize("value", [Tile(5, 3), Move(37), Rules.preset("muggins", 3)], ids=repr)
def test_copies_are_equal_and_have_the_same_hash(value: Any) -> None:
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert twin == value
        assert hash(twin) == hash(value)
        assert type(twin) is type(value)


def rules_or_error(make: Callable[..., Rules], **fields: Any) -> Rules | str:
    """Return some rules, or why there are none."""
    try:
        return make(**fields)
    except FiveUpError as error:
        return str(error)


@pytest.mark.parametrize("name", NAMED_RULES)
def test_rules_with_a_field_replaced_are_those_of_the_preset_with_that_field(name: str) -> None:
    values: dict[str, Iterable[Any]] = {**dict.fromkeys(FLAGS, (False, True)), **CHOICES}
    bounds = {name: (low, low + 1, low + 6, high, high + 1) for name, (low, high) in BOUNDS.items()}
    assert {"players", *values, *bounds} == {field.name for field in dataclasses.fields(Rules)}
    changes = [{field: value} for field, some in (values | bounds).items() for value in some]
    for players in range(2, 6):
        preset = partial(Rules.preset, name, players)
        if isinstance(rules := rules_or_error(preset), Rules):
            for fields in changes:
                replaced = rules_or_error(rules.replace, **fields)
                assert replaced == rules_or_error(preset, **fields), (players, fields)
            for count in range(2, 6):
                changed = rules_or_error(rules.replace, players=count)
                assert changed == rules_or_error(Rules.preset, name=name, players=count)


def test_a_field_that_was_given_another_value_follows_no_other() -> None:
    assert Rules.preset("all_fives", unit=1).replace(multiple=3).unit == 1
    assert Rules.preset(round_per="side").replace(hand_end="armanino").round_per == "side"
    assert Rules.preset("all_fives", 2, hand_size=6).replace(players=3).hand_size == 6
    assert not Rules.preset(teams=False).replace(players=4).teams


def test_a_tile_is_the_same_from_either_side() -> None:
    for tile in TILES:
        assert Tile(tile.low, tile.high) == Tile.parse(f"{tile.low}-{tile.high}") == tile
        assert Tile.parse((tile.low, tile.high)) == TILES[tile.id] == tile
    assert Move.parse("3-5@5x") == Move.parse("5-3@5x")


def test_what_is_not_a_tile_or_an_action_is_refused() -> None:
    halves: Any
    for halves in ((7, 0), (0, -1), (2.5, 1), ("5", 3), (None, 1)):
        with pytest.raises(TileError, match="is not a valid tile; each half has 0 to 6 pips"):
            Tile(*halves)
    for text in ("7-0", "5", "", None, 5, (1,), (1, 9), ("a", "b")):
        with pytest.raises(TileError, match="is not a valid tile; tiles are written 5-3"):
            Tile.parse(text)
    for number in (-1, len(MOVES)):
        with pytest.raises(InvalidMoveError, match="actions are numbered 0 to 120"):
            Move(number)
