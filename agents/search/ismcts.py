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

from fiveup_env.belief.structs import BELIEF
from fiveup_env.belief.worlds import fill_worlds
from fiveup_env.engine.chance import chance_below, scramble
from fiveup_env.engine.compiled import Array, Struct, Word, compiled, inlined, signed
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, PLAYING, side_of
from fiveup_env.errors import AgentError
from fiveup_env.opponents.features import SCRATCH
from fiveup_env.opponents.ladder import weights_of
from fiveup_env.opponents.outlook import outlooks_of, worth_of
from fiveup_env.opponents.pimc import BLOCK, Search, block_key
from fiveup_env.opponents.playouts import play_out
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

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
        weights, scratch, belief = (
            weights_of(self.playout),
            np.zeros(1, SCRATCH),
            np.zeros(1, BELIEF),
        )
        games = np.zeros(BLOCK, GAME)
        nodes = np.zeros(MOST_NODES if self.ms else self.worlds + 1, NODE)
        key = np.uint64(random.integers(1 << 63))
        for i in range(len(views)):
            nodes[:1], size, public = 0, 1, chances[which[i]]
            for block, worlds in enumerate(self.blocks(1)):
                size = grow(
                    views,
                    i,
                    key,
                    block,
                    self.explore,
                    weights,
                    public,
                    belief,
                    games[:worlds],
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
    block: int,
    explore: float,
    weights: Array,
    chances: Array,
    belief: Array,
    games: Array,
    scratch: Array,
    nodes: Array,
    size: int,
) -> int:
    """Let a tree grow by a round in each of some worlds; the answer is how many nodes it has."""
    view, path, worths = views[i], np.zeros(DEEPEST, np.int64), np.zeros(MAX_PLAYERS)
    if list_legal(view.public, view.hand, scratch[0].actions) == 1:
        nodes[0].child, nodes[1].action, nodes[1].visits = 1, scratch[0].actions[0], 1
        return 2
    own = block_key(key, i, block)
    fill_worlds(view, belief[0], own, games)
    for w in range(len(games)):
        game = games[w]
        game.public = view.public
        chance = scramble(own + np.uint64(w + 1))
        depth, at, unsure = 0, 0, explore * _spread(nodes[0])
        while game.public.phase == PLAYING:
            at, size = _descend(game, at, nodes, size, unsure, chance, scratch[0])
            if at == 0:
                break
            path[depth] = at
            depth += 1
            play(game, nodes[at].action)
            if nodes[at].visits == 0:
                break
        play_out(game, weights, scratch[0], chance)
        for side in range(game.public.rules.sides):
            worths[side] = worth_of(game.public, view.public, side, chances)
        for k in range(depth):
            nodes[path[k]].visits += 1
            nodes[path[k]].sum += worths[nodes[path[k]].side]
        worth = worths[side_of(view.public.rules, view.seat)]
        nodes[0].visits += 1
        nodes[0].sum += worth
        nodes[0].squares += worth * worth
    return size


@inlined
def _descend(
    game: Struct, at: int, nodes: Array, size: int, unsure: float, chance: Word, scratch: Struct
) -> tuple[int, int]:
    """The node of the next move, new where one is untried and there is room, and the size then.

    The node is 0 where the tree can neither go on nor grow.
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
        if child > 0 and _promise(nodes[child], unsure) > best:
            best, chosen = _promise(nodes[child], unsure), child
    return chosen, size


@inlined
def _child(nodes: Array, at: int, action: int) -> int:
    """The node of an action after another, or 0."""
    child = signed(nodes[at].child)
    while child > 0 and nodes[child].action != action:
        child = signed(nodes[child].sibling)
    return child


@inlined
def _spread(root: Struct) -> float:
    """The standard deviation of what the rounds were worth; 1 as long as nothing is known."""
    if root.visits < 2:
        return 1.0
    mean = root.sum / root.visits
    return float(np.sqrt(max(0.0, root.squares / root.visits - mean * mean)))


@inlined
def _promise(node: Struct, unsure: float) -> float:
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
