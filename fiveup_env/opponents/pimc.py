"""`pimc`, perfect-information Monte Carlo search: sample worlds and play every action out in them.

Worlds are drawn from the exact belief. Every action is tried in the same worlds, with the same
chance in its playouts, and is judged by its average over all of them: one action is chosen for all
worlds, never one for each, because a choice cannot depend on hidden tiles. An action that is
clearly worse after some worlds is not tried any further.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.belief.structs import BELIEF
from fiveup_env.belief.worlds import fill_worlds
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.errors import AgentError, unknown
from fiveup_env.opponents.features import SCRATCH, best_action
from fiveup_env.opponents.ladder import LADDER, weights_of
from fiveup_env.opponents.outlook import AIMS, hand_value, outlooks_of
from fiveup_env.opponents.playouts import play_out
from fiveup_env.opponents.solver import ENTRY, SOLVER, solve_actions
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK: Final = 32  # worlds dealt together, before actions that are clearly worse are closed
CLEARLY: Final = 3.0  # standard errors by which an action must be worse to be closed
NODES: Final = 20_000  # positions that may be visited to solve one world

# The statistics of an action: in how many worlds it was tried, and sums over them.
TRIED = np.dtype(
    [
        ("legal", np.bool_),
        ("open", np.bool_),  # still to be tried
        ("worlds", np.int64),
        ("sum", np.float64),
        ("squares", np.float64),
    ],
    align=True,
)


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

    def blocks(self, decisions: int) -> Iterator[int]:
        """Yield the number of worlds in the next block while the budget lasts, at least once."""
        if not self.ms:
            for done in range(0, self.worlds, BLOCK):
                yield min(BLOCK, self.worlds - done)
            return
        started, blocks, spent = time.perf_counter(), 0, 0.0
        while not blocks or spent * (blocks + 1) / blocks <= self.ms / 1000 * decisions:
            yield BLOCK
            blocks, spent = blocks + 1, time.perf_counter() - started


@dataclass(frozen=True)
class Pimc(Search):
    """Plays every action out in sampled worlds and chooses the best on average."""

    solve: int = field(
        default=0, metadata={"help": "tiles left in all hands at which worlds are solved; 0: never"}
    )

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        return self.values(views, masks, random).argmax(1)

    def values(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return the average value of every action, -inf where it is not allowed.

        Values are chances to win the game, or with `aim=hand` the points still to be won in the
        hand. A single allowed action is not searched, and its value is 0.
        """
        del masks
        tried = np.zeros((len(views), ACTION_COUNT), TRIED)
        chances, which = outlooks_of(views, self.aim)
        weights, scratch = weights_of(self.playout), np.zeros(1, SCRATCH)
        belief, all_games = np.zeros(1, BELIEF), np.zeros(BLOCK + 1, GAME)
        solver, memory = np.zeros(1, SOLVER), np.zeros(1 << 14 if self.solve else 1, ENTRY)
        key, undecided = np.uint64(random.integers(1 << 63)), start_all(views, scratch, tried)
        for block, worlds in enumerate(self.blocks(len(views)) if undecided else ()):
            games = all_games[: worlds + 1]
            play_all_out(
                views,
                key,
                block,
                weights,
                chances,
                which,
                belief,
                games,
                scratch,
                tried,
                self.solve,
                solver,
                memory,
            )
            if not close_the_worse(tried):
                break
        means = tried["sum"] / np.maximum(tried["worlds"], 1)
        return np.where(tried["legal"], means, -np.inf)


@compiled
def start_all(views: Array, scratch: Array, tried: Array) -> bool:
    """Note the legal actions of every view; return whether any view has a choice."""
    undecided = False
    for i in range(len(views)):
        count = list_legal(views[i].public, views[i].hand, scratch[0].actions)
        for k in range(count):
            tried[i, scratch[0].actions[k]].legal = True
            tried[i, scratch[0].actions[k]].open = count > 1
        undecided |= count > 1
    return undecided


@compiled
def play_all_out(
    views: Array,
    key: Word,
    block: int,
    weights: Array,
    chances: Array,
    which: Array,
    belief: Array,
    games: Array,
    scratch: Array,
    tried: Array,
    solve: int,
    solver: Array,
    memory: Array,
) -> None:
    """Try the open actions of every view in one more block of worlds.

    The last of `games` is the scratch in which hands are played out; the others hold the worlds.
    """
    worlds = len(games) - 1
    values = np.empty((1, ACTION_COUNT))
    for i in range(len(views)):
        if count_open(tried, i) < 2:
            continue
        side = side_of(views[i].public.rules, views[i].seat)
        own = block_key(key, i, block)
        fill_worlds(views[i], belief[0], own, games[:worlds])
        for w in range(worlds):
            games[w].public = views[i].public
            chance = own + np.uint64(w)
            for action in range(ACTION_COUNT):
                if tried[i, action].open:
                    game = games[worlds]
                    games[worlds] = games[w]
                    play(game, action)
                    if solve > 0:
                        _play_until(game, solve, weights, scratch[0], chance)
                        _solve_out(game, solver[0], memory, values)
                    play_out(game, weights, scratch[0], chance)
                    value = hand_value(game.public, views[i].public, side, chances[which[i]])
                    _note(tried[i, action], value)


@inlined
def block_key(key: Word, i: int, block: int) -> Word:
    """Return the random key of a block of worlds of a view."""
    return scramble(scramble(key + np.uint64(i)) + np.uint64(block))


@inlined
def _play_until(game: Struct, tiles: int, weights: Array, scratch: Struct, key: Word) -> None:
    """Play on until at most `tiles` tiles are left in all hands together."""
    public = game.public
    while public.phase == PLAYING and public.sizes.sum() > tiles:
        play(game, best_action(public, game.hands[public.turn], weights, scratch, key))


@inlined
def _solve_out(game: Struct, solver: Struct, memory: Array, values: Array) -> None:
    """Play the move that is best for points with all tiles known, while positions can be solved."""
    while game.public.phase == PLAYING:
        values[0, :] = -np.inf
        if not solve_actions(game, solver, memory, NODES, values, 0):
            return
        play(game, values[0].argmax())


@inlined
def _note(action: Struct, value: float) -> None:
    action.worlds += 1
    action.sum += value
    action.squares += value * value


@inlined
def count_open(tried: Array, i: int) -> int:
    """Return how many actions of a view are still open."""
    count = 0
    for action in range(ACTION_COUNT):
        count += tried[i, action].open
    return count


@compiled
def close_the_worse(tried: Array) -> bool:
    """Close the clearly worse actions of every view; return whether any view still has a choice."""
    undecided = False
    for i in range(len(tried)):
        _close_the_worse(tried, i)
        undecided |= count_open(tried, i) > 1
    return undecided


@inlined
def _close_the_worse(tried: Array, i: int) -> None:
    """Close the actions of a view that are clearly worse than its best."""
    best, best_error = -np.inf, 0.0
    for action in range(ACTION_COUNT):
        if tried[i, action].open and tried[i, action].sum > best * tried[i, action].worlds:
            best = tried[i, action].sum / tried[i, action].worlds
            best_error = _error(tried[i, action])
    for action in range(ACTION_COUNT):
        if tried[i, action].open:
            mean = tried[i, action].sum / tried[i, action].worlds
            apart = CLEARLY * np.sqrt(best_error + _error(tried[i, action]))
            tried[i, action].open = mean >= best - apart


@inlined
def _error(action: Struct) -> float:
    """Return the squared standard error of an action's mean."""
    mean = action.sum / action.worlds
    return max(0.0, action.squares / action.worlds - mean * mean) / action.worlds
