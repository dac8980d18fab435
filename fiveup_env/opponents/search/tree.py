"""A tree over worlds, two own decisions deep: the next own decision is shared by all worlds.

After an action that is tried, the others play as in playouts until the seat that searches has a
choice again. What it has seen until then names a node. All its actions are tried there in the same
world; the value of the world is that of the action which was best in the node's earlier worlds, so
that no choice depends on hidden tiles or on the world's own luck. In a node with few worlds, the
choice is that of the playouts, by `bonus`, which counts as `doubt` worlds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, PLAYING
from fiveup_env.opponents.heuristics.features import best_action
from fiveup_env.opponents.search.action_values import SKIPPED
from fiveup_env.opponents.search.outlook import hand_value
from fiveup_env.opponents.search.playouts import ByHeuristic, play_to_end
from fiveup_env.rules.actions import PASS

MOST: Final = 16  # actions of a node
SIZE: Final = 1 << 14  # nodes
TRIES: Final = 64  # places at which a node may be
SOON: Final = 24  # worlds before an action of a node may be closed
CLEARLY: Final = 2.5  # standard errors by which it must be worse
NODE = np.dtype(
    [
        ("key", np.uint64),
        ("count", np.int64),
        ("sum", np.float64, (MOST,)),  # of values, by action
        ("square", np.float64, (MOST,)),  # of differences from the playouts' choice
        ("closed", np.int64, (MOST,)),
    ],
    align=True,
)


@compiled
def clear_nodes(nodes: Array) -> None:
    """Forget all nodes."""
    for at in range(len(nodes)):
        node = nodes[at]
        if node.key != np.uint64(0):
            node.key, node.count = np.uint64(0), 0
            node.sum[:], node.square[:], node.closed[:] = 0, 0, 0


@compiled
def try_deeper(
    worlds: Array,
    actions: Array,
    playout: ByHeuristic,
    seat: int,
    side: int,
    chances: Array,
    values: Array,
    nodes: Array,
    doubt: float,
    bonus: float,
) -> None:
    """Write a side's value of every action in every world, as `try_actions` does."""
    trial, legal, found = np.empty(2, GAME), np.empty(PASS + 1, np.int64), np.empty(MOST)
    for w in range(len(worlds)):
        key = worlds[w].seed
        for k in range(len(actions)):
            if actions[k] == SKIPPED:
                continue
            trial[0] = worlds[w]
            game = trial[0]
            public, name, count = game.public, scramble(np.uint64(actions[k] + 1)), 0
            play(game, actions[k])
            while public.phase == PLAYING:
                if public.turn == seat:
                    count = list_legal(public, game.hands[seat], legal)
                    if count > 1:
                        break
                chosen = _usual(game, playout, key)
                name = scramble(name + np.uint64(chosen + 1))
                play(game, chosen)
            if public.phase != PLAYING:
                values[w, k, 0] = hand_value(public, worlds[w].public, side, chances)
                continue
            at = _find(nodes, scramble(name + np.uint64(game.hands[seat])))
            usual, mine, count = _usual(game, playout, key), 0, min(count, MOST)
            for j in range(count):
                if legal[j] == usual:
                    mine = j
            chosen = mine if at < 0 else _best(nodes[at], mine, count, doubt, bonus)
            for j in range(count):
                if at < 0 and j != mine:
                    continue
                if at >= 0 and nodes[at].closed[j] and j != mine and j != chosen:
                    continue
                trial[1] = trial[0]
                play(trial[1], legal[j])
                play_to_end(trial[1], playout, key)
                found[j] = hand_value(trial[1].public, worlds[w].public, side, chances)
            values[w, k, 0] = found[chosen]
            if at >= 0:
                _note(nodes[at], mine, count, found)


@inlined
def _usual(game: Struct, playout: ByHeuristic, key: Word) -> int:
    public = game.public
    hand = game.hands[public.turn]
    return best_action(public, hand, playout.weights, playout.scratch[0], key)


@inlined
def _find(nodes: Array, name: Word) -> int:
    """Return the place of a node, perhaps a new one, or -1 if there is no space."""
    at = np.int64(name & np.uint64(SIZE - 1))
    for _ in range(TRIES):
        if nodes[at].key == name:
            return at
        if nodes[at].key == np.uint64(0):
            nodes[at].key = name
            return at
        at = (at + 1) & (SIZE - 1)
    return -1


@inlined
def _best(node: Struct, mine: int, count: int, doubt: float, bonus: float) -> int:
    chosen, best, n = mine, 0.0, float(node.count)
    for j in range(count):
        if j != mine and not node.closed[j]:
            lead = (node.sum[j] - node.sum[mine] - bonus * doubt) / (n + doubt)
            if lead > best:
                best, chosen = lead, j
    return chosen


@inlined
def _note(node: Struct, mine: int, count: int, found: Array) -> None:
    node.count += 1
    n, top = float(node.count), mine
    for j in range(count):
        if not node.closed[j]:
            node.sum[j] += found[j]
            node.square[j] += (found[j] - found[mine]) ** 2
            if node.sum[j] > node.sum[top]:
                top = j
    if n < SOON or node.count % 8:
        return
    for j in range(count):
        if not node.closed[j] and j != mine and j != top:
            gap = (node.sum[j] - node.sum[mine]) / n
            spread = max(1e-9, node.square[j] / n - gap * gap)
            if (node.sum[top] - node.sum[j]) / n > CLEARLY * np.sqrt(spread / n):
                node.closed[j] = 1
