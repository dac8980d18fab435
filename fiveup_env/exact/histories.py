"""The tree of a single hand, under rules small enough to enumerate every history.

Seat 0 leads, unless the tiles dealt decide it: the seats are alike, so the lot adds nothing. The
rules stay in the engine, where the boneyard has a fixed order. A chance node for a draw comes from
making the same move with every order of the tiles not drawn yet, and skipping orders that begin
with the same draws: how many tiles a move draws depends on those tiles alone.

Forced moves are not nodes. Two histories are the same information state of the seat to move if its
views are equal byte for byte; a node keeps two digests of its view.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, TypeAlias

import numpy as np

from fiveup_env.engine.chance import scramble
from fiveup_env.engine.legality import legal_count_at, nth_legal
from fiveup_env.engine.play import play_at, start_given_hand, start_hand
from fiveup_env.engine.state import GAME, PLAYING, VIEW, Games, Views, side_of
from fiveup_env.engine.view import observe_at
from fiveup_env.errors import InputError
from fiveup_env.native import Array, Entries, Int64s, Struct, Uint32s, compiled, inlined, signed
from fiveup_env.rules.fields import MAX_PLAYERS
from fiveup_env.rules.tiles import TILE_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.rules.fields import Rules

MOST_HISTORIES: Final = 40_000_000  # to enumerate: they take about 5 GB
SAMPLES: Final = 20_000  # random hands from which the size of a larger game is estimated
FEW_SAMPLES: Final = 1_000  # for a first, rough estimate
FAR: Final = 100  # times the limit: histories are not even counted if the rough estimate is above
MOST_MOVES: Final = 4 * TILE_COUNT  # in a hand: tiles set, tiles drawn, and passes between them

NODE = np.dtype(
    [
        ("key", np.uint64),  # two digests of the view of the seat to move; 0 at an end
        ("check", np.uint64),
        ("chance", np.float64),  # of the deal and of all draws so far
        ("parent", np.int32),  # the node of the last choice, or -1
        ("slot", np.int8),  # the index of the action chosen there, among the legal ones ...
        ("action", np.int8),  # ... and its number
        ("seat", np.int8),  # the seat to move; -1 at an end
        ("points", np.int16, (MAX_PLAYERS,)),  # at an end: the points of every seat's side
    ],
    align=True,
)
Nodes: TypeAlias = Annotated[np.ndarray, Entries(NODE)]
WORDS: Final = VIEW.itemsize // 4

# One level of the path that is being explored.
FRAME = np.dtype(
    [
        ("node", np.int32),  # the last node on the path: this level's, or an earlier one
        ("slot", np.int8),  # the last choice before this level, as a NODE has it
        ("action", np.int8),
        ("at", np.int16),  # the index of the action being tried, among the legal ones
        ("count", np.int16),  # the number of legal actions
        ("chance", np.float64),
    ],
    align=True,
)
Frames: TypeAlias = Annotated[np.ndarray, Entries(FRAME)]


class Stack(NamedTuple):
    """The path that is being explored: an entry for every move since the deal."""

    games: Games
    frames: Frames
    seen: Views  # the view of the seat to move
    words: Uint32s  # the same bytes as whole numbers


class SizeError(InputError):
    """Rules under which a hand has too many histories to enumerate."""


@dataclass(frozen=True, eq=False)
class Histories:
    """All nodes of a game's tree; parents come before their children."""

    rules: Rules
    nodes: np.ndarray

    def margins(self, ends: np.ndarray) -> np.ndarray:
        """Return the points of every seat's side less the mean of the others' [ends x seats]."""
        points = self.nodes["points"][ends, : self.rules.players]
        sides = np.array([self.rules.side_of(seat) for seat in range(self.rules.players)])
        of_others = sides[:, None] != sides
        return points - points @ of_others.T / of_others.sum(1)

    def views(self, nodes: np.ndarray) -> np.ndarray:
        """Return the view of the seat to move at nodes in ascending order, as VIEW structs."""
        views = np.zeros(len(nodes), VIEW)
        _explore_all(self.rules, np.zeros(0, NODE), np.ascontiguousarray(nodes, np.int64), views)
        return views


