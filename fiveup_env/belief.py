"""The hidden tiles, given a view: how many worlds it allows, any number of them, and marginals.

A world is a whole arrangement of the tiles: every dealt hand, and the boneyard in its order. The
deal is a shuffle, so all worlds that agree with what a seat has seen are equally likely. It saw:

- A seat that drew or passed had no tile that fitted. If it then played, it played its last draw;
  if it is still to play, its last draw fits.
- A seat that is to move and did not draw has a tile that fits.
- With draw="optional" only a pass tells: the seat had no tile that fitted.
- A tile that was played had been dealt to its player or drawn by then. Which of the two is hidden
  as well, and matters: what a seat was shown to lack binds the tiles that it held, not later draws.

Which tile a player chose to play is taken to tell nothing.

A world puts every tile into a place: one of the boneyard, or of a dealt hand. Places of a seat that
admit the same tiles form a group. `ways[t, state]` says in how many ways the free tiles from the
t-th on can fill the groups, where `state` stands for the room that each has left; it is summed up
from the last tile to the first. The ways of all tiles can then be numbered, and a number tells the
group of every tile; within its group, any place is as good as another.

The first functions are for compiled code and take one VIEW; those for Python are at the end.
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
    NOT_PLAYED,
    ONE,
    PLAYING,
    attach,
    chance_below,
    next_seat,
    open_pips,
    playable,
    scramble,
)
from fiveup_env.errors import BeliefError
from fiveup_env.rules import DRAW_OPTIONAL, MAX_PLAYERS
from fiveup_env.tiles import PIP_COUNT, SUITS_OF, TILE_COUNT

# Named as in a GAME: worlds can be written into either.
WORLD = np.dtype(
    [
        ("hands", np.uint32, (MAX_PLAYERS,)),  # masks of tiles, the viewer's own among them
        ("order", np.int8, (TILE_COUNT,)),  # the boneyard, what has been drawn included; then -1
    ],
    align=True,
)

BONEYARD = MAX_PLAYERS  # who holds what nobody has drawn

GROUP = np.dtype(
    [
        ("admits", np.uint32),  # the tiles that may lie in its places
        ("answers", np.uint32),  # those of them that let a seat move that is known to have one
        ("stride", np.int64),  # how much less the state is for a tile in one of them
        ("span", np.int64),  # after how many states the room of this group is the same again
        ("first", np.int8),  # its places: where they begin
        ("room", np.int8),  # ... and how many they are
    ],
    align=True,
)

# A tile played whose own place depends on no other's: it lay in any of some places, alike.
SETTLED = np.dtype([("tile", np.int8), ("first", np.int8), ("room", np.int8)], align=True)

# What a view tells, made ready for counting. Places are numbered: the boneyard's in their order,
# then those of the hands dealt. A view has fewer than 2**63 ways: with forced draws, each run of
# them shows a tile for good, and no split of the set has more; with optional ones, there are at
# most five groups.
BELIEF = np.dtype(
    [
        ("known", WORLD),  # what is the same in all worlds
        ("hidden", np.uint32),  # the tiles in other hands and in the boneyard
        ("free", np.uint32),  # the tiles that groups take: these, and some that were played
        ("boneyard", np.int8),  # how many places it has
        ("holder", np.int8, (TILE_COUNT,)),  # by place: the seat that its tile came to, or BONEYARD
        ("places", np.int8, (TILE_COUNT,)),  # the places of the settled tiles and the groups
        ("settled_count", np.int8),
        ("settled", SETTLED, (TILE_COUNT,)),
        ("group_count", np.int8),
        ("groups", GROUP, (TILE_COUNT,)),
        ("rooms", np.int64),  # the number of states of the rooms
        ("states", np.int64),  # twice that where a seat needs a tile that fits; 0: no such game
        ("layout", LAYOUT),  # built up again, play by play
    ],
    align=True,
)


# --- What a view tells


@compiled
def read_view(view: Record, belief: Record) -> None:
    """Make a view ready for counting."""
    table, rules = view.table, view.table.rules
    belief.settled_count = belief.group_count = 0
    tiles = (rules.max_pip + 1) * (rules.max_pip + 2) // 2
    belief.hidden = np.uint32((1 << tiles) - 1) & ~view.hand
    belief.boneyard = table.boneyard
    for seat in range(MAX_PLAYERS):
        belief.known.hands[seat] = view.hand if seat == view.seat else np.uint32(0)
    played = np.uint32(0)
    for ply in range(table.plies):
        bit = _bit(_played(table, ply))
        belief.hidden &= ~bit
        if table.play_seat[ply] != view.seat:
            played |= bit
    belief.free = belief.hidden | played
    for k in range(TILE_COUNT):
        belief.known.order[k] = -1
    for k in range(table.drawn):
        tile = _known_draw(view, k)
        belief.known.order[k] = tile
        if tile >= 0:
            belief.free &= ~_bit(tile)
    lacked = np.zeros((MAX_PLAYERS, TILE_COUNT + 1), np.uint16)
    _read_lacks(table, belief.layout, lacked)
    asked = _asked(view)
    places = 0
    for seat in range(rules.players):
        if seat != view.seat:
            answers = playable(table.layout, belief.hidden) if seat == asked else np.uint32(0)
            places = _group_places(table, belief, lacked, seat, answers, places)
    _open_group(belief, belief.hidden, np.uint32(0), places)
    for k in range(table.drawn, table.boneyard):
        places = _add_place(belief, k, BONEYARD, places)
    _number_states(belief, asked != NOBODY)
    room = 0
    for g in range(belief.group_count):
        room += belief.groups[g].room
    if room != bit_count(belief.free) or table.phase != PLAYING:
        belief.states = 0


@inlined
def _bit(tile: int) -> Mask:
    return ONE << np.uint32(tile)


@inlined
def _played(table: Record, ply: int) -> int:
    return whole(ACTION_TILE[table.play_action[ply]])


@inlined
def _forced(table: Record) -> bool:
    return bool(table.rules.draw != DRAW_OPTIONAL)


@inlined
def _mover(table: Record, ply: int) -> int:
    """The seat that played at a ply, or that is to play now."""
    return whole(table.play_seat[ply] if ply < table.plies else table.turn)


@inlined
def _ends_run(table: Record, k: int) -> bool:
    """Whether the k-th draw was the last of its seat's turn, and its seat is the one to play."""
    seat, ply = table.draw_seat[k], table.draw_ply[k]
    more = k + 1 < table.drawn and table.draw_seat[k + 1] == seat and table.draw_ply[k + 1] == ply
    return not more and _mover(table, ply) == seat


