"""The one search behind `pimc` and `policy+search`: actions tried in sampled worlds.

Worlds are drawn from the exact belief. Every open action is tried in the same worlds, with the same
chance in its playouts, and is scored by its mean over all of them, together with a prior over the
actions (see `world_statistics`). One action is chosen for all worlds, never one for each, because a
choice cannot depend on hidden tiles. The search ends with its budget, or once one action is left.

A `Weigh` makes some worlds count for more than others. With `weighed` above 1, that many worlds are
weighed for each one in which actions are tried, and those are drawn from them by their weights. A
`PlayOn` takes the place of the heuristic that plays hands out.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from fiveup_env.belief.counting import full
from fiveup_env.belief.structs import BELIEF
from fiveup_env.belief.worlds import count_worlds, draw_worlds
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, side_of
from fiveup_env.errors import AgentError, unknown
from fiveup_env.opponents.features import SCRATCH
from fiveup_env.opponents.ladder import LADDER, weights_of
from fiveup_env.opponents.outlook import AIMS, hand_value
from fiveup_env.opponents.playouts import play_out, play_out_solved
from fiveup_env.opponents.solver import ENTRY, SOLVER
from fiveup_env.opponents.world_statistics import WorldStatistics, add_worlds
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK: Final = 32  # worlds dealt together, before actions that are clearly worse are closed
_S11: Final = np.uint64(11)
MEMORY_SIZE: Final = 1 << 14  # entries of the solver's transposition table
HELD_WORLDS: Final = 1 << 13  # worlds of several views that are held in memory for a hook

# Scratch memory of a search.
ROOM = np.dtype(
    [
        ("belief", BELIEF),
        ("features", SCRATCH),
        ("game", GAME),  # in which a hand is played out
        ("solved", np.float64, (1, ACTION_COUNT)),
    ],
    align=True,
)


_NOTHING_TO_SOLVE_WITH: Final = (np.zeros(0, SOLVER), np.zeros(0, ENTRY))


class Weigh(Protocol):
    """How likely worlds are, given what the belief leaves out."""

    def __call__(self, which: np.ndarray, games: np.ndarray, /) -> np.ndarray:
        """Return the log-likelihoods of worlds, GAME structs [views x worlds].

        `which` are the indices of the views among those that are searched.
        """


class PlayOn(Protocol):
    """What becomes of actions in worlds."""

    def __call__(
        self, which: np.ndarray, games: np.ndarray, candidates: np.ndarray, /
    ) -> np.ndarray:
        """Return the values of the open candidates in worlds [views x worlds x candidates].

        `games` are GAME structs at the moment of the view, `candidates` CANDIDATE structs [views x
        candidates], and `which` the indices of the views among those that are searched.
        """


@dataclass(frozen=True)
class Search:
    """What searches have in common: a budget, a heuristic for the playouts, and an aim."""

    worlds: int = field(default=100, metadata={"help": "worlds per decision"})
    ms: float = field(
        default=0.0, metadata={"help": "milliseconds per decision, in place of worlds"}
    )
    playout: str = field(default="greedy", metadata={"help": "heuristic that plays hands out"})
    aim: str = field(
        default="game",
        metadata={
            "help": "what counts: the chance to win (game; of old: game@1), or points (hand)"
        },
    )

    def __post_init__(self) -> None:
        """Raise AgentError if an option is out of range."""
        if self.playout not in LADDER:
            raise AgentError(unknown("playout", self.playout, LADDER))
        if self.aim not in AIMS:
            raise AgentError(unknown("aim", self.aim, AIMS))
        if self.worlds < 1 or self.ms < 0:
            raise AgentError("a search needs worlds=1 or more and ms=0 or more")

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


@dataclass(frozen=True)
class WorldSearch:
    """A search with all its settings: its budget, its playouts, its prior's weight, its hooks."""

    options: Search
    trust: float = 0.0  # the weight of the prior
    solve: int = 0  # tiles left in all hands at which hands are solved; 0: never
    weigh: Weigh | None = None
    weighed: int = 1  # worlds that are weighed for each one in which actions are tried
    play_on: PlayOn | None = None

    def __call__(
        self,
        views: np.ndarray,
        logs: np.ndarray,
        outlooks: tuple[np.ndarray, np.ndarray],
        key: Word,
        began: float,
    ) -> WorldStatistics:
        """Return what worlds show about the actions of some views.

        `logs` are the logarithms of the actions' prior probabilities [views x actions], -inf for
        those that are not tried. `outlooks` is what `outlooks_of` returns. The key names the random
        stream. The caller began at `began`, on the clock of `time.perf_counter`: what it has spent
        on all views together is part of their budgets of time.
        """
        statistics = WorldStatistics(logs, self.trust)
        if len(which := statistics.undecided):
            trials = _Trials(self, views, outlooks, key, statistics)
            hooked = self.weigh is not None or self.play_on is not None
            try_more = trials.try_by_hooks if hooked else trials.try_compiled
            size = max(1, HELD_WORLDS // (BLOCK * self.weighed)) if hooked else len(which)
            size = 1 if self.options.ms else size
            spent = (time.perf_counter() - began) / len(views)
            for start in range(0, len(which), size):
                part = which[start : start + size]
                for first, end in self.options.rounds(spent):
                    try_more(part, first, end)
                    if not statistics.evidence["open"][part].any():
                        break
        return statistics


class _Trials:
    """The memory of one search, and the two ways in which it tries actions."""

    def __init__(
        self,
        search: WorldSearch,
        views: np.ndarray,
        outlooks: tuple[np.ndarray, np.ndarray],
        key: Word,
        statistics: WorldStatistics,
    ) -> None:
        self._search, self._views, self._statistics = search, views, statistics
        self._chances, self._tables = outlooks
        self._keys = np.empty(len(views), np.uint64)
        _name_streams(key, self._keys)
        self._weights, self._room = weights_of(search.options.playout), np.zeros(1, ROOM)
        self._solver, self._memory = _NOTHING_TO_SOLVE_WITH
        if search.solve:
            self._solver, self._memory = np.zeros(1, SOLVER), np.zeros(MEMORY_SIZE, ENTRY)

    def try_compiled(self, which: np.ndarray, first: int, end: int) -> None:
        """Try the open actions of some views in a range of worlds, in one compiled loop."""
        statistics = self._statistics
        try_worlds(
            which,
            self._views,
            self._keys,
            first,
            end,
            self._chances,
            self._tables,
            self._weights,
            self._search.solve,
            self._solver,
            self._memory,
            self._room,
            np.empty(BLOCK, GAME),
            statistics.evidence,
            statistics.candidates,
            statistics.products,
        )

    def try_by_hooks(self, which: np.ndarray, first: int, end: int) -> None:
        """Try the open actions of some views in a range of worlds, block by block."""
        search, statistics = self._search, self._statistics
        for start in range(first, end, BLOCK):
            which = which[statistics.evidence["open"][which] > 0]
            shape = len(which), min(BLOCK, end - start)
            games = np.empty((shape[0], shape[1] * search.weighed), GAME)
            logs = np.zeros(games.shape)
            deal_all(which, self._views, self._keys, start * search.weighed, self._room, games)
            if search.weigh:
                logs = search.weigh(which, games)
            if search.weighed > 1:
                weighed, drawn = (games, logs), np.empty(shape, GAME)
                games, logs = drawn, np.empty(shape)
                draw_again(*weighed, self._keys[which] + np.uint64(start), games, logs)
            if search.play_on:
                values = search.play_on(which, games, statistics.candidates[which])
            else:
                values = np.zeros((*shape, statistics.candidates.shape[1]))
                self._play_out(which, games, values)
            statistics.add(which, values, logs)

    def _play_out(self, which: np.ndarray, games: np.ndarray, values: np.ndarray) -> None:
        play_out_all(
            which,
            self._views,
            games,
            self._chances,
            self._tables,
            self._weights,
            self._search.solve,
            self._solver,
            self._memory,
            self._room,
            self._statistics.evidence,
            self._statistics.candidates,
            values,
        )


@compiled
def uniform(views: Array, logs: Array) -> None:
    """Write a uniform prior: 0 for every legal action of every view."""
    actions = np.empty(ACTION_COUNT, np.int64)
    for i in range(len(views)):
        for k in range(list_legal(views[i].public, views[i].hand, actions)):
            logs[i, actions[k]] = 0


@compiled
def _name_streams(key: Word, keys: Array) -> None:
    for i in range(len(keys)):
        keys[i] = scramble(key + np.uint64(i))


@compiled
def try_worlds(
    which: Array,
    views: Array,
    keys: Array,
    first: int,
    end: int,
    chances: Array,
    tables: Array,
    weights: Array,
    solve: int,
    solver: Array,
    memory: Array,
    room: Array,
    games: Array,
    evidence: Array,
    candidates: Array,
    products: Array,
) -> None:
    """Try the open actions of some views in the worlds from number `first` to below `end`.

    Clearly worse actions are closed after every block of worlds, for which `games` has space.
    """
    values, logs = np.empty((len(games), candidates.shape[1])), np.zeros(len(games))
    for i in which:
        view = views[i]
        ways = count_worlds(view, room[0].belief)
        if ways[0, full(room[0].belief)] == 0:
            continue
        for start in range(first, end, len(games)):
            if evidence[i].open == 0:
                break
            worlds = min(len(games), end - start)
            deal(view, room[0].belief, ways, keys[i], start, games[:worlds])
            play_actions_out(
                view,
                games[:worlds],
                chances[tables[i]],
                weights,
                solve,
                solver,
                memory,
                room[0],
                evidence[i].count,
                candidates[i],
                values,
            )
            add_worlds(evidence[i], candidates[i], products[i], values[:worlds], logs[:worlds])


@inlined
def deal(view: Struct, belief: Struct, ways: Array, key: Word, first: int, games: Array) -> None:
    """Deal worlds, ready for the viewer's move; all that is tried in one shares its seed."""
    draw_worlds(belief, ways, key, first, games)
    for w in range(len(games)):
        games[w].public = view.public
        games[w].seed = scramble(~key + np.uint64(first + w))


@compiled
def play_actions_out(
    view: Struct,
    games: Array,
    chances: Array,
    weights: Array,
    solve: int,
    solver: Array,
    memory: Array,
    room: Struct,
    count: int,
    candidates: Array,
    values: Array,
) -> None:
    """Play every open candidate out in every world, and write its value [worlds x candidates]."""
    side, game = side_of(view.public.rules, view.seat), room.game
    for w in range(len(games)):
        for k in range(count):
            if candidates[k].open:
                room.game = games[w]
                play(game, candidates[k].action)
                if solve > 0:
                    play_out_solved(
                        game,
                        solve,
                        weights,
                        room.features,
                        solver[0],
                        memory,
                        room.solved,
                        games[w].seed,
                    )
                else:
                    play_out(game, weights, room.features, games[w].seed)
                values[w, k] = hand_value(game.public, view.public, side, chances)


@compiled
def deal_all(
    which: Array, views: Array, keys: Array, first: int, room: Array, games: Array
) -> None:
    """Deal worlds for some views: GAME structs [views x worlds]."""
    for n in range(len(which)):
        view, belief = views[which[n]], room[0].belief
        ways = count_worlds(view, belief)
        if ways[0, full(belief)] > 0:
            deal(view, belief, ways, keys[which[n]], first, games[n])


@compiled
def play_out_all(
    which: Array,
    views: Array,
    games: Array,
    chances: Array,
    tables: Array,
    weights: Array,
    solve: int,
    solver: Array,
    memory: Array,
    room: Array,
    evidence: Array,
    candidates: Array,
    values: Array,
) -> None:
    """Play the open candidates of some views out in their worlds [views x worlds]."""
    for n in range(len(which)):
        i = which[n]
        play_actions_out(
            views[i],
            games[n],
            chances[tables[i]],
            weights,
            solve,
            solver,
            memory,
            room[0],
            evidence[i].count,
            candidates[i],
            values[n],
        )


@compiled
def draw_again(worlds: Array, weights: Array, keys: Array, drawn: Array, logs: Array) -> None:
    """Draw fewer worlds from weighed ones [views x worlds], each as often as its weight says.

    Systematic resampling: equally spaced points on the sum of the weights, whose logarithms are
    given, from one random number for each view. The worlds drawn weigh the same, which `logs` gets:
    the mean of the weights. A world that is drawn twice has another chance each time.
    """
    many, few = worlds.shape[1], drawn.shape[1]
    for i in range(len(worlds)):
        highest = weights[i].max()
        total = np.exp(weights[i] - highest).sum()
        start = np.float64(scramble(scramble(keys[i])) >> _S11) * 2.0**-53
        w, reached = 0, np.exp(weights[i, 0] - highest)
        for n in range(few):
            while w < many - 1 and reached <= (start + n) / few * total:
                w += 1
                reached += np.exp(weights[i, w] - highest)
            drawn[i, n] = worlds[i, w]
            drawn[i, n].seed = worlds[i, n].seed
        logs[i, :] = highest + np.log(total / many)
