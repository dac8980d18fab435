"""The hidden tiles, given a view: how many worlds it allows, any number of them, and marginals.

A world is a whole arrangement of the tiles: every dealt hand, and the boneyard in its order. The
deal is a shuffle, so all worlds that agree with what a seat has seen are equally likely. It saw:

- A seat that drew or passed had no tile that fitted. If it then played, it played its last draw;
  if it is still to play, its last draw fits.
- A seat that is to move and did not draw has a tile that fits.
- With draw="optional" only a pass tells: that seat had no tile that fitted.
- A tile that was played had been dealt to its player, or drawn by then. Which of the two is hidden
  as well, and matters: what a seat was shown to lack binds the tiles that it held, not later draws.

Which tile a player chose to play is taken to tell nothing.

A world puts every tile into a place: one of the boneyard, or of a dealt hand. The places of a seat
that admit the same tiles are a group. `ways[t, state]` says in how many ways the free tiles from
the t-th on can fill the groups, where `state` stands for the room that each has left; it is summed
up from the last tile to the first. A number below all the ways then names one of them, the group of
every tile; within a group, any place is as good as another.

Compiled code calls `fill_worlds` and `fill_marginals` with one VIEW; the functions for Python are
at the end.
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

BONEYARD = MAX_PLAYERS  # who holds what nobody has drawn

# Named as in a GAME: worlds can be written into either.
WORLD = np.dtype(
    [
        ("hands", np.uint32, (MAX_PLAYERS,)),  # masks of tiles, the viewer's own among them
        ("order", np.int8, (TILE_COUNT,)),  # the boneyard, with what was drawn from it; then -1
    ],
    align=True,
)

GROUP = np.dtype(
    [
        ("admits", np.uint32),  # the tiles that may lie in its places
        ("answers", np.uint32),  # the tiles that fit, if its seat must have one
        ("first", np.int8),  # where its places begin
        ("room", np.int8),  # how many they are
        ("stride", np.int64),  # how much smaller the state is for every place taken
        ("span", np.int64),  # after how many states its room is the same again
    ],
    align=True,
)

# A tile that was played and lay in any of some places, whatever lay in the others.
SETTLED = np.dtype([("tile", np.int8), ("first", np.int8), ("room", np.int8)], align=True)

# What a view tells, made ready for counting. The boneyard's places are numbered in its order, those
# of the dealt hands after them. 64 bits hold the ways, as no way to split a set has 2**60: with
# forced draws all runs but one show their last tile, with optional ones there are at most 5 groups.
BELIEF = np.dtype(
    [
        ("layout", LAYOUT),  # built up once more, play by play
        ("lacked", np.uint8, (MAX_PLAYERS, TILE_COUNT + 1)),  # pips that a seat lacked at a ply
        ("asked", np.int8),  # another seat that must have a tile that fits, or NOBODY
        ("known", WORLD),  # what is the same in every world
        ("hidden", np.uint32),  # the tiles in other hands and in the boneyard
        ("free", np.uint32),  # the tiles that the groups take: those, and some that were played
        ("boneyard", np.int8),  # how many places it has
        ("places", np.int8, (TILE_COUNT,)),  # the places that are not known, seat by seat
        ("holder", np.int8, (TILE_COUNT,)),  # by place: the seat that its tile came to, or BONEYARD
        ("place_count", np.int8),
        ("settled", SETTLED, (TILE_COUNT,)),
        ("settled_count", np.int8),
        ("groups", GROUP, (TILE_COUNT,)),
        ("group_count", np.int8),
        ("rooms", np.int64),  # how many states the rooms have
        ("states", np.int64),  # twice that where a seat is asked for a tile; 0 for impossible views
    ],
    align=True,
)


# --- What a view tells


@compiled
def read_view(view: Record, belief: Record) -> None:
    """Make a view ready for counting."""
    table = view.table
    _note_lacks(table, belief)
    _note_tiles(view, belief)
    belief.asked = _asked(view)
    belief.place_count = belief.settled_count = belief.group_count = 0
    for seat in range(table.rules.players):
        if seat != view.seat:
            _add_dealt_hand(table, belief, seat)
            _add_draws(table, belief, seat)
    _add_group(belief, BONEYARD, belief.hidden)
    for k in range(table.drawn, table.boneyard):
        _add_place(belief, k, BONEYARD)
    _number_states(belief)
    room = 0
    for g in range(belief.group_count):
        room += belief.groups[g].room
    if room != bit_count(belief.free) or table.phase != PLAYING:
        belief.states = 0


@compiled
def _note_lacks(table: Record, belief: Record) -> None:
    """Note the pips that each seat was shown to lack at each ply."""
    rules, layout = table.rules, belief.layout
    layout.total = 0
    layout.open = np.uint16(0)
    layout.spinner = NOBODY
    for pip in range(PIP_COUNT):
        layout.plain[pip] = 0
        layout.double[pip] = NOT_PLAYED
    for seat in range(MAX_PLAYERS):
        for ply in range(table.plies + 1):
            belief.lacked[seat, ply] = 0
    for ply in range(1, table.plies + 1):
        attach(rules, layout, table.play_action[ply - 1])
        seat = next_seat(rules, table.play_seat[ply - 1])
        while seat != _mover(table, ply):
            belief.lacked[seat, ply] = open_pips(layout)
            seat = next_seat(rules, seat)
        for k in range(table.drawn):
            if _forced(table) and table.draw_ply[k] == ply:
                belief.lacked[table.draw_seat[k], ply] = open_pips(layout)


@inlined
def _note_tiles(view: Record, belief: Record) -> None:
    """Note which tiles are hidden, which free, and what the viewer knows of the boneyard."""
    table, rules = view.table, view.table.rules
    tiles = (rules.max_pip + 1) * (rules.max_pip + 2) // 2
    played, others = np.uint32(0), np.uint32(0)
    for ply in range(table.plies):
        played |= _bit(_played(table, ply))
        if table.play_seat[ply] != view.seat:
            others |= _bit(_played(table, ply))
    belief.hidden = np.uint32((1 << tiles) - 1) & ~view.hand & ~played
    belief.free = belief.hidden | others
    belief.boneyard = table.boneyard
    for seat in range(MAX_PLAYERS):
        belief.known.hands[seat] = view.hand if seat == view.seat else np.uint32(0)
    for k in range(TILE_COUNT):
        tile = _known_draw(view, k) if k < table.drawn else -1
        belief.known.order[k] = tile
        if tile >= 0:
            belief.free &= ~_bit(tile)


@inlined
def _known_draw(view: Record, k: int) -> int:
    """The k-th tile drawn, where the viewer drew it or saw it played at once; else -1."""
    table = view.table
    ply = table.draw_ply[k]
    if table.draw_seat[k] == view.seat:
        return whole(view.drawn[k])
    if _forced(table) and ply < table.plies and _let_play(table, k):
        return _played(table, ply)
    return -1


@inlined
def _let_play(table: Record, k: int) -> bool:
    """Whether the k-th draw was the last one before its seat played, or is to play."""
    seat, ply = table.draw_seat[k], table.draw_ply[k]
    last = k + 1 == table.drawn or table.draw_seat[k + 1] != seat or table.draw_ply[k + 1] != ply
    return last and _mover(table, ply) == seat


@inlined
def _asked(view: Record) -> int:
    """Another seat that must have a tile that fits, being to move without a draw; or NOBODY."""
    table = view.table
    last = table.drawn - 1
    if not _forced(table) or table.plies == 0 or table.turn == view.seat:
        return NOBODY
    if last >= 0 and table.draw_ply[last] == table.plies and _let_play(table, last):
        return NOBODY
    return whole(table.turn)


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


# --- Places and groups


@compiled
def _add_dealt_hand(table: Record, belief: Record, seat: int) -> None:
    """Add the places of a dealt hand, a group but for the tiles that are settled."""
    first, settled = whole(belief.place_count), 0
    dealt = _held(table, belief, seat, 0)
    for ply in range(table.plies):
        bit = _bit(_played(table, ply))
        if table.play_seat[ply] == seat and belief.free & dealt & bit:
            choices = _choices(table, belief, seat, ply)
            if choices > settled:
                item = belief.settled[belief.settled_count]
                item.tile = _played(table, ply)
                item.first, item.room = first + settled, choices - settled
                belief.settled_count += 1
                belief.free &= ~bit
                settled += 1
    _add_group(belief, seat, dealt & belief.free)
    group = belief.groups[belief.group_count - 1]
    group.first, group.room = first + settled, -settled
    for place in range(table.rules.hand_size):
        _add_place(belief, table.boneyard + seat * table.rules.hand_size + place, seat)


@inlined
def _choices(table: Record, belief: Record, seat: int, ply: int) -> int:
    """In how many places a tile that a seat played at a ply may have come to it, if it is settled.

    It is if it was certainly dealt, and wherever draws tell nothing; otherwise the answer is 0.
    """
    choices = whole(table.rules.hand_size)
    for k in range(table.drawn):
        if table.draw_seat[k] == seat and belief.known.order[k] < 0:
            if not _forced(table):
                choices += table.draw_ply[k] <= ply
            elif table.draw_ply[k] < ply:
                return 0
    return choices


@compiled
def _add_draws(table: Record, belief: Record, seat: int) -> None:
    """Add the places of the tiles that a seat drew, those that admit the same tiles as one group.

    With optional draws all of them admit what its dealt hand does: no one draws after a pass.
    """
    for k in range(table.drawn):
        if table.draw_seat[k] == seat and belief.known.order[k] < 0:
            if _forced(table):
                admits = _held(table, belief, seat, table.draw_ply[k]) & belief.free
                if _let_play(table, k):
                    admits = playable(belief.layout, belief.hidden)
                if admits != belief.groups[belief.group_count - 1].admits:
                    _add_group(belief, seat, admits)
            _add_place(belief, k, seat)


@inlined
def _held(table: Record, belief: Record, seat: int, since: int) -> Mask:
    """The tiles that a seat may have held since a ply: it still may, or it has played them.

    For as long as it held them it was never shown to lack their pips.
    """
    held, lacked = np.uint32(0), np.uint8(0)
    for ply in range(since, table.plies):
        if table.play_seat[ply] == seat:
            held |= _bit(_played(table, ply)) & ~SUITS_OF[lacked]
        lacked |= belief.lacked[seat, ply]
    return held | (belief.hidden & ~SUITS_OF[lacked | belief.lacked[seat, table.plies]])


@inlined
def _add_group(belief: Record, seat: int, admits: Mask) -> None:
    """Add a group that has no places yet."""
    group = belief.groups[belief.group_count]
    group.admits = admits
    asked = seat == belief.asked
    group.answers = playable(belief.layout, belief.hidden) if asked else np.uint32(0)
    group.first = belief.place_count
    group.room = group.stride = 0
    belief.group_count += 1


@inlined
def _add_place(belief: Record, place: int, holder: int) -> None:
    """Add a place, to the last group."""
    belief.places[belief.place_count] = place
    belief.holder[place] = holder
    belief.place_count += 1
    belief.groups[belief.group_count - 1].room += 1


@inlined
def _number_states(belief: Record) -> None:
    """Number what room the groups may have left; the largest one has what the others leave it.

    Where a seat is asked for a tile that fits, it still lacks one in the upper half of the states.
    """
    largest = 0
    for g in range(belief.group_count):
        if belief.groups[g].room > belief.groups[largest].room:
            largest = g
    belief.rooms = 1
    for g in range(belief.group_count):
        if g != largest:
            group = belief.groups[g]
            group.stride = belief.rooms
            belief.rooms *= group.room + 1
            group.span = belief.rooms
    belief.groups[largest].span = belief.rooms
    belief.states = belief.rooms if belief.asked == NOBODY else 2 * belief.rooms


# --- Ways


@compiled
def count_ways(belief: Record) -> Array:
    """In how many ways the free tiles from the t-th on fill what room a state leaves."""
    t = whole(bit_count(belief.free))
    ways = np.zeros((t + 1, full(belief) + 1), np.uint64)
    ways[t, 0] = belief.states > 0
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
    """Add the ways in which the t-th tile goes to a group."""
    for half in range(0, belief.states, belief.rooms):
        half_after = 0 if group.answers & bit else half
        for block in range(0, belief.rooms, group.span):
            for rooms in range(block + group.stride, block + group.span):
                ways[t, half + rooms] += ways[t + 1, half_after + rooms - group.stride]


@inlined
def full(belief: Record) -> int:
    """The state in which all groups have all their room."""
    return whole(max(belief.states, 1) - 1)


# --- Worlds


@compiled
def fill_worlds(view: Record, belief: Record, key: Word, worlds: Array) -> bool:
    """Fill the hands and orders of WORLD or GAME records; answer whether any world agrees.

    The worlds are independent, each as likely as any other. The key names the stream of chance;
    the belief is only lent.
    """
    read_view(view, belief)
    ways = count_ways(belief)
    if ways[0, full(belief)] == 0:
        return False
    left, places = np.zeros(TILE_COUNT, np.int8), np.zeros(TILE_COUNT, np.int8)
    for i in range(len(worlds)):
        stream = scramble(key + scramble(np.uint64(i + 1)))
        _start_world(belief, stream, left, places, worlds[i])
        _finish_world(belief, ways, stream, left, places, worlds[i])
    return True


@inlined
def _start_world(belief: Record, key: Word, left: Array, places: Array, world: Record) -> None:
    """Put the known and the settled tiles where they are; all other places are left."""
    for seat in range(MAX_PLAYERS):
        world.hands[seat] = belief.known.hands[seat]
    for i in range(TILE_COUNT):
        world.order[i] = belief.known.order[i]
        places[i] = belief.places[i]
    for i in range(belief.settled_count):
        item = belief.settled[i]
        _put(belief, item.tile, _take(places, item.first, item.room, key, i), world)
    for g in range(belief.group_count):
        left[g] = belief.groups[g].room


@inlined
def _finish_world(
    belief: Record, ways: Array, key: Word, left: Array, places: Array, world: Record
) -> None:
    """Put the free tiles where a random number below all the ways says."""
    state, t, free = full(belief), 0, belief.free
    number = _number_below(key, ways[0, state])
    while free:
        tile = lowest_bit(free)
        free &= free - ONE
        t += 1
        g, after = -1, state
        for choice in range(belief.group_count):
            if left[choice] > 0 and belief.groups[choice].admits & _bit(tile):
                g, after = choice, _after(belief, belief.groups[choice], tile, state)
                if number < ways[t, after]:
                    break
                number -= ways[t, after]
        end = belief.groups[g].first + belief.groups[g].room
        _put(belief, tile, _take(places, end - left[g], left[g], key, TILE_COUNT + t), world)
        left[g] -= 1
        state = after


@inlined
def _after(belief: Record, group: Record, tile: int, state: int) -> int:
    """The state once a tile has gone to a group."""
    answered = state >= belief.rooms and group.answers & _bit(tile)
    return whole(state - group.stride - (belief.rooms if answered else 0))


@inlined
def _take(places: Array, first: int, room: int, key: Word, counter: int) -> int:
    """Any one of some places; it changes places with the first of them."""
    chosen = first + chance_below(key, counter, room)
    places[first], places[chosen] = places[chosen], places[first]
    return whole(places[first])


@inlined
def _put(belief: Record, tile: int, place: int, world: Record) -> None:
    """Put a tile into a place, and into the hand that it came to, unless it was played."""
    if place < belief.boneyard:
        world.order[place] = tile
    holder = belief.holder[place]
    if holder != BONEYARD and belief.hidden & _bit(tile):
        world.hands[holder] |= _bit(tile)


@inlined
def _number_below(key: Word, bound: Word) -> Word:
    """A number below a bound of up to 64 bits, none likelier than another."""
    word = scramble(key)
    while word < (np.uint64(0) - bound) % bound:
        word = scramble(word + np.uint64(1))
    return word % bound


# --- Marginals


@compiled
def fill_marginals(view: Record, belief: Record, shares: Array) -> bool:
    """Write into zeros how probable each tile is in each hand and in the boneyard.

    The answer is whether any world agrees; the belief is only lent.
    """
    read_view(view, belief)
    ways = count_ways(belief)
    total = ways[0, full(belief)]
    if total == 0:
        return False
    reached = np.zeros_like(ways)
    reached[0, full(belief)] = 1
    t = 0
    for tile in range(TILE_COUNT):
        bit = _bit(tile)
        if view.hand & bit:
            shares[view.seat, tile] = 1
        if belief.free & bit:
            for g in range(belief.group_count):
                if belief.groups[g].admits & bit:
                    share = _reach(belief, belief.groups[g], bit, ways, reached, t) / total
                    if belief.hidden & bit:
                        _share_out(belief, belief.groups[g], tile, share, shares)
            t += 1
    return True


@inlined
def _reach(belief: Record, group: Record, bit: Mask, ways: Array, reached: Array, t: int) -> Word:
    """In how many ways the t-th tile goes to a group; note in how many each state is reached."""
    number = np.uint64(0)
    for half in range(0, belief.states, belief.rooms):
        half_after = 0 if group.answers & bit else half
        for block in range(0, belief.rooms, group.span):
            for rooms in range(block + group.stride, block + group.span):
                state, after = half + rooms, half_after + rooms - group.stride
                number += reached[t, state] * ways[t + 1, after]
                reached[t + 1, after] += reached[t, state]
    return number


@inlined
def _share_out(belief: Record, group: Record, tile: int, share: float, shares: Array) -> None:
    """Share a probability out to those who hold a group's places."""
    for i in range(group.first, group.first + group.room):
        shares[belief.holder[belief.places[i]], tile] += share / group.room


