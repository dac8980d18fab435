"""The one search behind `pimc`, `student+search` and `policy+search`: actions tried in worlds.

Worlds are drawn from the exact belief, and may be weighed by the others' moves (see `dealing`).
Every open action is tried in the same worlds, with the same chance in its playouts, and is scored
by its mean over all of them, together with a prior over the actions and how they look (see
`world_statistics` and `looks`). One action is chosen for all worlds, never one for each, because a
choice cannot depend on hidden tiles. The search ends with its budget, or once one action is left.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from fiveup_env.belief.evidence import impossible
from fiveup_env.belief.worlds import count_worlds
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.state import GAME, Games, Views, side_of
from fiveup_env.engine.view import as_views
from fiveup_env.errors import AgentError, unknown
from fiveup_env.native import DoubleRows, DoubleTables, Int64s, Word, Words, compiled, signed
from fiveup_env.opponents.agent import CompiledAgent
from fiveup_env.opponents.heuristics.ladder import LADDER, weights_of
from fiveup_env.opponents.networks.policy import STUDENT, PolicyAgent
from fiveup_env.opponents.search.action_values import SKIPPED, try_actions
from fiveup_env.opponents.search.dealing import BLOCK, Dealing, deal_block, dealing_of, prepare
from fiveup_env.opponents.search.looks import write_looks
from fiveup_env.opponents.search.outlook import AIMS
from fiveup_env.opponents.search.playouts import Playout, playout_by
from fiveup_env.opponents.search.world_statistics import (
    CandidateRows,
    Evidences,
    WorldStatistics,
    add_worlds,
)
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAYOUTS: Final = (*LADDER, STUDENT)  # who may play hands out
MOST_WEIGHED: Final = 1 << 10  # worlds weighed for each one that is tried


class Searcher(CompiledAgent, ABC):
    """An agent that tries actions in worlds; subclasses say from what prior."""

    def search(self, views: np.ndarray, rng: np.random.Generator) -> WorldStatistics:
        """Return means and standard errors of the actions of some views over worlds."""
        return self.search_unchecked(as_views(views), rng)

    def values(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the average value of every action, -inf where it is not allowed or is ruled out.

        Values are chances to win the game, or with `aim=hand` the points still to be won in the
        hand. A single action is not searched, and its value is 0. An action that was closed has the
        average of the worlds until then.
        """
        return self.values_unchecked(as_views(views), rng)

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        return self.search_unchecked(views, rng).choices

    def values_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the values for views that the library itself has made."""
        return self.search_unchecked(views, rng).means

    @abstractmethod
    def search_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> WorldStatistics:
        """Search for views that the library itself has made."""


@dataclass(frozen=True)
class Search:
    """The base of searches: a budget, a playout policy, and an aim."""

    playouts = PLAYOUTS

    worlds: int = field(default=100, metadata={"help": "worlds per decision"})
    ms: float = field(
        default=0.0, metadata={"help": "milliseconds per decision, in place of worlds"}
    )
    playout: str = field(default="greedy", metadata={"help": "who plays hands out"})
    aim: str = field(
        default="game",
        metadata={"help": "what counts: the chance to win (game), or points (hand)"},
    )
    weighed: int = field(
        default=1,
        metadata={"help": "worlds weighed by the others' moves for each that is tried; 1: none"},
    )
    looks: bool = field(
        default=False, metadata={"help": "whether near ties go to what people would play"}
    )

    def __post_init__(self) -> None:
        """Raise AgentError if an option is out of range."""
        if self.playout not in self.playouts:
            raise AgentError(unknown("playout", self.playout, self.playouts))
        if self.aim not in AIMS:
            raise AgentError(unknown("aim", self.aim, AIMS))
        if self.worlds < 1 or self.ms < 0:
            raise AgentError("a search needs worlds=1 or more and ms=0 or more")
        if not 1 <= self.weighed <= MOST_WEIGHED:
            raise AgentError(f"weighed must be from 1 to {MOST_WEIGHED}, not {self.weighed}")

    def rounds(self, spent: float = 0.0) -> Iterator[tuple[int, int]]:
        """Yield ranges of worlds, from the first to below the end, while the budget lasts.

        A budget of time, of which `spent` seconds are gone, has at least one block of worlds. Each
        further range takes about half of what is left, as closed actions make worlds cheaper.
        """
        if not self.ms:
            yield 0, self.worlds
            return
        began, done, more = time.perf_counter(), 0, BLOCK
        while more:
            yield done, done + more
            done += more
            taken = time.perf_counter() - began
            fitting = int(done * ((self.ms / 1000 - spent) / taken - 1))
            more = max(fitting // 2 // BLOCK, fitting >= BLOCK) * BLOCK


def playout_of(name: str) -> Playout:
    """Return playouts by a heuristic of the ladder, or by the student that is shipped."""
    return playout_by(PolicyAgent(STUDENT).weights if name == STUDENT else weights_of(name))


class Work(NamedTuple):
    """The input of a compiled search, and its memory; one row a view."""

    views: Views
    keys: Words  # of the random streams
    chances: DoubleTables  # grids of the outlook
    tables: Int64s  # the index of each view's grid
    dealing: Dealing
    playout: Playout
    games: Games  # a block of worlds
    evidence: Evidences
    candidates: CandidateRows
    products: DoubleTables


def search_worlds(
    options: Search,
    playout: Playout,
    views: np.ndarray,
    statistics: WorldStatistics,
    outlooks: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
    began: float,
) -> WorldStatistics:
    """Try the open actions of some views, and return the statistics with what worlds show.

    `outlooks` is what `outlooks_of` returns. The caller began at `began`, on the clock of
    `time.perf_counter`: what it has spent on all views together is part of their budgets of time.
    Raises BeliefError for a view that no world agrees with.
    """
    keys = np.empty(len(views), np.uint64)
    name_streams(np.uint64(rng.integers(1 << 63)), keys)
    if not len(undecided := statistics.undecided):
        return statistics
    if options.looks:
        write_looks(views, statistics.evidence, statistics.candidates)
    work = Work(
        views,
        keys,
        *outlooks,
        dealing_of(options.weighed),
        playout,
        np.empty(BLOCK, GAME),
        statistics.evidence,
        statistics.candidates,
        statistics.products,
    )
    size = 1 if options.ms else len(undecided)
    spent = (time.perf_counter() - began) / len(views)
    for start in range(0, len(undecided), size):
        part = undecided[start : start + size]
        for first, end in options.rounds(spent):
            if (without := try_worlds(part, first, end, work)) >= 0:
                raise impossible(views[without : without + 1])
            if not statistics.evidence["open"][part].any():
                break
    return statistics


@compiled
def mark_allowed(views: Views, prior: DoubleRows) -> None:
    """Write 0 for every legal action of every view."""
    actions = np.empty(ACTION_COUNT, np.int64)
    for i in range(len(views)):
        for k in range(list_legal(views[i].public, views[i].hand, actions)):
            prior[i, actions[k]] = 0


@compiled
def name_streams(key: Word, keys: Words) -> None:
    """Write the key of every view's random stream."""
    for i in range(len(keys)):
        keys[i] = scramble(key + np.uint64(i))


