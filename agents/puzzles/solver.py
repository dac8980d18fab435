"""Best play in a hand whose tiles are all known: alpha-beta search with a transposition table.

The value of a position is what the side to move still wins in this hand less what the other side
wins, in points of the score, when both play their best. Moves are made by the engine itself. Best
play is defined only between two sides: two players, or two pairs of partners.

The search keeps its path in an array of NODEs instead of calling itself, because Numba cannot cache
recursive functions.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.chance import scramble
from fiveup_env.engine.layout import total_after
from fiveup_env.engine.legality import drawable, legal_count, nth_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import GAME, ONE, PLAYING, side_of
from fiveup_env.native import Array, Mask, Struct, Word, bit_count, compiled, inlined, signed
from fiveup_env.rules.actions import ACTION_COUNT, DRAW
from fiveup_env.rules.fields import IMMEDIATE, MAX_PLAYERS, SPIN_FIRST
from fiveup_env.rules.tiles import PIP_COUNT, SUITS, TILE_COUNT

MEMORY_SIZE: Final = 1 << 18  # of the transposition table
WIDEST: Final = 1 << 14  # no value is beyond this, in either direction
# Every tile is set at most once and drawn at most once, and the other seats pass in between.
MOST_MOVES: Final = TILE_COUNT * (MAX_PLAYERS + 1)

# A position on the path of the search.
NODE = np.dtype(
    [
        ("game", GAME),
        ("key", np.uint64),
        ("alpha", np.int64),  # the value is exact between these bounds;
        ("beta", np.int64),  # outside them it is itself a bound
        ("low", np.int64),  # the bounds known before the search
        ("high", np.int64),
        ("best", np.int64),  # the best value found
        ("best_action", np.int8),
        ("count", np.int8),  # how many actions are legal; 0 if none needs to be tried
        ("tried", np.int8),  # how many have been tried, including the current one
        ("gain", np.int64),  # what its side gained by the action tried last
        ("turn", np.int64),  # 1 if that side is to move again, otherwise -1
        ("actions", np.int8, (ACTION_COUNT,)),
        ("promise", np.int16, (ACTION_COUNT,)),  # actions with more are tried first
    ],
    align=True,
)

# The state of one search.
SOLVER = np.dtype(
    [
        ("left", np.int64),  # nodes that may still be visited; 0 once the budget is spent
        ("to_draw", np.uint32, (TILE_COUNT + 1,)),  # by tiles drawn: those still to be drawn
        ("nodes", NODE, (MOST_MOVES + 1,)),
    ],
    align=True,
)

# An entry of the transposition table: an array of these, whose size is a power of two.
ENTRY = np.dtype(
    [("key", np.uint64), ("low", np.int16), ("high", np.int16), ("best_action", np.int8)],
    align=True,
)


def solved_values(games: np.ndarray, nodes: int) -> np.ndarray | None:
    """Return each action's value in each of some GAMEs between two sides [games x 121].

    It is NaN where an action is illegal. Return None if `nodes` positions in one game are too few.
    """
    values = np.full((len(games), ACTION_COUNT), np.nan)
    for k in range(len(games)):
        memory = np.zeros(MEMORY_SIZE, ENTRY)
        if not solve(games[k : k + 1], np.zeros(1, SOLVER), memory, nodes, values[k]):
            return None
    return values


@compiled
def solve(game: Array, work: Array, memory: Array, nodes: int, values: Array) -> bool:
    """Write the value of every legal action of a GAME; return whether `nodes` nodes sufficed.

    `work` is one SOLVER as scratch memory, and `memory` the empty transposition table.
    """
    solver = work[0]
    _prepare(solver, game[0], nodes)
    root = solver.nodes[0]
    _list_actions(root, -1)
    while root.tried < root.count:
        action = _follow(solver, 0)
        values[action] = root.gain + root.turn * _search(solver, memory, 1)
    return bool(solver.left > 0)


@compiled
def _prepare(solver: Struct, game: Struct, nodes: int) -> None:
    """Begin at a game: note the tiles that may still be drawn."""
    public = game.public
    solver.nodes[0].game = game
    solver.left = nodes
    end = public.drawn + drawable(public)
    solver.to_draw[end] = np.uint32(0)
    for k in range(end - 1, public.drawn - 1, -1):
        solver.to_draw[k] = solver.to_draw[k + 1] | ONE << np.uint32(game.order[k])


@compiled
def _search(solver: Struct, memory: Array, root: int) -> int:
    """Return the value of the position at depth `root`; meaningless once no nodes are left."""
    depth = root
    _open(solver, memory, depth, -WIDEST, WIDEST)
    while solver.left > 0:
        node = solver.nodes[depth]
        if node.tried < node.count and node.best < node.beta:
            _follow(solver, depth)
            floor = max(node.alpha, node.best)
            first, other = node.turn * (floor - node.gain), node.turn * (node.beta - node.gain)
            depth += 1
            _open(solver, memory, depth, min(first, other), max(first, other))
            continue
        if node.count > 0:
            _remember(memory, node)
        if depth == root:
            return signed(node.best)
        depth -= 1
        _weigh(solver.nodes[depth], node.best)
    return 0


@inlined
def _open(solver: Struct, memory: Array, depth: int, alpha: int, beta: int) -> None:
    """Open the position at a depth; it needs no search if its stored bounds decide it."""
    node = solver.nodes[depth]
    node.tried = node.count = 0
    node.best = 0
    if node.game.public.phase != PLAYING:
        return
    solver.left -= 1
    node.key = _key(solver, node.game)
    node.low, node.high, favourite = -WIDEST, WIDEST, -1
    entry = _entry_of(memory, node.key)
    if entry.key == node.key:
        node.low, node.high, favourite = entry.low, entry.high, signed(entry.best_action)
        if node.low >= beta or node.low == node.high:
            node.best = node.low
            return
        if node.high <= alpha:
            node.best = node.high
            return
    node.alpha, node.beta = max(alpha, node.low), min(beta, node.high)
    node.best = -WIDEST
    _list_actions(node, favourite)


@inlined
def _entry_of(memory: Array, key: Word) -> Struct:
    """Return the one entry in which a position may be stored."""
    return memory[signed(key & np.uint64(len(memory) - 1))]


@inlined
def _remember(memory: Array, node: Struct) -> None:
    """Store the bounds that are now known; a value outside the window is only a bound."""
    entry = _entry_of(memory, node.key)
    entry.key = node.key
    entry.low = node.best if node.best > node.alpha else node.low
    entry.high = node.best if node.best < node.beta else node.high
    entry.best_action = node.best_action


@inlined
def _follow(solver: Struct, depth: int) -> int:
    """Make the next move, one level deeper, note what it gained, and return it."""
    node, game = solver.nodes[depth], solver.nodes[depth + 1].game
    action = _next_action(node)
    solver.nodes[depth + 1].game = node.game
    public = game.public
    side = side_of(public.rules, public.turn)
    before = public.scores[side] - public.scores[1 - side]
    play(game, action)
    node.gain = public.scores[side] - public.scores[1 - side] - before
    node.turn = 1 if side_of(public.rules, public.turn) == side else -1
    return action


@inlined
def _weigh(node: Struct, value: int) -> None:
    """Compare the action tried last, which led to a position of value `value`, with the best."""
    value = node.gain + node.turn * value
    if value > node.best:
        node.best = value
        node.best_action = node.actions[node.tried - 1]


@inlined
def _list_actions(node: Struct, favourite: int) -> None:
    """List the legal actions and their promise: the favourite's is highest, then points count."""
    public = node.game.public
    hand = node.game.hands[public.turn]
    node.count, node.tried = legal_count(public, hand), 0
    for n in range(node.count):
        action = nth_legal(public, hand, n)
        node.actions[n] = action
        if action == favourite:
            node.promise[n] = WIDEST
        elif action >= DRAW:
            node.promise[n] = -1
        else:
            node.promise[n] = FIVES[public.rules.multiple, total_after(public.layout, action)]