@inlined
def _known_draw(view: Record, k: int) -> int:
    """The k-th tile drawn, if the viewer drew it or saw it played at once; or -1."""
    table = view.table
    if table.draw_seat[k] == view.seat:
        return whole(view.drawn[k])
    ply = table.draw_ply[k]
    if _forced(table) and ply < table.plies and _ends_run(table, k):
        return _played(table, ply)
    return -1


@inlined
def _asked(view: Record) -> int:
    """Another seat that must have a tile that fits: it is to move and did not draw; or NOBODY."""
    table = view.table
    if not _forced(table) or table.plies == 0 or table.turn == view.seat:
        return NOBODY
    last = table.drawn - 1
    just_drew = last >= 0 and table.draw_ply[last] == table.plies and _ends_run(table, last)
    return NOBODY if just_drew else whole(table.turn)


@compiled
def _read_lacks(table: Record, layout: Record, lacked: Array) -> None:
    """Write which pips each seat was shown to lack at each ply, building the layout up again."""
    rules = table.rules
    layout.total = 0
    layout.open = np.uint16(0)
    layout.spinner = NOBODY
    for pip in range(PIP_COUNT):
        layout.plain[pip] = 0
        layout.double[pip] = NOT_PLAYED
    for ply in range(1, table.plies + 1):
        attach(rules, layout, table.play_action[ply - 1])
        pips = open_pips(layout)
        seat = next_seat(rules, table.play_seat[ply - 1])
        while seat != _mover(table, ply):
            lacked[seat, ply] = pips
            seat = next_seat(rules, seat)
        for k in range(table.drawn):
            if _forced(table) and table.draw_ply[k] == ply:
                lacked[table.draw_seat[k], ply] = pips