@compiled
def try_worlds(indices: Int64s, first: int, end: int, work: Work) -> int:
    """Try the open actions of some views in the worlds from number `first` to below `end`.

    Clearly worse actions are closed after every block of worlds. Return the index of a view without
    worlds, or -1.
    """
    evidence, candidates, dealing, games = work.evidence, work.candidates, work.dealing, work.games
    most, logs = candidates.shape[1], np.zeros(BLOCK)
    actions, values = np.empty(most, np.int64), np.empty((BLOCK, most, 1))
    for i in indices:
        view, key, count = work.views[i], work.keys[i], evidence[i].count
        side = side_of(view.public.rules, view.seat)
        ways = count_worlds(view, dealing.belief[0])
        if not prepare(view, key, dealing, ways, games):
            return signed(i)
        for start in range(first, end, BLOCK):
            if evidence[i].open == 0:
                break
            worlds = min(BLOCK, end - start)
            deal_block(view, key, start, dealing, ways, games[:worlds], logs[:worlds])
            for k in range(count):
                actions[k] = candidates[i, k].action if candidates[i, k].open else SKIPPED
            outlooks = (work.chances[work.tables[i]],)
            try_actions(games[:worlds], actions[:count], work.playout, side, outlooks, values)
            tried = values[:worlds].reshape((worlds, most))
            add_worlds(evidence[i], candidates[i], work.products[i], tried, logs[:worlds])
    return -1
