"""Playouts: hands played to their end by heuristics, inside compiled code."""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.chance import deal
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined
from fiveup_env.engine.play import begin_hand, play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.opponents.features import SCRATCH, best_action


@inlined
def play_out(game: Struct, weights: Array, scratch: Struct, key: Word) -> None:
    """Play a hand to its end, with the same weights for every seat."""
    public = game.public
    while public.phase == PLAYING:
        play(game, best_action(public, game.hands[public.turn], weights, scratch, key))


@inlined
def margin_of(public: Struct, side: int) -> float:
    """Return a side's score less the mean of the others', in points on the cribbage scale."""
    others = 0
    for other in range(public.rules.sides):
        if other != side:
            others += public.scores[other]
    ahead = public.scores[side] - others / (public.rules.sides - 1)
    return ahead / public.rules.unit


def first_hands(rules: np.ndarray, seeds: np.ndarray) -> np.ndarray:
    """Return one game for each seed, its first hand not dealt yet; `rules` is a RULES struct."""
    games = np.zeros(len(seeds), GAME)
    games["public"]["rules"] = rules
    games["seed"] = seeds
    return games


@compiled
def play_hands(games: Array, side: int, mine: Array, others: Array, key: Word) -> None:
    """Deal and play the next hand of every game, one side by `mine` and the rest by `others`.

    No game ends immediately here: scores begin at zero, and few hands reach a target.
    """
    scratch = np.zeros(1, SCRATCH)
    for i in range(len(games)):
        game = games[i]
        begin_hand(game, deal(game))
        public = game.public
        while public.phase == PLAYING:
            by = mine if side_of(public.rules, public.turn) == side else others
            hand = game.hands[public.turn]
            play(game, best_action(public, hand, by, scratch[0], key + np.uint64(i)))