# --- For Python: an array that holds one VIEW, as `Game.view` gives it


def count(view: np.ndarray) -> int:
    """How many worlds agree with a view, exactly.

    Two worlds differ if they differ in a dealt hand (as a set), in one of the tiles drawn, or in
    what is left of the boneyard (as a set).
    """
    belief = np.zeros(1, BELIEF)
    ways = int(count_ways_at(view, 0, belief))
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
    if not fill_worlds_at(view, 0, np.zeros(1, BELIEF), key, worlds):
        raise _refusal(view)
    return worlds


def marginals(view: np.ndarray) -> np.ndarray:
    """How probably each tile is now in each seat's hand (rows 0 to 4) or in the boneyard (row 5).

    The column of a tile that has been played is zero.
    """
    shares = np.zeros((BONEYARD + 1, TILE_COUNT))
    if not fill_marginals_at(view, 0, np.zeros(1, BELIEF), shares):
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
def count_ways_at(views: Array, i: int, belief: Array) -> Word:
    """Count the ways of a view; the belief goes on to be read."""
    read_view(views[i], belief[0])
    return count_ways(belief[0])[0, full(belief[0])]


@compiled
def fill_worlds_at(views: Array, i: int, belief: Array, key: Word, worlds: Array) -> bool:
    """Fill worlds for a view."""
    return fill_worlds(views[i], belief[0], key, worlds)


@compiled
def fill_marginals_at(views: Array, i: int, belief: Array, shares: Array) -> bool:
    """Write the marginals of a view."""
    return fill_marginals(views[i], belief[0], shares)