def histories_of(rules: Rules, most: int = MOST_HISTORIES) -> Histories:
    """Enumerate a game; raise SizeError, with its estimated size, if it is too large."""
    nothing = np.zeros(0, NODE), np.zeros(0, np.int64), np.zeros(0, VIEW)
    hopeless = estimated_size(rules, FEW_SAMPLES) > FAR * most
    count = most + 1 if hopeless else _explore_all(rules, *nothing, most=most)
    if count > most:
        raise SizeError(
            f"these rules allow about {estimated_size(rules):.0e} histories, and at most "
            f"{most:.0e} are enumerated (--most): choose a smaller set (max_pip), smaller hands "
            f"or one of the mini games"
        )
    nodes = np.zeros(count, NODE)
    _explore_all(rules, nodes, *nothing[1:])
    return Histories(rules, nodes)


def deal_count(rules: Rules) -> int:
    """Return the number of ways to deal the hands."""
    tiles, size = rules.tile_count, rules.hand_size
    return math.prod(math.comb(tiles - size * seat, size) for seat in range(rules.players))


def estimated_size(rules: Rules, samples: int = SAMPLES) -> float:
    """Return about how many nodes there are: the mean, over random hands, of 1 / their chance.

    This is Knuth's estimator of the size of a tree. It is unbiased, but rare long hands weigh
    heavily, so trust only the order of magnitude.
    """
    games = np.zeros(2, GAME)
    games["public"]["rules"] = rules.to_struct()
    return deal_count(rules) * float(_mean_ways(games, samples))


def _explore_all(
    rules: Rules, nodes: np.ndarray, wanted: np.ndarray, views: np.ndarray, most: int = 1 << 62
) -> int:
    """Explore every deal and return the number of nodes, or a number above `most`."""
    games, frames, seen = np.zeros(MOST_MOVES, GAME), np.zeros(MOST_MOVES, FRAME), np.zeros(1, VIEW)
    games["public"]["rules"] = rules.to_struct()
    stack, chance = Stack(games, frames, seen, seen.view(np.uint32)), 1 / deal_count(rules)
    made = 0
    for hands, boneyard in _deals(range(rules.tile_count), rules.players, rules.hand_size):
        games["order"][0] = -1
        games["order"][0, : len(boneyard)] = boneyard
        games["hands"][0, : len(hands)] = [sum(1 << tile for tile in hand) for hand in hands]
        games["public"]["boneyard"][0] = len(boneyard)
        made = explore(stack, chance, nodes, made, most, wanted, views)
        if made > most:
            break
    return made


def _deals(
    tiles: range | tuple[int, ...], players: int, size: int
) -> Iterator[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]]:
    """Yield every way to deal the hands, with the tiles left over in ascending order."""
    if not players:
        yield (), tuple(tiles)
        return
    for hand in itertools.combinations(tiles, size):
        rest = tuple(tile for tile in tiles if tile not in hand)
        for hands, boneyard in _deals(rest, players - 1, size):
            yield (hand, *hands), boneyard


@compiled
def explore(
    stack: Stack, chance: float, nodes: Nodes, made: int, most: int, wanted: Int64s, views: Views
) -> int:
    """Explore one deal, after `made` nodes of earlier ones, and return the new number of nodes.

    As many nodes are written as `nodes` holds, and the views of those listed in `wanted`. The
    search stops once there are more than `most` nodes.
    """
    games, frames, seen, words = stack
    games[0].public.ended = 0
    for side in range(MAX_PLAYERS):
        games[0].public.scores[side] = 0
    start_given_hand(games, 0, 0)
    position = np.searchsorted(wanted, made)
    frames[0].node, frames[0].slot, frames[0].action = -1, 0, -1
    frames[0].chance = chance
    top, entered = 0, True
    while top >= 0 and made <= most:
        game, frame = games[top], frames[top]
        if entered:
            frame.at = 0
            frame.count = 0
            if game.public.phase == PLAYING:
                frame.count = legal_count_at(games, top)
            if frame.count != 1:
                if frame.count > 1:
                    observe_at(games, top, game.public.turn, seen, 0)
                if position < len(wanted) and wanted[position] == made:
                    views[position] = seen[0]
                    position += 1
                if made < len(nodes):
                    _write(nodes[made], game, frame, words)
                frame.node = made
                made += 1
        if frame.at == frame.count:
            top -= 1
            entered = False
            continue
        _try_next(games, frames, top)
        top += 1
        entered = True
    return made


