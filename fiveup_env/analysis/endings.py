"""Endings solved exactly, once a view determines every tile that matters.

Solutions are those of a game in which all players know all tiles. The seat whose view determines
them does; the others may not, and then they do not play as well as the solution assumes.

From there on best play is known: `best_moves` returns the value of every action.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.analysis.solver import ENTRY, SOLVER, solve
from fiveup_env.belief.marginals import fill_marginals
from fiveup_env.belief.structs import BELIEF, BONEYARD
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.engine.legality import drawable
from fiveup_env.engine.state import GAME, ONE, PLAYING
from fiveup_env.engine.view import as_game, as_view
from fiveup_env.errors import InputError
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.tiles import TILE_COUNT

NODES: Final = 1_000_000  # positions that may be visited for one decision
MEMORY_SIZE: Final = 1 << 18


class EndgameError(InputError):
    """A position that cannot be solved."""


# --- What a view pins down


@compiled
def pin_down(views: Array, belief: Array, shares: Array, games: Array) -> bool:
    """Return whether the first view determines every tile that matters; if so, write its game.

    Nobody sees the order of the boneyard: it is known once at most one tile of it is left, and it
    no longer matters once none may be drawn. `belief` and `shares` are scratch memory.
    """
    view, game = views[0], games[0]
    public = view.public
    if public.boneyard - public.drawn > 1 and drawable(public) > 0:
        return False
    shares[:] = 0
    if not fill_marginals(view, belief[0], shares):
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
    game = position if is_game else pinned(position)
    if game is None:
        raise EndgameError("this view does not determine every hidden tile, so it cannot be solved")
    values = np.full(ACTION_COUNT, np.nan)
    if not solve(game, np.zeros(1, SOLVER), np.zeros(MEMORY_SIZE, ENTRY), nodes, values):
        raise EndgameError(f"{nodes:,} nodes are too few to solve this ending; allow more")
    return values


def pinned(view: np.ndarray) -> np.ndarray | None:
    """Return the game of a view [1] that determines every tile that matters, or None."""
    game, shares = np.empty(1, GAME), np.zeros((BONEYARD + 1, TILE_COUNT))
    return game if pin_down(view, np.zeros(1, BELIEF), shares, game) else None