@inlined
def _next_action(node: Struct) -> int:
    """Move the most promising untried action to the front of the untried ones, and return it."""
    actions, promise, n = node.actions, node.promise, signed(node.tried)
    most = n
    for k in range(n + 1, node.count):
        if promise[k] > promise[most]:
            most = k
    actions[n], actions[most] = actions[most], actions[n]
    promise[n], promise[most] = promise[most], promise[n]
    node.tried += 1
    return signed(actions[n])


@inlined
def _key(solver: Struct, game: Struct) -> Word:
    """Return a hash of all that the rest of a hand depends on, of one deal, and of nothing else.

    An end whose pip is on no tile to come matters for the total alone, and no more ends of a pip
    matter than there are tiles to come with that pip. Scores matter only where the target bounds
    them. Passes do not matter: whoever has passed is stuck until somebody plays, and would only
    pass again. Before the first tile is set, what may be led matters.
    """
    public, rules = game.public, game.public.rules
    layout = public.layout
    key, to_come = scramble(np.uint64(public.drawn)), solver.to_draw[public.drawn]
    for seat in range(0, rules.players, 2):
        to_come |= game.hands[seat] | game.hands[seat + 1]
        hands = np.uint64(game.hands[seat]) | np.uint64(game.hands[seat + 1]) << np.uint64(32)
        key = scramble(key ^ hands)
    if rules.game_end == IMMEDIATE or rules.exact_target:
        key = scramble(key + np.uint64(public.scores[0]))
        key = scramble(key + np.uint64(public.scores[1]))
    ends = _ends_that_matter(layout, to_come)
    if rules.spinners == SPIN_FIRST:
        ends = ends << 3 | (layout.spinner + 1)
    lead = public.forced_lead + 2 if public.plies == 0 else 0
    return scramble(key ^ np.uint64(((ends << 8 | layout.total) << 3 | public.turn) << 6 | lead))


@inlined
def _ends_that_matter(layout: Struct, to_come: Mask) -> int:
    """Return in 6 bits per pip how many of its plain ends matter, and its double's state."""
    ends = 0
    for pip in range(PIP_COUNT):
        tiles = signed(bit_count(to_come & SUITS[pip]))
        ends <<= 6
        if tiles > 0:
            ends |= min(signed(layout.plain[pip]), tiles) << 3 | signed(layout.double[pip])
    return ends
