"""Playouts: hands played to their end by heuristics or a small network, inside compiled code."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numba.extending import overload

from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined
from fiveup_env.engine.play import play
from fiveup_env.engine.state import PLAYING
from fiveup_env.opponents.heuristics.features import SCRATCH, best_action
from fiveup_env.opponents.networks.compiled import (
    Memory,
    Weights,
    memory_for,
    play_out_by,
)


class ByHeuristic(NamedTuple):
    """Hands are played out by a heuristic in every seat."""

    weights: np.ndarray  # of its features
    scratch: np.ndarray


class ByNetwork(NamedTuple):
    """Hands are played out by a small network in every seat."""

    weights: Weights
    memory: Memory


# Compiled code is made for each of them when it is first used, and contains no other.
Playout: TypeAlias = ByHeuristic | ByNetwork


def playout_by(player: np.ndarray | Weights) -> Playout:
    """Return playouts by a heuristic, given by its weights, or by a compiled network."""
    if isinstance(player, Weights):
        return ByNetwork(player, memory_for(player))
    return ByHeuristic(player, np.zeros(1, SCRATCH))


def play_to_end(game: Struct, playout: Playout, key: Word) -> None:
    """Play a hand to its end; ties of a heuristic are broken by the key."""
    _WAYS[type(playout)](game, playout, key)


@overload(play_to_end, jit_options={"error_model": "numpy", "forceinline": True})  # type: ignore[untyped-decorator]
def _way_of(game: Struct, playout: Any, key: Word) -> Any:
    """Return the compiled form of `play_to_end` for a kind of playouts."""
    del game, key
    return _WAYS[playout.instance_class]


@compiled
def play_out(game: Struct, weights: Array, scratch: Struct, key: Word) -> None:
    """Play a hand to its end, with the same weights for every seat."""
    public = game.public
    while public.phase == PLAYING:
        play(game, best_action(public, game.hands[public.turn], weights, scratch, key))


def _by_heuristic(game: Struct, playout: Any, key: Word) -> None:
    play_out(game, playout.weights, playout.scratch[0], key)


def _by_network(game: Struct, playout: Any, key: Word) -> None:  # noqa: ARG001 - as the others
    play_out_by(game, playout.weights, playout.memory)


_WAYS: Final[dict[type, Any]] = {
    ByHeuristic: _by_heuristic,
    ByNetwork: _by_network,
}


@inlined
def margin_of(public: Struct, side: int) -> float:
    """Return a side's score less the mean of the others', in points on the cribbage scale."""
    others = 0
    for other in range(public.rules.sides):
        if other != side:
            others += public.scores[other]
    ahead = public.scores[side] - others / (public.rules.sides - 1)
    return ahead / public.rules.unit
