"""Which kind of player sits there: worlds weighed by a mixture of models of the others' moves.

The model of `inference` is soft, as it must fit every player, so a move that some player would
never make tells little. Here are several sharp ones: rungs of the ladder, and a small network. It
is not known which of them plays a side. The likelihood of a side's moves in a world is the mean,
over the kinds, of the product of what each of them gives the moves: the moves of a hand say both
how likely the world is and who plays there.

To weigh a world takes some twenty times as long as by the model of `inference`. So that model
chooses the worlds that are tried, and this one corrects what each of them counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from fiveup_env.engine.compiled import Array, Struct, compiled, inlined, signed
from fiveup_env.engine.exponentials import exp, log
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, side_of
from fiveup_env.engine.view import observe
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES, unseen_by, write_features
from fiveup_env.opponents.heuristics.ladder import weights_of
from fiveup_env.opponents.networks.compiled import Memory, Weights, memory_for, write_logits
from fiveup_env.opponents.search.inference import (
    EVERY_FEATURE,
    go_back,
    log_likelihood,
    made,
    shipped_model,
)
from fiveup_env.opponents.search.units import take_back_points
from fiveup_env.rules.actions import ACTION_COUNT, DRAW
from fiveup_env.rules.fields import MAX_PLAYERS

if TYPE_CHECKING:
    from collections.abc import Sequence

RUNGS: Final = ("partner", "greedy")
SHARP: Final = 0.1  # points by which a rung may err
UNITS: Final = (0.07, 0.25)  # differences of the network's logits that count as one
# Of the soft model, the rungs, and the network by each of UNITS:
LAPSES: Final = (0.1, 0.01, 0.01, 0.01, 0.05)  # the share of moves at random
SHARES: Final = (0.3, 0.2, 0.1, 0.3, 0.1)  # how frequent each kind is taken to be


class Kinds(NamedTuple):
    """The kinds of player, and the memory to tell them apart."""

    rungs: np.ndarray  # kinds x features
    network: Weights
    units: np.ndarray  # of the kinds that are the network's
    lapses: np.ndarray
    shares: np.ndarray
    memory: Memory
    past: np.ndarray
    actions: np.ndarray
    worths: np.ndarray  # kinds x actions
    chances: np.ndarray  # sides x kinds


def kinds_by(network: Weights, shares: Sequence[float] = SHARES) -> Kinds:
    """Return the kinds of player: the model of `inference`, rungs of the ladder, and a network."""
    soft = shipped_model()["weights"][0]
    return Kinds(
        rungs=np.stack([soft, *(weights_of(name) / SHARP for name in RUNGS)]),
        network=network,
        units=np.array(UNITS),
        lapses=np.array(LAPSES),
        shares=np.array(shares),
        memory=memory_for(network),
        past=np.zeros(1, GAME),
        actions=np.zeros(ACTION_COUNT + 1, np.int64),
        worths=np.zeros((len(shares), ACTION_COUNT)),
        chances=np.zeros((MAX_PLAYERS, len(shares))),
    )


def weigh_again(kinds: Any, games: Array, seat: int, dealing: Any, logs: Array) -> None:
    """Correct how much worlds count that were chosen by the model of `inference`."""
    raise NotImplementedError  # compiled code has another for each type of `kinds`


@overload(weigh_again, jit_options={"error_model": "numpy"})  # type: ignore[untyped-decorator]
def _way_of(kinds: Any, games: Array, seat: int, dealing: Any, logs: Array) -> Any:
    del games, seat, dealing, logs
    return _leave if isinstance(kinds, types.NoneType) else _correct


def _leave(kinds: Any, games: Array, seat: int, dealing: Any, logs: Array) -> None:
    pass


def _correct(kinds: Any, games: Array, seat: int, dealing: Any, logs: Array) -> None:
    for w in range(len(games)):
        if dealing.weighed > 1 and dealing.inference[0].count > 0:
            logs[w] -= log_likelihood(games[w], dealing.model[0], dealing.inference[0])
        logs[w] += log_of_kinds(games[w], seat, kinds)


@compiled
def log_of_kinds(world: Struct, seat: int, kinds: Kinds) -> float:
    """Return how much a world counts by the others' moves, whatever kind each side is of."""
    past, public, chances = kinds.past[0], world.public, kinds.chances
    go_back(world, past)
    past.public.rules.target = public.rules.target  # which a network reads, as the scores
    past.public.scores = public.scores
    take_back_points(public, kinds.memory.features[0].layout, past.public.scores)
    chances[:] = kinds.shares
    while past.public.plies < public.plies:
        action, mover = made(past.public, public), signed(past.public.turn)
        if action < DRAW and mover != seat and past.public.sizes[mover] > 1:
            _read(past, mover, action, kinds)
        play(past, action)
    total = 0.0
    for side in range(public.rules.sides):
        total += log(chances[side].sum())
    return total


@inlined
def _read(past: Struct, mover: int, action: int, kinds: Kinds) -> None:
    """Multiply the chances of a side's kinds by those of its move."""
    public, hand, worths = past.public, past.hands[mover], kinds.worths
    scratch, rungs = kinds.memory.features[0], len(kinds.rungs)
    count = list_legal(public, hand, kinds.actions)
    if count == 1:
        return
    observe(past, mover, kinds.memory.views[0])
    write_logits(kinds.memory.views[0], kinds.network, kinds.memory)
    unseen = unseen_by(public, hand)
    for k in range(count):
        option = signed(kinds.actions[k])
        for unit in range(len(kinds.units)):
            worths[rungs + unit, k] = kinds.memory.logits[0, option] / kinds.units[unit]
        if option >= DRAW:
            worths[:rungs, k] = -np.inf
            continue
        write_features(public, hand, unseen, option, EVERY_FEATURE, scratch)
        for kind in range(rungs):
            worths[kind, k] = 0.0
            for name in range(len(FEATURE_NAMES)):
                worths[kind, k] += kinds.rungs[kind, name] * scratch.features[name]
    side = side_of(public.rules, mover)
    for kind in range(len(worths)):
        best, total, taken = -np.inf, 0.0, 0.0
        for k in range(count):
            best = max(best, worths[kind, k])
        for k in range(count):
            share = exp(worths[kind, k] - best)
            total += share
            taken = share if kinds.actions[k] == action else taken
        lapse = kinds.lapses[kind]
        kinds.chances[side, kind] *= (1 - lapse) * taken / total + lapse / count
