"""`ismcts`: single-observer information-set Monte Carlo tree search (Cowling et al. 2012).

All worlds share one tree of public moves, as the searching seat sees them. Every iteration samples
a world from the exact belief, descends the tree by moves that are allowed in that world, adds a
leaf, and plays the hand out. A move is judged by the iterations in which it was allowed, so that a
rare tile is not neglected. Each side maximizes its own value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from fiveup_env.belief.counting import full
from fiveup_env.belief.structs import BELIEF
from fiveup_env.belief.worlds import count_worlds, draw_worlds
from fiveup_env.engine.chance import chance_below, scramble
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined, signed
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.engine.view import as_views, check_masks
from fiveup_env.errors import AgentError
from fiveup_env.opponents.dealing import BLOCK
from fiveup_env.opponents.features import SCRATCH
from fiveup_env.opponents.ladder import LADDER, weights_of
from fiveup_env.opponents.outlook import hand_value, outlooks_of
from fiveup_env.opponents.playouts import play_out
from fiveup_env.opponents.world_search import Search
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

MOST_NODES: Final = 1 << 15  # the tree stops growing here, even if a time budget allows more
DEEPEST: Final = 4 * TILE_COUNT

# A move in the tree. Number 0 is the root; as a child or sibling it means "none".
NODE = np.dtype(
    [
        ("action", np.int64),
        ("side", np.int64),  # the side that makes the move
        ("child", np.int64),
        ("sibling", np.int64),
        ("allowed", np.int64),  # iterations in which it could be chosen
        ("visits", np.int64),
        ("sum", np.float64),  # of the iterations' values to its side
        ("squares", np.float64),  # at the root: of the squared values to the searching side
    ],
    align=True,
)


@dataclass(frozen=True)
class Ismcts(Search):
    """Searches a tree over sampled worlds, in which each side plays for itself."""

    playouts = tuple(LADDER)

    worlds: int = field(default=400, metadata={"help": "worlds per decision"})
    explore: float = field(default=2.0, metadata={"help": "weight of exploration"})

    def __post_init__(self) -> None:
        """Raise AgentError if an option is out of range."""
        super().__post_init__()
        if self.explore <= 0:
            raise AgentError("ismcts needs explore= above 0")

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return for every view the action that was visited most."""
        views = as_views(views)
        check_masks(masks, len(views))
        visits = (masks > 0).astype(np.int64)
        chances, which = outlooks_of(views, self.aim)
        weights, scratch, belief = (
            weights_of(self.playout),
            np.zeros(1, SCRATCH),
            np.zeros(1, BELIEF),
        )
        games = np.zeros(BLOCK, GAME)
        nodes = np.zeros(MOST_NODES if self.ms else self.worlds + 1, NODE)
        key = np.uint64(random.integers(1 << 63))
        for i in np.flatnonzero(visits.sum(1) > 1).tolist():
            nodes[:1], size, public = 0, 1, chances[which[i]]
            for first, end in self.rounds():
                size = grow(
                    views,
                    i,
                    key,
                    first,
                    end,
                    self.explore,
                    weights,
                    public,
                    belief,
                    games,
                    scratch,
                    nodes,
                    size,
                )
            read_visits(nodes, visits[i])
        return visits.argmax(1)


@compiled
def grow(
    views: Array,
    i: int,
    key: Word,
    first: int,
    end: int,
    explore: float,
    weights: Array,
    chances: Array,
    belief: Array,
    games: Array,
    scratch: Array,
    nodes: Array,
    size: int,
) -> int:
    """Grow a tree by an iteration in each of the worlds from number `first` to below `end`.

    Return how many nodes it has then. The worlds are dealt into `games`, as many as it holds.
    """
    view, path, values = views[i], np.zeros(DEEPEST, np.int64), np.zeros(MAX_PLAYERS)
    own = scramble(key + np.uint64(i))
    ways = count_worlds(view, belief[0])
    if ways[0, full(belief[0])] == 0:
        return size
    for world in range(first, end):
        w = (world - first) % len(games)
        if w == 0:
            draw_worlds(belief[0], ways, own, world, games[: end - world])
        game = games[w]
        game.public = view.public
        chance = scramble(own + np.uint64(world + 1))
        depth, at, exploration = 0, 0, explore * _spread(nodes[0])
        while game.public.phase == PLAYING:
            at, size = _descend(game, at, nodes, size, exploration, chance, scratch[0])
            if at == 0:
                break
            path[depth] = at
            depth += 1
            play(game, nodes[at].action)
            if nodes[at].visits == 0:
                break
        play_out(game, weights, scratch[0], chance)
        for side in range(game.public.rules.sides):
            values[side] = hand_value(game.public, view.public, side, chances)
        for k in range(depth):
            nodes[path[k]].visits += 1
            nodes[path[k]].sum += values[nodes[path[k]].side]
        value = values[side_of(view.public.rules, view.seat)]
        nodes[0].visits += 1
        nodes[0].sum += value
        nodes[0].squares += value * value
    return size


@inlined
def _descend(
    game: Struct,
    at: int,
    nodes: Array,
    size: int,
    exploration: float,
    chance: Word,
    scratch: Struct,
) -> tuple[int, int]:
    """Return the node of the next move, and the size of the tree.

    The node is new if a move is untried and the tree may grow. It is 0 if there is neither a node
    to follow nor space for a new one.
    """
    public = game.public
    count = list_legal(public, game.hands[public.turn], scratch.actions)
    best, chosen, untried, fresh = -np.inf, 0, 0, 0
    for k in range(count):
        child = _child(nodes, at, scratch.actions[k])
        if child == 0:
            untried += 1
            if chance_below(chance, ACTION_COUNT * public.plies + k, untried) == 0:
                fresh = scratch.actions[k]
        else:
            nodes[child].allowed += 1
    if untried > 0 and size < len(nodes):
        node = nodes[size]
        node.action, node.side = fresh, side_of(public.rules, public.turn)
        node.child, node.sibling = 0, nodes[at].child
        node.allowed, node.visits, node.sum = 1, 0, 0.0
        nodes[at].child = size
        return size, size + 1
    for k in range(count):
        child = _child(nodes, at, scratch.actions[k])
        if child > 0 and _promise(nodes[child], exploration) > best:
            best, chosen = _promise(nodes[child], exploration), child
    return chosen, size


@inlined
def _child(nodes: Array, at: int, action: int) -> int:
    """Return the child of node `at` with this action, or 0 if there is none."""
    child = signed(nodes[at].child)
    while child > 0 and nodes[child].action != action:
        child = signed(nodes[child].sibling)
    return child


@inlined
def _spread(root: Struct) -> float:
    """Return the standard deviation of the iterations' values; 1 for fewer than two."""
    if root.visits < 2:
        return 1.0
    mean = root.sum / root.visits
    return float(np.sqrt(max(0.0, root.squares / root.visits - mean * mean)))


@inlined
def _promise(node: Struct, exploration: float) -> float:
    """Return the upper confidence bound of a move: its mean, and a bonus for having few visits."""
    if node.visits == 0:
        return np.inf
    bonus = exploration * np.sqrt(np.log(node.allowed + 1) / node.visits)
    return float(node.sum / node.visits + bonus)


@compiled
def read_visits(nodes: Array, visits: Array) -> None:
    """Write how often each action at the root was visited."""
    child = nodes[0].child
    while child > 0:
        visits[nodes[child].action] = nodes[child].visits
        child = nodes[child].sibling
