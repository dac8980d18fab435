"""Endings solved exactly, once a view determines every tile that matters.

Solutions are those of a game in which all players know all tiles. The seat whose view determines
them does; the others may not, and then they do not play as well as the solution assumes.

From there on best play is known: `best_moves` returns the value of every action, and `regrets` by
how many points of the hand an agent's actions fell short of the best.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.analysis.solver import ENTRY, SOLVER, solve_actions
from fiveup_env.belief.marginals import fill_marginals
from fiveup_env.belief.structs import BELIEF, BONEYARD
from fiveup_env.engine.compiled import Array, Struct, compiled
from fiveup_env.engine.legality import drawable
from fiveup_env.engine.state import GAME, ONE, PLAYING
from fiveup_env.engine.view import as_game, as_view, as_views
from fiveup_env.errors import IllegalMoveError, InputError
from fiveup_env.rules.actions import ACTION_COUNT, MOVES
from fiveup_env.rules.tiles import TILE_COUNT

NODES: Final = 1_000_000  # positions that may be visited for one decision
MEMORY_SIZE: Final = 1 << 18


class EndgameError(InputError):
    """A position that cannot be solved."""


# --- What a view pins down


@compiled
def pin_down(view: Struct, belief: Struct, shares: Array, game: Struct) -> bool:
    """Return whether a view determines every tile that matters; if so, write its game.

    Nobody sees the order of the boneyard: it is known once at most one tile of it is left, and it
    no longer matters once none may be drawn. `belief` and `shares` are scratch memory.
    """
    public = view.public
    if public.boneyard - public.drawn > 1 and drawable(public) > 0:
        return False
    shares[:] = 0
    if not fill_marginals(view, belief, shares):
        return False
    game.public = public
    game.seed = np.uint64(0)
    game.hands[:] = 0
    game.order[:] = -1
    next_drawn = public.drawn
    for tile in range(TILE_COUNT):
        holders = 0
        for holder in range(BONEYARD + 1):
            if shares[holder, tile] > 0:
                holders += 1
                if holder == BONEYARD:
                    game.order[next_drawn] = tile
                    next_drawn += 1
                else:
                    game.hands[holder] |= ONE << np.uint32(tile)
        if holders > 1:
            return False
    return True


@compiled
def pin_down_all(views: Array, belief: Array, shares: Array, games: Array, which: Array) -> int:
    """Write the games that views determine, and the indices of these views; return how many.

    Views of games between more than two sides are skipped.
    """
    n = 0
    for i in range(len(views)):
        two_sides = views[i].public.rules.sides == 2
        if two_sides and pin_down(views[i], belief[0], shares, games[n]):
            which[n] = i
            n += 1
    return n


@compiled
def solve_all(games: Array, solver: Array, memory: Array, nodes: int, values: Array) -> None:
    """Write the value of every legal action into rows of NaN; unsolved rows remain NaN."""
    for i in range(len(games)):
        if not solve_actions(games[i], solver[0], memory, nodes, values, i):
            values[i, :] = np.nan


# --- For Python


def best_moves(position: np.ndarray, nodes: int = NODES) -> np.ndarray:
    """Return each action's value to the side to move, if all play perfectly from here on.

    Args:
        position: An array of one GAME or VIEW struct, of `Game.state()` or `Game.view()`.
        nodes: The number of positions that may be searched.

    Returns:
        Points of the hand [121], NaN where an action is illegal.

    Raises:
        EndgameError: If the view does not determine every tile that matters, there are more than
            two sides, or `nodes` are too few.
    """
    is_game = getattr(position, "dtype", None) == GAME
    position = as_game(position) if is_game else as_view(position)
    public = position[0]["public"]
    if public["rules"]["sides"] != 2:
        raise EndgameError("only endings between two sides can be solved: two players, or partners")
    if public["phase"] != PLAYING:
        raise EndgameError("the hand is over: there is no ending to solve")
    games = position if is_game else _pinned(position)[1]
    if not len(games):
        raise EndgameError("this view does not determine every hidden tile, so it cannot be solved")
    values = _solved(games, nodes)[0]
    if np.isnan(values).all():
        raise EndgameError(f"{nodes:,} nodes are too few to solve this ending; allow more")
    return values


def regrets(views: np.ndarray, actions: np.ndarray, nodes: int = NODES) -> np.ndarray:
    """Return by how many points of the hand each action falls short of the best one.

    Args:
        views: VIEW structs [N].
        actions: An action for each of them [N].
        nodes: The number of positions that may be searched for each.

    Returns:
        Points [N]; NaN where a view does not determine every tile that matters, where `nodes` are
        too few to solve it, and where there are more than two sides.
    """
    losses = np.full(len(views), np.nan)
    which, values = _solved_views(views, nodes)
    taken = values[np.arange(len(which)), actions[which]]
    for i in which[np.isnan(taken)]:
        raise IllegalMoveError(f"view {i}: {MOVES[actions[i]]} is not allowed there")
    losses[which] = _best(values) - taken
    return losses


def _solved_views(views: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the views that can be solved, and the value of every action there."""
    which, games = _pinned(views)
    values = _solved(games, nodes)
    solved = ~np.isnan(values).all(1)
    return which[solved], values[solved]


def _pinned(views: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the views that determine every tile that matters, and their games."""
    views = as_views(views)
    which, games = np.empty(len(views), np.int64), np.empty(len(views), GAME)
    shares = np.zeros((BONEYARD + 1, TILE_COUNT))
    n = pin_down_all(views, np.zeros(1, BELIEF), shares, games, which)
    return which[:n], games[:n]


def _solved(games: np.ndarray, nodes: int) -> np.ndarray:
    """Return the value of every action in some games; all NaN where `nodes` nodes are too few."""
    values = np.full((len(games), ACTION_COUNT), np.nan)
    if len(games):
        solve_all(games, np.zeros(1, SOLVER), np.zeros(MEMORY_SIZE, ENTRY), nodes, values)
    return values


def _best(values: np.ndarray) -> np.ndarray:
    """Return the best value of each row."""
    return np.max(values, 1, initial=-np.inf, where=~np.isnan(values))
