"""How a position is judged: the reference search, the solver's proof, and the agents that grade it.

A move is the same for the picture as another if it sets the same tile on an equal end. Then it is
the same action, so the best *action* is the best move.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from agents.puzzles.solver import solved_values
from agents.puzzles.storage import GRADES
from fiveup_env.analysis.trials import CHANCE, Trials, key_of
from fiveup_env.belief.counting import count
from fiveup_env.belief.worlds import sample, worlds_to_games
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    from agents.puzzles.storage import Position
    from fiveup_env.opponents.agent import Agent

PLAYOUT: Final = "partner"
SECOND_PLAYOUT: Final = "student"  # by which the best move must be the same
SHARE: Final = 4  # of the worlds, in which hands are played out by the second, which is slower
CLEAR: Final = 3.0  # standard errors by which the best move must be ahead of every other
LEAST: Final = 0.02  # by which the best move is ahead where the chance to win is one half ...
LEAST_AT_THE_END: Final = 0.01  # ... and where the game is nearly decided
LOST: Final = 0.05  # a chance to win below which nobody is asked for the best move
MOST_WORLDS: Final = 240  # in which the solver proves a move
NODES: Final = 4_000_000  # that it may visit in all of them together ...
NODES_IN_ONE: Final = 200_000  # ... or in each, if that is more
DRAWS: Final = 20  # times as many worlds are drawn, until each possible one has been

# From the weakest to the strongest.
LEVELS: Final = (
    "greedy",
    "defensive",
    "positional",
    "counter",
    "partner",
    "student",
    "pimc:worlds=200",
    "student+search",
)
TIMES: Final = 3  # each is asked: some break ties, or draw worlds, at random


class Verdict(NamedTuple):
    """The results of a search in a position."""

    best: int  # the action with the highest chance to win
    chances: np.ndarray  # after every legal action
    lead: float  # of the best over the second best, in chances to win
    errors: float  # the smallest lead over any other action, in standard errors


def judged(
    position: Position, worlds: int, seed: int, number: int, playout: str = PLAYOUT
) -> Verdict:
    """Return what a search finds that plays hands out; the seed and the number name its worlds."""
    values = _trials(worlds, playout)(position.view, position.actions, key_of(seed, number))
    chances = values[..., CHANCE]
    means = chances.mean(0)
    best = int(means.argmax())
    leads = np.delete(chances[:, [best]] - chances, best, 1)
    errors = leads.std(0, ddof=1) / np.sqrt(worlds)
    with np.errstate(divide="ignore", invalid="ignore"):  # the same in every world
        clear = np.nan_to_num(leads.mean(0) / errors, nan=0, posinf=np.inf)
    return Verdict(int(position.actions[best]), means, float(leads.mean(0).min()), clear.min())


@cache
def _trials(worlds: int, playout: str) -> Trials:
    return Trials(f"pimc:worlds={worlds},playout={playout}")


def worth_solving(verdict: Verdict) -> bool:
    """Return whether the best move is far enough ahead to matter.

    That is 2 points of winning chance where it is one half, and less where a chance can no longer
    differ by as much: in proportion to p (1 - p), but never less than 1 point.
    """
    chance = verdict.chances.max()
    enough = max(LEAST_AT_THE_END, 4 * LEAST * chance * (1 - chance))
    return bool(chance >= LOST and verdict.lead >= enough)


# --- The solver


class Solution(NamedTuple):
    """The solver's values of a move: in every possible world, all tiles known, for points."""

    agrees: bool  # whether no other move is better on average; also where it cannot be asked
    proves: bool  # whether the move alone is best in every world


def solved(position: Position, best: int) -> Solution:
    """Return the solver's values of a move if few worlds are possible, and solved in time."""
    games = _possible_games(position.view)
    if games is None:
        return Solution(agrees=True, proves=False)
    values = solved_values(games, max(NODES_IN_ONE, NODES // len(games)))
    if values is None:
        return Solution(agrees=True, proves=False)
    others = values[:, position.actions[position.actions != best]]
    agrees = values[:, best].mean() >= others.mean(0).max()
    return Solution(bool(agrees), bool((values[:, [best]] > others).all()))


def _possible_games(view: np.ndarray) -> np.ndarray | None:
    """Return a game for every possible world; None if there are too many, or over two sides."""
    public = view[0]["public"]
    first, end = int(public["drawn"]), int(public["boneyard"])
    orders = list(permutations(range(first, end))) if end - first <= 4 else []
    worlds = count(view)
    if public["rules"]["sides"] != 2 or not orders or worlds * len(orders) > MOST_WORLDS:
        return None
    drawn = worlds_to_games(view, sample(view, DRAWS * worlds + DRAWS, np.random.default_rng(0)))
    drawn["order"][:, first:end].sort(1)
    tiles = np.concatenate([drawn["hands"], drawn["order"][:, :end]], 1)
    different = np.unique(tiles, axis=0, return_index=True)[1]
    if len(different) < worlds:
        return None
    games = np.repeat(drawn[different], len(orders))
    for k, order in enumerate(orders):
        games["order"][k :: len(orders), first:end] = drawn["order"][different][:, list(order)]
    return games


# --- The grade


def solvers(position: Position, best: int, seed: int) -> list[bool]:
    """Return which of LEVELS find the best move in most of the times that they are asked."""
    return [_finds(spec, position, best, seed) for spec in LEVELS]


def grade_of(found_by: list[bool]) -> int:
    """Return a grade: 1 if all levels or all but one find the move, up to 5 if none does."""
    return GRADES - (sum(found_by) + 1) // 2


def _finds(spec: str, position: Position, best: int, seed: int) -> bool:
    chosen = [
        int(_agent(spec)(position.view.copy(), keyed_rng("grade of a puzzle", seed, spec, k))[0])
        for k in range(TIMES)
    ]
    return 2 * chosen.count(best) > TIMES


@cache
def _agent(spec: str) -> Agent:
    return make_agent(spec)
