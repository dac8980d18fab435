"""The compiled engine and the literal reference agree, move by move."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fiveup_env import TILES, Game, Move, Rules
from fiveup_env.engine.view import as_game, as_views
from fiveup_env.rules.fields import CHOICES
from fiveup_env.rules.presets import FAMILY
from fiveup_env.rules.tiles import set_size
from tests.engines.reference import Move as InReference
from tests.engines.reference import Pips, Reference
from tests.support import EVERY_PRESET, SEATINGS, label

MOVES_OF_EACH_PRESET = 300


class Lockstep:
    """The same game in the engine and in the reference; every move is made in both and compared."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules = rules
        self.game = Game(rules, seed=seed)
        self.reference = Reference(rules.fields(), rules.players, rules.teams)
        self._deal()

    def push(self, move: Move) -> None:
        """Make a move in both."""
        self._compare_moves()
        self._push(move)

    def play(self, random: Random, moves: int) -> int:
        """Make n random moves, or fewer if the game ends, and return their number."""
        for made in range(moves):
            if self.game.outcome():
                return made
            self.push(random.choice(list(self.game.legal_moves)))
        return moves

    def _compare_moves(self) -> None:
        game, expected = self.game, self.reference
        assert game.turn == expected.turn
        allowed = [in_reference(move) for move in game.legal_moves]
        assert len(allowed) == len(set(allowed)) == len(game.legal_moves)
        assert set(allowed) == expected.legal()

    def _push(self, move: Move) -> None:
        game, expected = self.game, self.reference
        hand = game.hand_number
        game.push(move)
        expected.play(in_reference(move))
        assert list(game.scores) == expected.scores
        outcome = game.outcome()
        assert (outcome.winner if outcome else None) == expected.winner
        if expected.ended is None:
            assert not game.hand_over
            assert game.layout().total == expected.total
            ends = [(end.pip, end.kind == "plain", end.counts) for end in game.layout().ends]
            assert sorted(ends) == sorted(
                (pip, kind == "plain", counts) for pip, kind, counts in expected.open_ends()
            )
            self._compare_hands([game.hand_of(seat) for seat in range(self.rules.players)])
            assert game.boneyard_count == len(expected.boneyard)
            return
        assert game.hand_over
        end = game.last_hand()
        assert end is not None
        assert end.ended == expected.ended
        assert (None if end.end_points is None else list(end.end_points)) == expected.end_points
        self._compare_hands(end.left)
        if outcome is None:
            assert game.hand_number == hand + 1
            self._deal()

    def _compare_hands(self, hands: Any) -> None:
        assert [sorted(map(pips, hand)) for hand in hands] == [
            sorted(hand) for hand in self.reference.hands
        ]

    def _deal(self) -> None:
        game = self.game
        hands = [[pips(tile) for tile in game.hand_of(seat)] for seat in range(game.rules.players)]
        order = game.state()["order"][0]
        self.reference.deal(hands, [pips(TILES[tile]) for tile in order if tile >= 0], game.lead)


def pips(tile: Any) -> Pips:
    return (tile.low, tile.high)


def in_reference(move: Move) -> InReference:
    if move.tile is None:
        return (str(move), None)
    on = None if move.pip is None or move.end is None else (move.pip, move.end)
    return (pips(move.tile), on)


