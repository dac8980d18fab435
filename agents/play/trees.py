"""`ismcts`: information-set Monte Carlo tree search with one observer (Cowling et al. 2012).

One tree of public moves for all worlds, as the seat that thinks sees it. Every round deals what is
hidden anew by the exact belief, walks down the tree by what is allowed in that world, adds a leaf,
and plays the hand out. A move is judged by the rounds in which it was allowed, so that a rare tile
is not neglected. Each side looks to its own good.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from agents.play.heuristics import weights_of
from agents.play.outlook import outlooks_of, worth_of
from agents.play.rollouts import play_out
from agents.play.search import BLOCK, Search, block_key
from agents.play.values import ROOM
from agents.registry import AgentError, register
from fiveup_env.actions import ACTION_COUNT
from fiveup_env.belief import BELIEF, fill_worlds
from fiveup_env.compiled import Array, Record, Word, compiled, inlined, whole
from fiveup_env.engine import GAME, PLAYING, chance_below, list_legal, play, scramble, side_of
from fiveup_env.rules import MAX_PLAYERS
from fiveup_env.tiles import TILE_COUNT

MOST_NODES: Final = 1 << 15  # where a budget of time allows more, the tree grows no further
DEEPEST: Final = 4 * TILE_COUNT

# A move in the tree: the number 0 is the root, and stands for "none" as a child or sibling.
NODE = np.dtype(
    [
        ("action", np.int64),
        ("side", np.int64),  # whose move it is
        ("child", np.int64),
        ("sibling", np.int64),
        ("allowed", np.int64),  # in how many rounds that came by it could be chosen
        ("visits", np.int64),
        ("sum", np.float64),  # of what the rounds were worth to its side
        ("squares", np.float64),  # at the root: of what the rounds were worth to its own side
    ],
    align=True,
)


@register("ismcts")
@dataclass(frozen=True)
class Ismcts(Search):
    """A tree over sampled worlds, in which every side looks to its own good."""

    worlds: int = field(default=400, metadata={"help": "worlds a decision"})
    explore: float = field(default=2.0, metadata={"help": "how much what is unsure is tried"})

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        super().__post_init__()
        if self.explore <= 0:
            raise AgentError("ismcts needs explore= above 0")

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose for every view the action that was visited most."""
        del masks
        visits = np.zeros((len(views), ACTION_COUNT), np.int64)
        chances, which = outlooks_of(views, self.aim)
        weights, rooms, belief = weights_of(self.playout), np.zeros(1, ROOM), np.zeros(1, BELIEF)
        games = np.zeros(BLOCK, GAME)
        nodes = np.zeros(MOST_NODES if self.ms else self.worlds + 1, NODE)
        key = np.uint64(random.integers(1 << 63))
        for i in range(len(views)):
            nodes[:1], size, table = 0, 1, chances[which[i]]
            for block, worlds in enumerate(self.blocks(1)):
                size = grow(
                    views,
                    i,
                    key,
                    block,
                    self.explore,
                    weights,
                    table,
                    belief,
                    games[:worlds],
                    rooms,
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
    block: int,
    explore: float,
    weights: Array,
    chances: Array,
    belief: Array,
    games: Array,
    rooms: Array,
    nodes: Array,
    size: int,
) -> int:
    """Let a tree grow by a round in each of some worlds; the answer is how many nodes it has."""
    view, path, worths = views[i], np.zeros(DEEPEST, np.int64), np.zeros(MAX_PLAYERS)
    if list_legal(view.table, view.hand, rooms[0].actions) == 1:
        nodes[0].child, nodes[1].action, nodes[1].visits = 1, rooms[0].actions[0], 1
        return 2
    own = block_key(key, i, block)
    fill_worlds(view, belief[0], own, games)
    for w in range(len(games)):
        game = games[w]
        game.table = view.table
        chance = scramble(own + np.uint64(w + 1))
        depth, at, unsure = 0, 0, explore * _spread(nodes[0])
        while game.table.phase == PLAYING:
            at, size = _descend(game, at, nodes, size, unsure, chance, rooms[0])
            if at == 0:
                break
            path[depth] = at
            depth += 1
            play(game, nodes[at].action)
            if nodes[at].visits == 0:
                break
        play_out(game, weights, rooms[0], chance)
        for side in range(game.table.rules.sides):
            worths[side] = worth_of(game.table, view.table, side, chances)
        for k in range(depth):
            nodes[path[k]].visits += 1
            nodes[path[k]].sum += worths[nodes[path[k]].side]
        worth = worths[side_of(view.table.rules, view.seat)]
        nodes[0].visits += 1
        nodes[0].sum += worth
        nodes[0].squares += worth * worth
    return size


@inlined
def _descend(
    game: Record, at: int, nodes: Array, size: int, unsure: float, chance: Word, room: Record
) -> tuple[int, int]:
    """The node of the next move, new where one is untried and there is room, and the size then.

    The node is 0 where the tree can neither go on nor grow.
    """
    table = game.table
    count = list_legal(table, game.hands[table.turn], room.actions)
    best, chosen, untried, fresh = -np.inf, 0, 0, 0
    for k in range(count):
        child = _child(nodes, at, room.actions[k])
        if child == 0:
            untried += 1
            if chance_below(chance, ACTION_COUNT * table.plies + k, untried) == 0:
                fresh = room.actions[k]
        else:
            nodes[child].allowed += 1
    if untried > 0 and size < len(nodes):
        node = nodes[size]
        node.action, node.side = fresh, side_of(table.rules, table.turn)
        node.child, node.sibling = 0, nodes[at].child
        node.allowed, node.visits, node.sum = 1, 0, 0.0
        nodes[at].child = size
        return size, size + 1
    for k in range(count):
        child = _child(nodes, at, room.actions[k])
        if child > 0 and _promise(nodes[child], unsure) > best:
            best, chosen = _promise(nodes[child], unsure), child
    return chosen, size


@inlined
def _child(nodes: Array, at: int, action: int) -> int:
    """The node of an action after another, or 0."""
    child = whole(nodes[at].child)
    while child > 0 and nodes[child].action != action:
        child = whole(nodes[child].sibling)
    return child


@inlined
def _spread(root: Record) -> float:
    """The standard deviation of what the rounds were worth; 1 as long as nothing is known."""
    if root.visits < 2:
        return 1.0
    mean = root.sum / root.visits
    return float(np.sqrt(max(0.0, root.squares / root.visits - mean * mean)))


@inlined
def _promise(node: Record, unsure: float) -> float:
    """What an action may be worth at best: its mean, and the more the less it was visited."""
    if node.visits == 0:
        return np.inf
    bonus = unsure * np.sqrt(np.log(node.allowed + 1) / node.visits)
    return float(node.sum / node.visits + bonus)


@compiled
def read_visits(nodes: Array, visits: Array) -> None:
    """How often each action at the root was visited."""
    child = nodes[0].child
    while child > 0:
        visits[nodes[child].action] = nodes[child].visits
        child = nodes[child].sibling
