"""How likely a policy finds the moves that others made, by replaying the hand in a world.

The exact belief gives no weight to which moves others chose. A policy can: where it would hardly
have made the moves that were made, the world itself is unlikely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from agents.policies.units import take_back_points
from fiveup_env.engine.compiled import Array, Struct, compiled, inlined, signed
from fiveup_env.engine.legality import legal_count
from fiveup_env.engine.play import play, restart_hand
from fiveup_env.engine.state import GAME, ONE
from fiveup_env.engine.view import VIEW
from fiveup_env.envs.episodes import observe_seats
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW, PASS

if TYPE_CHECKING:
    from agents.policies.agent import NetworkAgent

LAPSE: Final = 0.05  # share of moves taken to be random: others are not copies of the policy


def log_likelihoods(policy: NetworkAgent, worlds: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Return the log-likelihood of the moves that the other seats made in the hands of some worlds.

    Worlds are GAME structs at the moment of a view; `seats` names the viewer of each. Moves that
    were the only one allowed count with probability 1, and so do the viewer's own, which are the
    same in every world.
    """
    pasts, logs = np.zeros(len(worlds), GAME), np.zeros(len(worlds))
    go_back(worlds, pasts)
    take_back_points(pasts)
    live, movers = np.arange(len(worlds)), np.empty(len(worlds), np.int8)
    begin_again(pasts)
    while left := find_choices(pasts, worlds, seats, live, movers):
        live = live[:left]
        views, masks = views_of(pasts, live, movers[:left])
        shares = policy.probabilities(views, masks)
        shares = (1 - LAPSE) * shares + LAPSE * masks / masks.sum(1, keepdims=True)
        follow(pasts, worlds, live, np.log(np.maximum(shares, LAPSE / ACTION_COUNT)), logs)
    return logs


def views_of(
    games: np.ndarray, which: np.ndarray, seats: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the views of a seat in each of some games, and its action masks."""
    views, masks = np.empty(len(which), VIEW), np.empty((len(which), ACTION_COUNT), np.int8)
    observe_seats(games, which, seats, views, masks)
    return views, masks


@compiled
def go_back(worlds: Array, pasts: Array) -> None:
    """Return every tile that was played or drawn to the place where it was dealt."""
    for i in range(len(worlds)):
        past, public = pasts[i], worlds[i].public
        pasts[i] = worlds[i]
        for ply in range(public.plies):
            past.hands[public.play_seat[ply]] |= ONE << np.uint32(
                ACTION_TILE[public.play_action[ply]]
            )
        for k in range(public.drawn):
            past.hands[public.draw_seat[k]] &= ~(ONE << np.uint32(past.order[k]))


@compiled
def begin_again(pasts: Array) -> None:
    """Begin the hands again, once `go_back` has restored their tiles."""
    for i in range(len(pasts)):
        restart_hand(pasts[i])


@compiled
def find_choices(pasts: Array, worlds: Array, seats: Array, live: Array, movers: Array) -> int:
    """Replay the live games until a seat other than the viewer's has a choice.

    Games that have reached the present are no longer live. The others are moved to the front of
    `live`, with the seats to move in `movers`; return how many they are.
    """
    n = 0
    for k in range(len(live)):
        past, public = pasts[live[k]], worlds[live[k]].public
        while not _arrived(past.public, public) and (
            past.public.turn == seats[live[k]]
            or legal_count(past.public, past.hands[past.public.turn]) == 1
        ):
            play(past, _made(past.public, public))
        if not _arrived(past.public, public):
            live[n], movers[n] = live[k], past.public.turn
            n += 1
    return n


@compiled
def follow(pasts: Array, worlds: Array, live: Array, chances: Array, logs: Array) -> None:
    """Replay one move in every live game, and add the logarithm of its probability."""
    for k in range(len(live)):
        past = pasts[live[k]]
        action = _made(past.public, worlds[live[k]].public)
        logs[live[k]] += chances[k, action]
        play(past, action)


@inlined
def _arrived(past: Struct, public: Struct) -> bool:
    """Return whether a replayed hand has reached the present."""
    return bool(
        past.plies == public.plies and past.drawn == public.drawn and past.turn == public.turn
    )


@inlined
def _made(past: Struct, public: Struct) -> int:
    """Return what the seat to move did there, by the public history."""
    k, ply = past.drawn, past.plies
    if k < public.drawn and public.draw_ply[k] == ply and public.draw_seat[k] == past.turn:
        return DRAW
    if ply < public.plies and public.play_seat[ply] == past.turn:
        return signed(public.play_action[ply])
    return PASS
