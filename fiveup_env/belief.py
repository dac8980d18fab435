"""The hidden tiles, given a view: how many worlds it allows, any number of them, and marginals.

A world is a whole arrangement of the tiles: every dealt hand, and the boneyard in its order. The
deal is a shuffle, so all worlds that agree with what a seat has seen are equally likely. It saw:

- A seat that drew or passed had no tile that fitted then. If it went on to play, its last draw was
  the tile that it played; if it is still to play, its last draw fits.
- A seat that is to move and did not draw has a tile that fits.
- With draw="optional" a draw tells nothing, and neither does being to move; a pass still does.
- A tile that was played had been dealt to its player, or drawn by then. Which of the two is hidden
  as well, and what was drawn before a seat drew or passed is bound by that, and later draws not.

Which tile a player chose to play is taken to tell nothing.

A world puts every tile into a place: one of the boneyard or of a dealt hand. The places of a seat
that admit the same tiles are a group. `ways[t, state]` is the number of ways in which the free
tiles from the t-th on can fill the groups, `state` saying how much room each has left; it is summed
up from the last tile to the first. A world is then a number below `ways[0, full]`: that number
tells the group of every tile, and any of the group's places is as good as another.
"""

from __future__ import annotations

from math import factorial, prod

import numpy as np

from fiveup_env.actions import ACTION_TILE
from fiveup_env.compiled import (
    Array,
    Mask,
    Record,
    Word,
    bit_count,
    compiled,
    inlined,
    lowest_bit,
    whole,
)
from fiveup_env.engine import (
    GAME,
    LAYOUT,
    NOBODY,
    ONE,
    PLAYING,
    attach,
    chance_below,
    next_seat,
    open_pips,
    scramble,
)
from fiveup_env.errors import BeliefError
from fiveup_env.rules import DRAW_OPTIONAL, MAX_PLAYERS
from fiveup_env.tiles import SUITS_OF, TILE_COUNT

# Named as in a GAME, so that worlds can be written into either.
WORLD = np.dtype(
    [
        ("hands", np.uint32, (MAX_PLAYERS,)),  # masks of tiles, the viewer's own among them
        ("order", np.int8, (TILE_COUNT,)),  # the boneyard, those drawn already first; then -1
    ],
    align=True,
)

BONEYARD = MAX_PLAYERS  # its row among the marginals, after those of the seats

# What a view tells, ready to be counted. The boneyard's places are numbered in their order, the
# dealt hands' after them.
BELIEF = np.dtype(
    [
        ("known", WORLD),  # what is the same in every world
        ("hidden", np.uint32),  # the tiles that lie in other hands or in the boneyard now
        ("free", np.uint32),  # the tiles that go to the groups: hidden ones, and some played ones
        ("holder", np.int8, (TILE_COUNT,)),  # by place: the seat it came to, or BONEYARD
        ("places", np.int8, (TILE_COUNT,)),  # the places that are not known, group by group
        ("room", np.int8, (TILE_COUNT,)),  # by group: its places, ...
        ("first", np.int8, (TILE_COUNT,)),  # ... where they begin, ...
        ("admits", np.uint32, (TILE_COUNT,)),  # ... the tiles that may lie there, ...
        ("answers", np.uint32, (TILE_COUNT,)),  # ... those that let a seat move that must have one
        ("stride", np.int64, (TILE_COUNT,)),  # by group: what a tile there takes from the state,
        ("span", np.int64, (TILE_COUNT,)),  # ... and after how many states its room recurs
        ("groups", np.int8),
        ("rooms", np.int64),  # how many states there are of the rooms,
        ("states", np.int64),  # ... twice as many if a tile must fit; 0 if no world can be
        ("settled", np.int8),  # played tiles whose place depends on nothing else: how many,
        ("tile", np.int8, (TILE_COUNT,)),  # ... which,
        ("at", np.int8, (TILE_COUNT,)),  # ... and that they lie in any of the places from here ...
        ("choices", np.int8, (TILE_COUNT,)),  # ... so many on
    ],
    align=True,
)


# --- For Python: an array of one VIEW, as `Game.view` gives it


def count(view: np.ndarray) -> int:
    """How many worlds agree with a view, exactly.

    Worlds count as different if a dealt hand (as a set), a tile drawn (each by itself) or what is
    left of the boneyard (as a set) is different.
    """
    belief = np.zeros(1, BELIEF)
    ways = int(count_at(view, 0, belief))
    table, known = view[0]["table"], belief[0]
    ways *= prod(map(factorial, known["room"][: known["groups"]].tolist()))
    ways *= prod(known["choices"][: known["settled"]].tolist())
    hand_size, others = int(table["rules"]["hand_size"]), int(table["rules"]["players"]) - 1
    return ways // factorial(hand_size) ** others // factorial(table["boneyard"] - table["drawn"])


def sample(view: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """So many worlds, drawn independently, each as likely as any other: WORLD records."""
    worlds = np.zeros(n, WORLD)
    key = random.integers(2**64 - 1, dtype=np.uint64, endpoint=True)
    if not fill_worlds_at(view, 0, key, worlds):
        raise _refusal(view)
    return worlds


def marginals(view: np.ndarray) -> np.ndarray:
    """How probable it is that each tile is now in each seat's hand (rows 0 to 4) or in the boneyard.

    A tile that has been played is nowhere: its column is zero.
    """
    shares = np.zeros((MAX_PLAYERS + 1, TILE_COUNT))
    if not marginals_at(view, 0, shares):
        raise _refusal(view)
    return shares


def worlds_to_games(view: np.ndarray, worlds: np.ndarray) -> np.ndarray:
    """GAME records that go on from a view, each in its own world; their seed is 0."""
    games = np.zeros(len(worlds), GAME)
    games["table"] = view["table"]
    games["hands"] = worlds["hands"]
    games["order"] = worlds["order"]
    return games


def _refusal(view: np.ndarray) -> BeliefError:
    if view[0]["table"]["phase"] != PLAYING:
        return BeliefError("the hand is over: a belief is about the tiles of a hand in play")
    return BeliefError("no deal agrees with this view: it is not that of any game")


# --- For compiled code: one VIEW


@compiled
def fill_worlds(view: Record, key: Word, worlds: Array) -> bool:
    """Fill the hands and orders of WORLD or GAME records; answer whether any world agrees.

    The worlds are independent and each as likely as any other; the key names the stream of chance.
    """
    belief = np.zeros(1, BELIEF)[0]
    read_view(view, belief)
    ways = count_ways(belief)
    if total_ways(belief, ways) == 0:
        return False
    left, places = np.zeros(TILE_COUNT, np.int8), np.zeros(TILE_COUNT, np.int8)
    for i in range(len(worlds)):
        stream = scramble(key + scramble(np.uint64(i + 1)))
        _fill_world(belief, ways, stream, left, places, worlds[i])
    return True


@inlined
def _fill_world(
    belief: Record, ways: Array, key: Word, left: Array, places: Array, world: Record
) -> None:
    """Fill one world; `left` and `places` are scratch: what the groups have left."""
    boneyard = belief.boneyard
    for seat in range(MAX_PLAYERS):
        world.hands[seat] = belief.known.hands[seat]
    for place in range(TILE_COUNT):
        world.order[place] = belief.known.order[place]
        left[place] = belief.room[place]
        places[place] = belief.places[place]
    for i in range(belief.settled):
        place = _take(places, belief.at[i], chance_below(key, i, belief.choices[i]))
