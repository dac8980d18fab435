"""Trials: the actions of a position played out in sampled worlds, for wins and for points at once.

This is the search of `pimc`, but it gives no action up: each is tried in every world, so that the
errors are those of differences within the same worlds. Each world is drawn from others of its own
by how likely the others' moves were in them, so worlds stay independent of each other.

The best of several noisy means is too high, because whichever action was lucky is chosen. So one
half of the worlds chooses the best action and the other half says by how much the action taken
falls short of it, both ways round.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fiveup_env.belief.evidence import impossible
from fiveup_env.belief.worlds import count_worlds
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.state import GAME, Games, Views
from fiveup_env.engine.view import as_view
from fiveup_env.errors import AgentError, shown
from fiveup_env.native import Word, compiled, uncompiled
from fiveup_env.opponents.registry import get_agent
from fiveup_env.opponents.search.action_values import try_actions
from fiveup_env.opponents.search.dealing import Dealing, deal_block, dealing_of, prepare
from fiveup_env.opponents.search.outlook import outlooks_of
from fiveup_env.opponents.search.pimc import Pimc
from fiveup_env.opponents.search.world_search import playout_of

if TYPE_CHECKING:
    from fiveup_env.opponents.agent import Agent

REFERENCE: Final = "pimc:worlds=500,weighed=16,playout=partner"  # the judge
CHANCE, POINTS = range(2)  # what a trial finds
NORMAL: Final = 1.96  # standard errors to either side of a 95 % interval


def key_of(seed: int, number: int) -> int:
    """Return the key of the worlds in which the decision with some number is tried."""
    first = int(uncompiled(scramble, np.uint64(seed)))
    return int(uncompiled(scramble, np.uint64((first + number) % 2**64)))


class Estimate(NamedTuple):
    """A mean and its standard error."""

    mean: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds of the 95 % interval."""
        return self.mean - NORMAL * self.error, self.mean + NORMAL * self.error


def checked_reference(reference: str | Agent) -> Pimc:
    """Return the reference search; raise AgentError unless it is a `pimc` with enough worlds."""
    search = get_agent(reference)
    if not isinstance(search, Pimc):
        message = f"the reference must be a pimc such as {REFERENCE}, not {shown(reference)}"
        raise AgentError(message)
    if search.worlds < 4 or search.ms or search.aim != "game":
        raise AgentError(
            "a reference has 4 worlds or more, and ms and aim as they are by default, "
            f"not {shown(reference)}"
        )
    return search


class Trials:
    """The memory of a reference search, which tries the actions of one position at a time."""

    def __init__(self, reference: str | Agent = REFERENCE) -> None:
        """Prepare a search with the worlds and the playout of a `pimc`."""
        search = checked_reference(reference)
        self.worlds, self._aim = search.worlds, search.aim
        self._playout = playout_of(search.playout)
        self._games, self._dealing = np.empty(search.worlds, GAME), dealing_of(search.weighed)

    def __call__(self, view: np.ndarray, actions: np.ndarray, key: int) -> np.ndarray:
        """Return the values of every action for the viewer's side [worlds x actions x 2].

        That is its chance to win the game, and its points until the end of the hand, less those of
        the other sides. `view` is an array of one VIEW, and the key names the random stream.
        """
        view = as_view(view)
        chances, _ = outlooks_of(view, self._aim)
        values = np.empty((self.worlds, len(actions), 2))
        if not deal_worlds(view, np.uint64(key), 0, self._dealing, self._games):
            raise impossible(view)
        side = int(view["seat"][0] % view["public"]["rules"]["sides"][0])
        outlooks = chances[0], chances[0][:0]  # to win, and for points
        try_actions(self._games, actions, self._playout, side, outlooks, values)
        return values


def means_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of values over the worlds, the first axis, and their standard errors."""
    return values.mean(0), values.std(0, ddof=1) / math.sqrt(len(values))


def shortfalls(values: np.ndarray, taken: int) -> tuple[Estimate, Estimate]:
    """Return by how much the action in a column falls short of the best: in chances, in points.

    The best is the action with which the game is won most often. It is chosen by one half of the
    worlds and compared in the other, so a shortfall may be slightly below 0.
    """
    halves = values[0::2], values[1::2]
    best = [half[..., CHANCE].mean(0).argmax() for half in halves]
    apart = [half[:, best[1 - k]] - half[:, taken] for k, half in enumerate(halves)]
    means = np.mean([half.mean(0) for half in apart], 0)
    errors = np.sqrt(sum(half.var(0, ddof=1) / len(half) for half in apart)) / 2
    chance, points = map(Estimate, means.tolist(), errors.tolist())
    return chance, points


@compiled
def deal_worlds(views: Views, key: Word, first: int, dealing: Dealing, games: Games) -> bool:
    """Deal the worlds of the first view from number `first` on; return False if there is none."""
    view, logs = views[0], np.empty(1)
    ways = count_worlds(view, dealing.belief[0])
    if not prepare(view, key, dealing, ways, games):
        return False
    for w in range(len(games)):
        deal_block(view, key, first + w, dealing, ways, games[w : w + 1], logs)
    return True
