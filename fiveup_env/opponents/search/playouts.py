"""Playouts: hands played to their end by heuristics or a small network, inside compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fiveup_env.engine.play import play
from fiveup_env.engine.state import PLAYING, VIEW
from fiveup_env.native import Array, Doubles, Struct, Word, inlined, inner, uncompiled
from fiveup_env.opponents.heuristics.features import SCRATCH, Scratches, best_action
from fiveup_env.opponents.heuristics.hidden import HIDDEN
from fiveup_env.opponents.networks.compiled import Memory, Weights, memory_for, play_out_by


class Playout(NamedTuple):
    """How hands are played out: by a heuristic or by a small network, in every seat."""

    is_heuristic: bool
    heuristic: Doubles  # the weights of its features
    scratch: Scratches
    network: Weights
    memory: Memory


def playout_by(player: np.ndarray | Weights) -> Playout:
    """Return playouts by a heuristic, given by its weights, or by a compiled network."""
    weights = np.zeros(0) if isinstance(player, Weights) else player
    made: Playout = uncompiled(by_heuristic, weights)
    if isinstance(player, Weights):
        made = made._replace(is_heuristic=False, network=player, memory=memory_for(player))
    return made


@inlined
def by_heuristic(weights: Array) -> Playout:
    """Return playouts by a heuristic, given by its weights."""
    none, rows = np.zeros(0, np.float32), np.zeros((0, 0), np.float32)
    tables = np.zeros((0, 0, 0), np.float32)
    return Playout(
        True,
        weights,
        np.zeros(1, SCRATCH),
        Weights(
            first=rows,
            first_bias=none,
            norms=tables,
            inner=tables,
            inner_bias=rows,
            outer=tables,
            outer_bias=rows,
            norm=rows,
            head=rows,
            head_bias=none,
            guide=rows,
            guide_bias=none,
            worth=none,
            value=rows,
            value_bias=none,
        ),
        Memory(
            views=np.zeros(1, VIEW),
            hidden=np.zeros(1, HIDDEN),
            row=np.zeros((0, 0), np.int8),
            nonzero=np.zeros(0, np.int64),
            stream=rows,
            logits=rows,
            guide=none,
        ),
    )


@inlined
def play_to_end(game: Struct, playout: Playout, key: Word) -> None:
    """Play a hand to its end; ties of a heuristic are broken by the key."""
    if playout.is_heuristic:
        play_out(game, playout.heuristic, playout.scratch[0], key)
    else:
        play_out_by(game, playout.network, playout.memory)


@inner
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