@inlined
def _write(node: Struct, game: Struct, frame: Struct, words: Array) -> None:
    """Write a node; `words` are the bytes of the view of the seat to move."""
    public = game.public
    node.parent, node.slot, node.action = frame.node, frame.slot, frame.action
    node.chance = frame.chance
    node.seat = -1
    if frame.count > 1:
        node.seat = public.turn
        key, check = np.uint64(1), np.uint64(2)
        for k in range(WORDS):
            word = np.uint64(words[k])
            key = scramble(key + word)
            check = scramble(check ^ word)
        node.key, node.check = key, check
        return
    for seat in range(public.rules.players):
        node.points[seat] = public.scores[side_of(public.rules, seat)]


@inlined
def _try_next(games: Array, frames: Array, top: int) -> None:
    """Make the next move, one level down, with the next tiles that it may draw."""
    game, frame, below = games[top], frames[top], frames[top + 1]
    action = nth_legal(game.public, game.hands[game.public.turn], frame.at)
    games[top + 1] = game
    play_at(games, top + 1, action)
    below.node, below.slot, below.action = frame.node, frame.slot, frame.action
    if frame.count > 1:
        below.slot, below.action = frame.at, action
    below.chance = frame.chance
    before, after = signed(game.public.drawn), signed(games[top + 1].public.drawn)
    left = signed(game.public.boneyard)
    for k in range(before, after):
        below.chance /= left - k
    if not _next_draws(game.order, before, after, left):
        frame.at += 1


@inlined
def _next_draws(order: Array, first: int, drawn: int, end: int) -> bool:
    """Permute the tiles from `first` on so that others are drawn; return False if none are left.

    The tiles drawn are those before `drawn`. The tiles after them are put in descending order
    first, so that the next permutation changes one of those drawn. Once all draws have been tried,
    the tiles are back in ascending order.
    """
    _reverse(order, drawn, end)
    k = drawn - 1
    while k >= first and order[k] > order[k + 1]:
        k -= 1
    if k >= first:
        other = end - 1
        while order[other] < order[k]:
            other -= 1
        order[k], order[other] = order[other], order[k]
    _reverse(order, max(k, first - 1) + 1, end)
    return k >= first


@inlined
def _reverse(order: Array, first: int, end: int) -> None:
    """Reverse the tiles from `first` up to, but not including, `end`."""
    for k in range((end - first) // 2):
        order[first + k], order[end - 1 - k] = order[end - 1 - k], order[first + k]


@compiled
def _mean_ways(games: Games, samples: int) -> float:
    """Return Knuth's estimate of the nodes of a deal, over random hands; `games[1]` is scratch."""
    game, total = games[1], 0.0
    for sample in range(samples):
        games[1] = games[0]
        game.seed = np.uint64(sample)
        start_hand(games, 1)
        ways = 1.0
        while game.public.phase == PLAYING:
            count = legal_count_at(games, 1)
            if count > 1:
                total += ways / samples
            key = scramble(
                game.seed + np.uint64(game.public.plies * TILE_COUNT + game.public.drawn)
            )
            chosen = signed(key % np.uint64(count))
            drawn = signed(game.public.drawn)
            play_at(games, 1, nth_legal(game.public, game.hands[game.public.turn], chosen))
            ways *= count
            for k in range(drawn, game.public.drawn):
                ways *= game.public.boneyard - k
        total += ways / samples
    return total