@inlined
def _kept(table: Record, hidden: Mask, lacked: Array, seat: int, since: int) -> Mask:
    """The tiles that a seat may have held from a ply on: it still does, or has played them.

    While it held them, it was never shown to lack one of their pips.
    """
    kept, pips = np.uint32(0), np.uint16(0)
    for ply in range(since, table.plies):
        if table.play_seat[ply] == seat:
            kept |= _bit(_played(table, ply)) & ~SUITS_OF[pips]
        pips |= lacked[seat, ply]
    return kept | (hidden & ~SUITS_OF[pips | lacked[seat, table.plies]])


@compiled
def _group_places(
    table: Record, belief: Record, lacked: Array, seat: int, answers: Mask, first: int
) -> int:
    """List and group another seat's places, from a place of the list on; answer where they end."""
    dealt = _kept(table, belief.hidden, lacked, seat, 0)
    settled = 0
    for ply in range(table.plies):
        bit = _bit(_played(table, ply))
        if table.play_seat[ply] == seat and belief.free & dealt & bit:
            choices = _choices(table, belief, seat, ply)
            if choices > settled:
                belief.free &= ~bit
                item = belief.settled[belief.settled_count]
                item.tile = _played(table, ply)
                item.first, item.room = first + settled, choices - settled
                belief.settled_count += 1
                settled += 1
    _open_group(belief, dealt & belief.free, answers, first + settled)
    belief.groups[belief.group_count - 1].room = -settled
    places = first
    for i in range(table.rules.hand_size):
        place = table.boneyard + seat * table.rules.hand_size + i
        places = _add_place(belief, place, seat, places)
    for k in range(table.drawn):
        if table.draw_seat[k] == seat and belief.known.order[k] < 0:
            if _forced(table):
                admits = _kept(table, belief.hidden, lacked, seat, table.draw_ply[k]) & belief.free
                if _ends_run(table, k):
                    admits = playable(table.layout, belief.hidden)
                if admits != belief.groups[belief.group_count - 1].admits:
                    _open_group(belief, admits, answers, places)
            places = _add_place(belief, k, seat, places)
    return places


@inlined
def _choices(table: Record, belief: Record, seat: int, ply: int) -> int:
    """In how many places a tile that a seat played at a ply may have lain, all of them alike.

    It is settled like this where it was dealt for certain, and wherever draws tell nothing. The
    answer is 0 where the tile is one for the groups.
    """
    choices = whole(table.rules.hand_size)
    for k in range(table.drawn):
        if table.draw_seat[k] == seat and belief.known.order[k] < 0:
            if not _forced(table):
                choices += table.draw_ply[k] <= ply
            elif table.draw_ply[k] < ply:
                return 0
    return choices


@inlined
def _open_group(belief: Record, admits: Mask, answers: Mask, first: int) -> None:
    group = belief.groups[belief.group_count]
    group.admits, group.answers, group.first = admits, answers, first
    group.room = group.stride = 0
    belief.group_count += 1


@inlined
def _add_place(belief: Record, place: int, holder: int, places: int) -> int:
    """Add a place to the list and to the last group; answer how many are listed."""
    belief.places[places] = place
    belief.holder[place] = holder
    belief.groups[belief.group_count - 1].room += 1
    return places + 1


@inlined
def _number_states(belief: Record, asked: bool) -> None:
    """Number what room the groups may have left; the largest has what the others leave it.

    Where a seat is asked for a tile that fits, the upper half of the states still lacks it.
    """
    largest = 0
    for g in range(belief.group_count):
        if belief.groups[g].room > belief.groups[largest].room:
            largest = g
    belief.rooms = 1
    for g in range(belief.group_count):
        group = belief.groups[g]
        if g != largest:
            group.stride = belief.rooms
            belief.rooms *= group.room + 1
            group.span = belief.rooms
    belief.groups[largest].span = belief.rooms
    belief.states = 2 * belief.rooms if asked else belief.rooms


# --- Ways


