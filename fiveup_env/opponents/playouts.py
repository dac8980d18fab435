"""Playouts: hands played to their end by heuristics or a small network, inside compiled code."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fiveup_env.engine.chance import deal
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined
from fiveup_env.engine.play import begin_hand, play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.opponents.features import FEATURES, SCRATCH, best_action
from fiveup_env.opponents.networks import (
    NO_WEIGHTS,
    Memory,
    Weights,
    memory_for,
    play_out_by,
)
from fiveup_env.opponents.solver import ENTRY, SOLVER, solve_actions
from fiveup_env.rules.actions import ACTION_COUNT

NODES: Final = 20_000  # positions that may be visited to solve one ending
MEMORY_SIZE: Final = 1 << 14  # entries of the solver's transposition table


class Playout(NamedTuple):
    """Who plays hands to their end, the same for every seat, and the memory for it."""

    heuristic: np.ndarray  # weights of the features
    network: Weights
    by_network: bool
    solve: int  # tiles left in all hands at which hands are solved; 0: never
    scratch: np.ndarray
    memory: Memory
    solver: np.ndarray
    entries: np.ndarray
    solved: np.ndarray


def playout_by(player: np.ndarray | Weights, solve: int = 0) -> Playout:
    """Return playouts by a heuristic, given by its weights, or by a compiled network."""
    by_network = isinstance(player, Weights)
    network = player if isinstance(player, Weights) else NO_WEIGHTS
    return Playout(
        heuristic=np.zeros(len(FEATURES)) if isinstance(player, Weights) else player,
        network=network,
        by_network=by_network,
        solve=solve,
        scratch=np.zeros(1, SCRATCH),
        memory=memory_for(network),
        solver=np.zeros(min(solve, 1), SOLVER),
        entries=np.zeros(MEMORY_SIZE if solve else 0, ENTRY),
        solved=np.zeros((1, ACTION_COUNT)),
    )


@inlined
def play_to_end(game: Struct, playout: Playout, key: Word) -> None:
    """Play a hand to its end; ties of a heuristic are broken by the key."""
    if playout.by_network:
        play_out_by(game, playout.network, playout.memory)
    elif playout.solve > 0:
        play_out_solved(game, playout, key)
    else:
        play_out(game, playout.heuristic, playout.scratch[0], key)


@inlined
def play_out(game: Struct, weights: Array, scratch: Struct, key: Word) -> None:
    """Play a hand to its end, with the same weights for every seat."""
    public = game.public
    while public.phase == PLAYING:
        play(game, best_action(public, game.hands[public.turn], weights, scratch, key))


@inlined
def play_out_solved(game: Struct, playout: Playout, key: Word) -> None:
    """Play a hand to its end, perfectly once few enough tiles are left in all hands together.

    Every seat then knows every tile, and plays for points. From a position that NODES nodes are too
    few to solve, the weights play on.
    """
    public, solvable, scratch = game.public, True, playout.scratch[0]
    while public.phase == PLAYING:
        if solvable and public.sizes.sum() <= playout.solve:
            playout.solved[0, :] = -np.inf
            solvable = solve_actions(
                game, playout.solver[0], playout.entries, NODES, playout.solved, 0
            )
            if solvable:
                play(game, playout.solved[0].argmax())
                continue
        hand = game.hands[public.turn]
        play(game, best_action(public, hand, playout.heuristic, scratch, key))


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
