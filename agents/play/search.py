"""`pimc`, perfect-information Monte Carlo: deal what is hidden, and play out, again and again.

Worlds are drawn by the exact belief. Every action is tried in the same worlds, with the same chance
for the playouts, and has one average over all of them: the action is chosen once for all worlds,
never for each (what depends on hidden tiles cannot be chosen). An action that is clearly worse
after some worlds is not tried any further.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from agents.play.heuristics import LADDER, weights_of
from agents.play.outlook import outlooks_of, worth_of
from agents.play.rollouts import play_out
from agents.play.solver import ENTRY, SOLVER, solve_actions
from agents.play.values import ROOM, best_action
from agents.registry import AgentError, register
from fiveup_env.actions import ACTION_COUNT
from fiveup_env.belief import BELIEF, fill_worlds
from fiveup_env.compiled import Array, Record, Word, compiled, inlined
from fiveup_env.engine import GAME, PLAYING, list_legal, play, scramble, side_of
from fiveup_env.errors import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK: Final = 32  # worlds that are dealt together; then it is asked which actions still matter
CLEARLY: Final = 3.0  # standard errors by which an action must be worse to be left alone
NODES: Final = 20_000  # positions that may be looked at to solve one world
AIMS: Final = ("game", "hand")

# What is known of an action: in how many worlds it was tried, and sums over them.
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
    """What searches have in common: a budget, a heuristic that plays hands out, and an aim."""

    worlds: int = field(default=100, metadata={"help": "worlds a decision"})
    ms: float = field(default=0.0, metadata={"help": "milliseconds a decision, instead of worlds"})
    playout: str = field(default="greedy", metadata={"help": "the heuristic that plays hands out"})
    aim: str = field(default="game", metadata={"help": "what counts: the game, or points (hand)"})

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if self.playout not in LADDER:
            raise AgentError(unknown("playout", self.playout, LADDER))
        if self.aim not in AIMS:
            raise AgentError(unknown("aim", self.aim, AIMS))
        if self.worlds < 1 or self.ms < 0:
            raise AgentError("a search needs worlds=1 or more, or ms= above 0")

    def blocks(self, decisions: int) -> Iterator[int]:
        """How many worlds to look at next, as long as the budget allows it; at least one block."""
        if not self.ms:
            for done in range(0, self.worlds, BLOCK):
                yield min(BLOCK, self.worlds - done)
            return
        started, blocks, spent = time.perf_counter(), 0, 0.0
        while not blocks or spent * (blocks + 1) / blocks <= self.ms / 1000 * decisions:
            yield BLOCK
            blocks, spent = blocks + 1, time.perf_counter() - started


@register("pimc")
@dataclass(frozen=True)
class Pimc(Search):
    """Plays every action out in sampled worlds; the best on average."""

    solve: int = field(default=0, metadata={"help": "tiles left at which a world is solved"})

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose an action for every view."""
        return self.values(views, masks, random).argmax(1)

    def values(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """What every action is worth on average, -inf where it is not allowed.

        In chances to win the game, or with `aim=hand` in points of the hand still to be won.
        A single allowed action is not thought about, and has 0.
        """
        del masks
        tried = np.zeros((len(views), ACTION_COUNT), TRIED)
        chances, which = outlooks_of(views, self.aim)
        weights, rooms = weights_of(self.playout), np.zeros(1, ROOM)
        belief, room_for_games = np.zeros(1, BELIEF), np.zeros(BLOCK + 1, GAME)
        solver, memory = np.zeros(1, SOLVER), np.zeros(1 << 14 if self.solve else 1, ENTRY)
        key, thinking = np.uint64(random.integers(1 << 63)), start_all(views, rooms, tried)
        for block, worlds in enumerate(self.blocks(len(views)) if thinking else ()):
            games = room_for_games[: worlds + 1]
            play_all_out(
                views,
                key,
                block,
                weights,
                chances,
                which,
                belief,
                games,
                rooms,
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
def start_all(views: Array, rooms: Array, tried: Array) -> bool:
    """Note what is allowed; answer whether there is anything to choose anywhere."""
    thinking = False
    for i in range(len(views)):
        count = list_legal(views[i].table, views[i].hand, rooms[0].actions)
        for k in range(count):
            tried[i, rooms[0].actions[k]].legal = True
            tried[i, rooms[0].actions[k]].open = count > 1
        thinking |= count > 1
    return thinking


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
    rooms: Array,
    tried: Array,
    solve: int,
    solver: Array,
    memory: Array,
) -> None:
    """Try the open actions of every view in one more block of worlds.

    The last of the games is where hands are played out; the others hold the worlds.
    """
    worlds = len(games) - 1
    values = np.empty((1, ACTION_COUNT))
    for i in range(len(views)):
        if count_open(tried, i) < 2:
            continue
        side = side_of(views[i].table.rules, views[i].seat)
        own = block_key(key, i, block)
        fill_worlds(views[i], belief[0], own, games[:worlds])
        for w in range(worlds):
            games[w].table = views[i].table
            chance = own + np.uint64(w)
            for action in range(ACTION_COUNT):
                if tried[i, action].open:
                    game = games[worlds]
                    games[worlds] = games[w]
                    play(game, action)
                    if solve > 0:
                        _play_until(game, solve, weights, rooms[0], chance)
                        _solve_out(game, solver[0], memory, values)
                    play_out(game, weights, rooms[0], chance)
                    value = worth_of(game.table, views[i].table, side, chances[which[i]])
                    _note(tried[i, action], value)


@inlined
def block_key(key: Word, i: int, block: int) -> Word:
    """The chance of a block of worlds of a view."""
    return scramble(scramble(key + np.uint64(i)) + np.uint64(block))


@inlined
def _play_until(game: Record, tiles: int, weights: Array, room: Record, key: Word) -> None:
    """Play on until no more than so many tiles are left in all hands."""
    table = game.table
    while table.phase == PLAYING and table.sizes.sum() > tiles:
        play(game, best_action(table, game.hands[table.turn], weights, room, key))


@inlined
def _solve_out(game: Record, solver: Record, memory: Array, values: Array) -> None:
    """Play on by what is best for points, all tiles being known, as long as that can be solved."""
    while game.table.phase == PLAYING:
        values[0, :] = -np.inf
        if not solve_actions(game, solver, memory, NODES, values, 0):
            return
        play(game, values[0].argmax())


@inlined
def _note(action: Record, value: float) -> None:
    action.worlds += 1
    action.sum += value
    action.squares += value * value


@inlined
def count_open(tried: Array, i: int) -> int:
    """How many actions are still to be tried."""
    count = 0
    for action in range(ACTION_COUNT):
        count += tried[i, action].open
    return count


@compiled
def close_the_worse(tried: Array) -> bool:
    """Leave alone what is clearly worse than the best; answer whether a choice is left anywhere."""
    thinking = False
    for i in range(len(tried)):
        _close_the_worse(tried, i)
        thinking |= count_open(tried, i) > 1
    return thinking


@inlined
def _close_the_worse(tried: Array, i: int) -> None:
    """Leave those actions alone that are clearly worse than the best."""
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
def _error(action: Record) -> float:
    """The squared standard error of an action's mean."""
    mean = action.sum / action.worlds
    return max(0.0, action.squares / action.worlds - mean * mean) / action.worlds