@pytest.mark.compiled
@pytest.mark.parametrize("rules", EVERY_PRESET, ids=label)
def test_every_preset_for_every_number_of_players(rules: Rules) -> None:
    made, seed = 0, 0
    while made < MOVES_OF_EACH_PRESET:
        made += Lockstep(rules, seed).play(Random(seed), MOVES_OF_EACH_PRESET - made)
        seed += 1


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Rules with any value in any field that can be dealt."""
    players, teams = draw(st.sampled_from(SEATINGS))
    max_pip = draw(st.integers(1, 6).filter(lambda pip: set_size(pip) >= players))
    fields: dict[str, Any] = {
        name: draw(st.sampled_from(values)) for name, values in CHOICES.items()
    }
    if fields["hand_end"] == "subtract_own":
        fields["block_pays"] = "others"  # where nobody is paid, there is no difference to pay
    multiple = draw(st.integers(2, 12))
    unit = draw(st.sampled_from([1, multiple]))
    return Rules.preset(
        draw(st.sampled_from(sorted(FAMILY))),
        players,
        teams=teams,
        **fields,
        max_pip=max_pip,
        hand_size=draw(st.integers(1, min(9, set_size(max_pip) // players))),
        reserve=draw(st.integers(0, 2)),
        multiple=multiple,
        unit=unit,
        target=draw(st.sampled_from([1, 5, 12, 61])) * unit,
        exact_target=draw(st.booleans()),
    )


@pytest.mark.compiled
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(rules=any_rules(), seed=st.integers(0, 2**64 - 1))
def test_every_field_with_every_value(rules: Rules, seed: int) -> None:
    Lockstep(rules, seed).play(Random(seed), 150)


# What together has every value of every field.
MIXED = [
    Rules.preset("five_up", 2, max_pip=5, leader="rotate", target=20),
    Rules.preset("all_fives", 3, draw="optional", reserve=2, lead_tile="highest_double", leader="rotate"),
    Rules.preset("muggins", 4, draw="optional", max_pip=4, hand_size=3, block_pays="difference", round_per="side"),
    Rules.preset("all_fives", 3, spinners="none", hand_size=3, hand_end="armanino", exact_target=True, target=40),
    Rules.preset("five_up", 5, hand_end="winner_takes", round_per="all", max_pip=4, hand_size=2, multiple=3),
    Rules.preset("muggins", 4, teams=False, hand_end="subtract_own", game_end="finish_hand", hand_size=4),
    Rules.preset("five_up", 3, draw="optional", reserve=2, max_pip=2, hand_size=2),
]  # fmt: skip


@pytest.mark.parametrize("rules", MIXED, ids=label)
def test_a_game_by_mixed_rules_move_by_move_and_sound_for_every_seat(rules: Rules) -> None:
    lockstep, random = Lockstep(rules, seed=2), Random(2)
    game, players = lockstep.game, rules.players
    for made in range(60):
        views = np.concatenate([game.view(made % players), game.view((made + 1) % players)])
        assert as_game(game.state()).tobytes() == game.state().tobytes()
        assert as_views(views) is views
        if game.outcome():
            break
        lockstep.push(random.choice(list(game.legal_moves)))


FIXED = [
    Rules.preset("five_up"),
    Rules.preset("all_fives", players=2),
    Rules.preset("five_up", players=3, draw="optional", reserve=2, hand_size=7),
    Rules.preset("muggins", players=5),
    Rules.preset("five_up", players=2, max_pip=3, hand_size=3),
]
# The number of move sequences of each depth from the first deal of seed 11, as the reference counted.
PERFT = [
    [5, 10, 21, 64, 138, 253, 638, 1492],
    [9, 25, 85, 332, 1085, 4295],
    [8, 30, 102, 343, 1239, 4965],
    [5, 12, 35, 77, 203, 407, 851, 1664],
    [3, 5, 7, 12, 17, 24, 26, 27],
]


def perft(game: Game, depth: int) -> int:
    """Return the number of sequences of this many moves within the hand."""
    if depth == 0:
        return 1
    count = 0
    for move in list(game.legal_moves):
        game.push(move)
        count += 1 if game.hand_over else perft(game, depth - 1)
        game.pop()
    return count


@pytest.mark.compiled
@pytest.mark.parametrize("number", range(len(FIXED)))
def test_the_number_of_move_sequences_from_fixed_deals(number: int) -> None:
    game = Game(FIXED[number], seed=11)
    before = game.state().tobytes()
    for depth, expected in enumerate(PERFT[number], 1):
        assert perft(game, depth) == expected
    assert game.state().tobytes() == before
