"""Solved endings, compared with an exhaustive search of all moves."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.puzzles.solver import ENTRY, SOLVER, solve, solved_values
from fiveup_env import Game, Move, Rules
from fiveup_env.rules.actions import ACTION_COUNT
from tests.engines.test_engine_against_reference import any_rules
from tests.game.test_game import thorough
from tests.support import game_of, play_randomly

PLENTY = 1_000_000
# --- The truth, by trying everything


def margin(game: Game, side: int) -> int:
    return game.scores[side] - game.scores[1 - side]


def true_value(game: Game) -> int:
    """What the side to move still wins in this hand less what the other side wins."""
    return max(true_value_of(game, move) for move in game.legal_moves)


def true_value_of(game: Game, move: Move) -> int:
    """The same, if it makes this move."""
    assert game.turn is not None
    side, hand, before = game.rules.side_of(game.turn), game.hand_number, margin(game, 0)
    game.push(move)
    value = margin(game, 0) - before
    value = value if side == 0 else -value
    if game.outcome() is None and game.hand_number == hand:
        same = game.rules.side_of(game.turn) == side
        value += true_value(game) if same else -true_value(game)
    game.pop()
    return value


def true_values(game: Game) -> np.ndarray:
    """The value of every action; NaN where illegal."""
    values = np.full(ACTION_COUNT, np.nan)
    for move in game.legal_moves:
        values[move.action] = true_value_of(game, move)
    return values


def to_come(game: Game) -> int:
    """How many tiles may still be set."""
    hands = sum(len(game.hand_of(seat)) for seat in range(game.rules.players))
    return hands + max(0, game.boneyard_count - game.rules.reserve)


def ending(rules: Rules, seed: int, tiles: int = 6, moves: int = 200) -> Game | None:
    """A game at random in which so few tiles may still be set that everything can be tried."""
    random = Random(seed)
    game = Game(rules, seed=random.getrandbits(64))
    for _ in range(moves):
        if game.outcome():
            break
        if to_come(game) <= tiles:
            return game
        play_randomly(game, random, 1)
    return None


two_sides = any_rules().filter(lambda rules: rules.sides == 2)


@settings(thorough, max_examples=30)
@given(rules=two_sides, seed=st.integers(0, 2**64 - 1))
def test_endings_under_any_rules_are_solved(rules: Rules, seed: int) -> None:
    game = ending(rules, seed, 5)
    assume(game)
    assert game
    np.testing.assert_array_equal(best_moves(game), true_values(game))


def best_moves(game: Game) -> np.ndarray:
    """The solver's value of every action of a game."""
    values = solved_values(game.state(), PLENTY)
    assert values is not None
    return values[0]


NO_MEMORY = 1  # entry: the next position takes its place
MEMORY = 1 << 16


def solved_with(size: int, state: np.ndarray) -> np.ndarray:
    """What the actions are worth; all NaN where plenty of nodes are too few."""
    values = np.full(ACTION_COUNT, np.nan)
    enough = solve(state, np.zeros(1, SOLVER), np.zeros(size, ENTRY), PLENTY, values)
    return values if enough else np.full(ACTION_COUNT, np.nan)


# Many ways lead to the same positions here.
ENTANGLED = [
    Rules.preset("five_up", 2, max_pip=4, hand_size=7, multiple=2),
    Rules.preset("all_fives", 2, max_pip=3, hand_size=4, draw="optional"),
    Rules.preset("five_up", 2, max_pip=4, hand_size=7, target=4, exact_target=True),
    Rules.preset("five_up", 4, max_pip=3, hand_size=2, draw="optional", multiple=2),
    Rules.preset("all_fives", 2, hand_size=1, max_pip=1, multiple=2, unit=2, draw="optional",
                 reserve=0, lead_tile="highest_double"),
]  # fmt: skip


@pytest.mark.parametrize("rules", ENTANGLED, ids=str)
def test_positions_met_again_on_other_ways_have_the_same_value(rules: Rules) -> None:
    for seed in range(30):
        state = Game(rules, seed=seed).state()
        np.testing.assert_array_equal(solved_with(MEMORY, state), solved_with(NO_MEMORY, state))


def test_an_ending_worked_out_by_hand() -> None:
    # 5-5 scores 2; 5-1 and 4-1 then make 11 and 14. 4-1 scores 1; 5-1 and 5-5 then make 9 and 14.
    # Either way the first goes out, and the second loses 2 for 6-6.
    values = best_moves(game_of("5-5 4-1", "5-1 6-6"))
    worth = {str(Move(action)): value for action, value in enumerate(values) if value > 0}
    assert worth == {"5-5": 4, "4-1": 3}


def test_too_few_nodes_leave_an_ending_unsolved() -> None:
    state = Game("five_up", 2, max_pip=3, hand_size=5, seed=0).state()
    assert solved_values(state, PLENTY) is not None
    assert solved_values(state, 3) is None