@compiled
def count_ways(belief: Record) -> Array:
    """In how many ways the free tiles from the t-th on fill what room a state leaves."""
    t = whole(bit_count(belief.free))
    ways = np.zeros((t + 1, max(1, belief.states)), np.uint64)
    if belief.states == 0:
        return ways
    ways[t, 0] = 1
    for tile in range(TILE_COUNT - 1, -1, -1):
        bit = _bit(tile)
        if belief.free & bit:
            t -= 1
            for g in range(belief.group_count):
                if belief.groups[g].admits & bit:
                    _add_ways(belief, belief.groups[g], bit, ways, t)
    return ways


@inlined
def _add_ways(belief: Record, group: Record, bit: Mask, ways: Array, t: int) -> None:
    """Add those in which the t-th tile goes to a group."""
    for half in range(0, belief.states, belief.rooms):
        after = 0 if group.answers & bit else half
        for block in range(0, belief.rooms, group.span):
            for rooms in range(block + group.stride, block + group.span):
                ways[t, half + rooms] += ways[t + 1, after + rooms - group.stride]


@inlined
def full(belief: Record) -> int:
    """The state in which every group has all its room."""
    return whole(max(0, belief.states - 1))


@inlined
def _after(belief: Record, group: Record, bit: Mask, state: int) -> int:
    """The state once a tile has gone to a group."""
    state -= group.stride
    return state - belief.rooms if state >= belief.rooms and group.answers & bit else state


# --- Worlds


@compiled
def fill_worlds(view: Record, belief: Record, key: Word, worlds: Array) -> bool:
    """Fill the hands and orders of WORLD or GAME records; answer whether any world agrees.

    The worlds are independent, each as likely as any other; the key names the stream of chance,
    and the belief is only lent.
    """
    read_view(view, belief)
    ways = count_ways(belief)
    if ways[0, full(belief)] == 0:
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
    """Fill one world; what the groups have left is kept in the two arrays before."""
    for seat in range(MAX_PLAYERS):
        world.hands[seat] = belief.known.hands[seat]
    for i in range(TILE_COUNT):
        world.order[i] = belief.known.order[i]
        places[i] = belief.places[i]
        left[i] = belief.groups[i].room if i < belief.group_count else 0
    for i in range(belief.settled_count):
        item = belief.settled[i]
        place = _take(places, item.first, item.room, key, i)
        if place < belief.boneyard:
            world.order[place] = item.tile
    state = full(belief)
    number = _number_below(key, ways[0, state])
    free, t = belief.free, 0
    while free:
        tile = lowest_bit(free)
        bit = _bit(tile)
        free &= ~bit
        t += 1
        g, after = -1, state
        for candidate in range(belief.group_count):
            group = belief.groups[candidate]
            if left[candidate] > 0 and group.admits & bit:
                g, after = candidate, _after(belief, group, bit, state)
                if number < ways[t, after]:
                    break
                number -= ways[t, after]
        state = after
        end = belief.groups[g].first + belief.groups[g].room
        place = _take(places, end - left[g], left[g], key, TILE_COUNT + t)
        left[g] -= 1
        if place < belief.boneyard:
            world.order[place] = tile
        if belief.holder[place] != BONEYARD and belief.hidden & bit:
            world.hands[belief.holder[place]] |= bit


@inlined
def _take(places: Array, first: int, room: int, key: Word, counter: int) -> int:
    """One of some places, which comes to be the first of them."""
    chosen = first + chance_below(key, counter, room)
    places[first], places[chosen] = places[chosen], places[first]
    return whole(places[first])


@inlined
def _number_below(key: Word, bound: Word) -> Word:
    """A number below a bound of 64 bits, none likelier than another."""
    word = scramble(key)
    while word < (np.uint64(0) - bound) % bound:
        word = scramble(word + np.uint64(1))
    return word % bound


# --- Marginals


