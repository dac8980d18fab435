"""Worlds in which actions are tried: drawn from the exact belief, and weighed by the others' moves.

The belief gives all possible worlds the same probability. With `weighed` above 1, that many worlds
are drawn for each one that is tried, and a model of the others' moves weighs them (see
`inference`): to weigh a world is much cheaper than to try actions in it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fiveup_env.belief.counting import full
from fiveup_env.belief.structs import BELIEF, Beliefs
from fiveup_env.belief.worlds import draw_worlds
from fiveup_env.engine.chance import fraction, scramble
from fiveup_env.engine.exponentials import exp, log
from fiveup_env.engine.state import GAME, Games
from fiveup_env.native import Array, Doubles, Struct, Word, inlined, inner, read_only
from fiveup_env.opponents.search.inference import (
    INFERENCE,
    MODEL,
    Inferences,
    Models,
    log_likelihood,
    read_choices,
    shipped_model,
)

BLOCK: Final = 32  # worlds dealt together, before actions that are clearly worse are closed


class Dealing(NamedTuple):
    """How worlds are dealt, and the memory for it."""

    weighed: int  # worlds that are weighed for each one in which actions are tried; 1: none is
    belief: Beliefs
    model: Models
    inference: Inferences
    many: Games
    weights: Doubles


def dealing_of(weighed: int) -> Dealing:
    """Return a way to deal worlds."""
    used = min(weighed - 1, 1)
    return Dealing(
        weighed=weighed,
        belief=np.zeros(1, BELIEF),
        model=shipped_model() if used else read_only(np.zeros(1, MODEL)),
        inference=np.zeros(used, INFERENCE),
        many=np.empty(used * weighed * BLOCK, GAME),
        weights=np.empty(used * weighed * BLOCK),
    )


@inner
def prepare(view: Struct, key: Word, dealing: Dealing, ways: Array, games: Array) -> bool:
    """Make ready for the worlds of a view; return whether there are any.

    `ways` are those of `count_worlds`, and `games` has space for a world.
    """
    if ways[0, full(dealing.belief[0])] == 0:
        return False
    if dealing.weighed > 1:
        deal(view, dealing.belief[0], ways, key, 0, games[:1])
        read_choices(games[0], view.seat, dealing.model[0], dealing.inference[0])
    return True


@inner
def deal_block(
    view: Struct,
    key: Word,
    first: int,
    dealing: Dealing,
    ways: Array,
    games: Array,
    logs: Array,
) -> None:
    """Deal a block of worlds, from number `first` on, after `prepare`, and write their log weights.

    All worlds of a block get the same one: the mean before resampling.
    """
    if dealing.weighed == 1 or dealing.inference[0].count == 0:
        deal(view, dealing.belief[0], ways, key, first, games)
        logs[:] = 0
        return
    size = len(games) * dealing.weighed
    many, weights = dealing.many[:size], dealing.weights[:size]
    deal(view, dealing.belief[0], ways, key, first * dealing.weighed, many)
    for w in range(size):
        weights[w] = log_likelihood(many[w], dealing.model[0], dealing.inference[0])
    draw_again(many, weights, key + np.uint64(first), games, logs)


@inlined
def deal(view: Struct, belief: Struct, ways: Array, key: Word, first: int, games: Array) -> None:
    """Deal worlds, ready for the viewer's move; all that is tried in one shares its seed."""
    draw_worlds(belief, ways, key, first, games)
    for w in range(len(games)):
        games[w].public = view.public
        games[w].seed = scramble(~key + np.uint64(first + w))


@inner
def draw_again(worlds: Array, weights: Array, key: Word, drawn: Array, logs: Array) -> None:
    """Draw fewer worlds from weighed ones by systematic resampling.

    `weights` are logarithms. `logs` gets the logarithm of their mean for every world drawn. A world
    that is drawn twice has another seed each time.
    """
    many, few, highest, total = len(worlds), len(drawn), weights[0], 0.0
    for w in range(many):
        highest = max(highest, weights[w])
    for w in range(many):
        total += exp(weights[w] - highest)
    start = fraction(scramble(scramble(key)))
    w, reached = 0, exp(weights[0] - highest)
    for n in range(few):
        while w < many - 1 and reached <= (start + n) / few * total:
            w += 1
            reached += exp(weights[w] - highest)
        drawn[n] = worlds[w]
        drawn[n].seed = worlds[n].seed
    logs[:] = highest + log(total / many)
