"""Whole hands inside compiled code, played by rules of thumb."""

from __future__ import annotations

import numpy as np

from agents.play.values import ROOM, best_action
from fiveup_env.compiled import Array, Record, Word, compiled, inlined
from fiveup_env.engine import GAME, PLAYING, begin_hand, deal, play, side_of


@inlined
def play_out(game: Record, weights: Array, room: Record, key: Word) -> None:
    """Play a hand to its end, every seat by the same weights."""
    table = game.table
    while table.phase == PLAYING:
        play(game, best_action(table, game.hands[table.turn], weights, room, key))


@inlined
def margin_of(table: Record, side: int) -> float:
    """A side's score less the mean of the others', in points on the cribbage scale."""
    others = 0
    for other in range(table.rules.sides):
        if other != side:
            others += table.scores[other]
    ahead = table.scores[side] - others / (table.rules.sides - 1)
    return ahead / table.rules.unit


def first_hands(rules: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Games by a RULES record whose first hand is still to be dealt."""
    games = np.zeros(len(seeds), GAME)
    games["table"]["rules"] = rules
    games["seed"] = seeds
    return games


@compiled
def play_hands(games: Array, side: int, mine: Array, others: Array, key: Word) -> None:
    """Deal and play the hand that is due in every game: one side by its weights, others by theirs.

    An immediate end is not looked at: scores begin at zero, and few hands reach a target.
    """
    rooms = np.zeros(1, ROOM)
    for i in range(len(games)):
        game = games[i]
        begin_hand(game, deal(game))
        table = game.table
        while table.phase == PLAYING:
            by = mine if side_of(table.rules, table.turn) == side else others
            hand = game.hands[table.turn]
            play(game, best_action(table, hand, by, rooms[0], key + np.uint64(i)))