@compiled
def fill_marginals(view: Record, belief: Record, shares: Array) -> bool:
    """Write where each tile is how probably, into zeros; answer whether any world agrees."""
    read_view(view, belief)
    ways = count_ways(belief)
    total = ways[0, full(belief)]
    if total == 0:
        return False
    for tile in range(TILE_COUNT):
        if view.hand & _bit(tile):
            shares[view.seat, tile] = 1
    reached = np.zeros_like(ways)
    reached[0, full(belief)] = 1
    free, t = belief.free, 0
    while free:
        tile = lowest_bit(free)
        bit = _bit(tile)
        free &= ~bit
        for g in range(belief.group_count):
            group = belief.groups[g]
            if group.admits & bit:
                share = _reach(belief, group, bit, ways, reached, t) / total / group.room
                for i in range(group.first, group.first + group.room):
                    if belief.hidden & bit:
                        shares[belief.holder[belief.places[i]], tile] += share
        t += 1
    return True


@inlined
def _reach(
    belief: Record, group: Record, bit: Mask, ways: Array, reached: Array, t: int
) -> Word:
    """In how many ways the t-th tile goes to a group; note in how many each state is reached."""
    number = np.uint64(0)
    for half in range(0, belief.states, belief.rooms):
        after = 0 if group.answers & bit else half
        for block in range(0, belief.rooms, group.span):
            for rooms in range(block + group.stride, block + group.span):
                before, then = half + rooms, after + rooms - group.stride
                number += reached[t, before] * ways[t + 1, then]
                reached[t + 1, then] += reached[t, before]
    return number


# --- For Python: an array that holds one VIEW, as `Game.view` gives it


def count(view: np.ndarray) -> int:
    """How many worlds agree with a view, exactly.

    Two worlds differ if they differ in a dealt hand (as a set), in one of the tiles drawn, or in
    what is left of the boneyard (as a set).
    """
    belief = np.zeros(1, BELIEF)
    ways = int(_count_ways_at(view, 0, belief))
    if not ways:
        raise _refusal(view)
    table, groups, settled = view[0]["table"], belief["groups"][0], belief["settled"][0]
    ways *= prod(map(factorial, groups["room"][: belief[0]["group_count"]].tolist()))
    ways *= prod(settled["room"][: belief[0]["settled_count"]].tolist())
    players, hand_size = (int(table["rules"][name]) for name in ("players", "hand_size"))
    left = int(table["boneyard"] - table["drawn"])
    return ways // (factorial(hand_size) ** (players - 1) * factorial(left))


def sample(view: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    """So many WORLD records, drawn independently from all that agree, each as likely as another."""
    worlds = np.zeros(n, WORLD)
    key = random.integers(2**64 - 1, dtype=np.uint64, endpoint=True)
    if not _fill_worlds_at(view, 0, np.zeros(1, BELIEF), key, worlds):
        raise _refusal(view)
    return worlds


def marginals(view: np.ndarray) -> np.ndarray:
    """How probably each tile is now in each seat's hand (rows 0 to 4) or in the boneyard (row 5).

    The column of a tile that has been played is zero.
    """
    shares = np.zeros((BONEYARD + 1, TILE_COUNT))
    if not _fill_marginals_at(view, 0, np.zeros(1, BELIEF), shares):
        raise _refusal(view)
    return shares


def worlds_to_games(view: np.ndarray, worlds: np.ndarray) -> np.ndarray:
    """GAME records in which a view's game goes on, one in each world; their seeds are 0."""
    games = np.zeros(len(worlds), GAME)
    games["table"] = view["table"]
    games["hands"] = worlds["hands"]
    games["order"] = worlds["order"]
    return games


def _refusal(view: np.ndarray) -> BeliefError:
    if view[0]["table"]["phase"] != PLAYING:
        return BeliefError("the hand is over: beliefs are about hands that are being played")
    return BeliefError("no deal agrees with this view: no game leads to it")


@compiled
def _count_ways_at(views: Array, i: int, belief: Array) -> Word:
    read_view(views[i], belief[0])
    return count_ways(belief[0])[0, full(belief[0])]


@compiled
def _fill_worlds_at(views: Array, i: int, belief: Array, key: Word, worlds: Array) -> bool:
    return fill_worlds(views[i], belief[0], key, worlds)


@compiled
def _fill_marginals_at(views: Array, i: int, belief: Array, shares: Array) -> bool:
    return fill_marginals(views[i], belief[0], shares)
