"""Playouts: hands played to their end by heuristics, inside compiled code."""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.chance import deal
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined
from fiveup_env.engine.play import begin_hand, play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.opponents.features import SCRATCH, best_action
from fiveup_env.opponents.solver import solve_actions

NODES: Final = 20_000  # positions that may be visited to solve one ending


@inlined
def play_out(game: Struct, weights: Array, scratch: Struct, key: Word) -> None:
    """Play a hand to its end, with the same weights for every seat."""
    public = game.public
    while public.phase == PLAYING:
        play(game, best_action(public, game.hands[public.turn], weights, scratch, key))


@inlined
def play_out_solved(
    game: Struct,
    tiles: int,
    weights: Array,
    scratch: Struct,
    solver: Struct,
    memory: Array,
    values: Array,
    key: Word,
) -> None:
    """Play a hand to its end, perfectly once at most `tiles` tiles are left in all hands together.

    Every seat then knows every tile, and plays for points. From a position that NODES nodes are too
    few to solve, the weights play on.
    """
    public, solvable = game.public, True
    while public.phase == PLAYING:
        if solvable and public.sizes.sum() <= tiles:
            values[0, :] = -np.inf
            solvable = solve_actions(game, solver, memory, NODES, values, 0)
            if solvable:
                play(game, values[0].argmax())
                continue
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
