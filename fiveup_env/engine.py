"""The compiled game: the GAME record, and the few functions that change it.

The rules exist here once, for every interface. A GAME is one NumPy record:

    GAME = TABLE (what lies on the table for all to see) + hands + boneyard + seed
    TABLE = RULES + LAYOUT + scores, turn, and the public history of the hand

The functions take one record (`game`, `table`, `layout`) inside compiled code, and read like
ordinary Python. Those that Python calls are at the end: they take an array and an index, because
handing one record over costs four times as much.

The public history says everything that was seen: for each tile set, the action and the seat; for
each tile drawn, who drew it and at which ply (how many tiles had been set by then). Tiles are drawn
in boneyard order. A pass leaves no entry: it follows from the seats. What each seat was shown to
lack follows from the history too, and is kept beside it because everybody asks for it.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.actions import (
    ACTION_COUNT,
    ACTION_END,
    ACTION_OUTWARD,
    ACTION_PIP,
    ACTION_SHOWS,
    ACTION_TILE,
    DRAW,
    FIRST_WAY,
    PASS,
    PLAIN_END,
    PLAY,
)
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
from fiveup_env.rules import (
    ARMANINO,
    DRAW_OPTIONAL,
    IMMEDIATE,
    MAX_MULTIPLE,
    MAX_PLAYERS,
    ROUND_HAND,
    RULES,
    SPIN_ALL,
    SPIN_FIRST,
    SUBTRACT_OWN,
)
from fiveup_env.tiles import PIP_COUNT, SUITS, SUITS_OF, TILE_COUNT, TILE_PIPS, TILES

# What has become of a pip's double.
NOT_PLAYED, TWO_SIDES, ONE_SIDE, TWO_CROSSES, ONE_CROSS, CLOSED = range(6)

# What is going on: a hand, the end of one, or the end of the game.
PLAYING, HAND_OVER, GAME_OVER = range(3)
REFUSED = -1

# How the hand ended.
NOT_ENDED, DOMINO, BLOCKED, TARGET = range(4)

NOBODY = -1

LAYOUT = np.dtype(
    [
        ("total", np.int16),  # what all open ends count together
        ("plain", np.int8, (PIP_COUNT,)),  # how many plain ends show each pip
        ("double", np.int8, (PIP_COUNT,)),  # what has become of each pip's double
        ("open", np.uint16),  # bit p: pip p has a plain end; bit 7 + p: its double has a place free
        ("spinner", np.int8),  # the pip of the first double played
    ],
    align=True,
)

TABLE = np.dtype(
    [
        ("rules", RULES),
        ("layout", LAYOUT),
        ("scores", np.int32, (MAX_PLAYERS,)),  # by side
        ("end_points", np.int32, (MAX_PLAYERS,)),  # by side, what the hand's end brought
        ("hand_number", np.int32),
        ("phase", np.int8),
        ("ended", np.int8),  # how this hand ended
        ("winner", np.int8),  # the side that won the game
        ("lead", np.int8),  # the seat that leads this hand
        ("turn", np.int8),  # the seat to move
        ("passes", np.int8),  # how many have passed in a row
        ("sizes", np.int8, (MAX_PLAYERS,)),  # tiles in each hand
        ("draws", np.int8, (MAX_PLAYERS,)),  # tiles that each seat has drawn
        ("lacked", np.uint8, (MAX_PLAYERS,)),  # the pips that each seat was ever shown to lack
        ("lack_ply", np.int8, (MAX_PLAYERS, PIP_COUNT)),  # when that was seen last ...
        ("lack_draws", np.int8, (MAX_PLAYERS, PIP_COUNT)),  # ... and the seat's draws by then
        ("boneyard", np.int8),  # tiles that were not dealt
        ("drawn", np.int8),  # how many of them have been drawn
        ("draw_seat", np.int8, (TILE_COUNT,)),
        ("draw_ply", np.int8, (TILE_COUNT,)),
        ("plies", np.int8),  # how many tiles have been set
        ("play_seat", np.int8, (TILE_COUNT,)),
        ("play_action", np.int8, (TILE_COUNT,)),
    ],
    align=True,
)

GAME = np.dtype(
    [
        ("table", TABLE),
        ("seed", np.uint64),
        ("hands", np.uint32, (MAX_PLAYERS,)),  # masks of tiles
        ("order", np.int8, (TILE_COUNT,)),  # the boneyard's tiles in the order drawn, then -1
    ],
    align=True,
)

DOUBLE_OF = np.array([tile.high if tile.is_double else -1 for tile in TILES], np.int8)
TILE_HIGH = np.array([tile.high for tile in TILES], np.int8)
TILE_LOW = np.array([tile.low for tile in TILES], np.int8)
ALL_DOUBLES = np.uint32(sum(1 << tile.id for tile in TILES if tile.is_double))
ONE = np.uint32(1)

# An end is numbered by its pip where it is plain, and by PIP_COUNT + pip where it is the double.
SUIT_OF_END = np.concatenate([SUITS, SUITS])
ALL_PIPS = np.uint16((1 << PIP_COUNT) - 1)

# FIVES[multiple][total]: how many points on the cribbage scale a total is worth. No total is
# larger than all pips of the set with every double counted as an end.
MAX_TOTAL = int(TILE_PIPS.sum())
FIVES = np.array(
    [
        [
            total // multiple if multiple and total % multiple == 0 else 0
            for total in range(MAX_TOTAL + 1)
        ]
        for multiple in range(MAX_MULTIPLE + 1)
    ],
    np.int16,
)


# --- Chance: hand k of seed s is the same deal and the same lot, whatever was played before.

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_HAND_STEP = np.uint64(0xD1B54A32D192ED03)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = (np.uint64(shift) for shift in (27, 30, 31, 32))


@inlined
def scramble(word: Word) -> Word:
    """SplitMix64's finaliser: 64 bits in, 64 well-mixed bits out, one to one."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return word ^ (word >> _S31)


@inlined
def chance_below(key: Word, counter: int, bound: int) -> int:
    """A number below `bound`, the `counter`-th of the stream that `key` names (bias < 1e-8)."""
    word = scramble(key + np.uint64(counter + 1) * _GOLDEN)
    return whole(((word >> _S32) * np.uint64(bound)) >> _S32)


@compiled
def deal(game: Record) -> int:
    """Deal this hand of the game's seed; the answer is the lot, a seat."""
    table, rules, order = game.table, game.table.rules, game.order
    tiles = (rules.max_pip + 1) * (rules.max_pip + 2) // 2
    key = scramble(scramble(game.seed) + np.uint64(table.hand_number + 1) * _HAND_STEP)
    for i in range(tiles):
        order[i] = i
    for i in range(tiles - 1, 0, -1):
        j = chance_below(key, i, i + 1)
        order[i], order[j] = order[j], order[i]
    table.boneyard = tiles - rules.players * rules.hand_size
    k = table.boneyard
    for seat in range(rules.players):
        hand = np.uint32(0)
        for _ in range(rules.hand_size):
            hand |= ONE << np.uint32(order[k])
            order[k] = -1
            k += 1
        game.hands[seat] = hand
    for i in range(tiles, TILE_COUNT):
        order[i] = -1
    return chance_below(key, 0, rules.players)


@compiled
def begin_hand(game: Record, lot: int) -> None:
    """Start the hand that has been dealt: who went out leads, or the lot decides."""
    table, layout = game.table, game.table.layout
    table.lead = table.play_seat[table.plies - 1] if table.ended == DOMINO else lot
    table.turn = table.lead
    table.phase = PLAYING
    table.ended = NOT_ENDED
    table.winner = NOBODY
    table.passes = 0
    table.drawn = 0
    table.plies = 0
    for seat in range(MAX_PLAYERS):
        table.end_points[seat] = 0
        table.sizes[seat] = table.rules.hand_size if seat < table.rules.players else 0
        table.draws[seat] = 0
        table.lacked[seat] = 0
        for pip in range(PIP_COUNT):
            table.lack_ply[seat, pip] = table.lack_draws[seat, pip] = -1
    for i in range(TILE_COUNT):
        table.draw_seat[i] = table.draw_ply[i] = table.play_seat[i] = table.play_action[i] = -1
    for pip in range(PIP_COUNT):
        layout.plain[pip] = 0
        layout.double[pip] = NOT_PLAYED
    layout.total = 0
    layout.open = np.uint16(0)
    layout.spinner = NOBODY


# --- The layout


@inlined
def open_pips(layout: Record) -> Mask:
    """The pips that a tile must have to fit somewhere, as a mask."""
    return (layout.open | layout.open >> np.uint16(PIP_COUNT)) & ALL_PIPS


@inlined
def playable(layout: Record, hand: Mask) -> Mask:
    """The tiles of a hand that fit somewhere on a layout that is not empty."""
    return hand & SUITS_OF[open_pips(layout)]


@inlined
def end_bit(end: int) -> Mask:
    """The bit of an end: a pip for its plain ends, PIP_COUNT + pip for its double."""
    return np.uint16(1) << np.uint16(end)


@inlined
def covered(rules: Record, layout: Record, pip: int) -> int:
    """What becomes of a pip's double when a tile is set on it."""
    state = layout.double[pip]
    if state == TWO_SIDES:
        return ONE_SIDE
    if state == TWO_CROSSES:
        return ONE_CROSS
    spins = rules.spinners == SPIN_ALL or (rules.spinners == SPIN_FIRST and layout.spinner == pip)
    return TWO_CROSSES if state == ONE_SIDE and spins else CLOSED


@inlined
def total_after(layout: Record, action: int) -> int:
    """The total of all open ends once an action's tile is set."""
    pip = ACTION_PIP[action]
    if pip < 0:
        return whole(TILE_PIPS[action])
    if ACTION_END[action] == PLAIN_END:
        return layout.total - pip + ACTION_SHOWS[action]
    return layout.total - double_loses(layout, pip) + ACTION_SHOWS[action]


@inlined
def double_loses(layout: Record, pip: int) -> int:
    """What a pip's double counts less when it is covered: all, with its last free side."""
    return 2 * pip if layout.double[pip] == ONE_SIDE else 0


@inlined
def attach(rules: Record, layout: Record, action: int) -> None:
    """Set an action's tile on the layout."""
    layout.total = total_after(layout, action)
    pip, tile = ACTION_PIP[action], ACTION_TILE[action]
    double = DOUBLE_OF[tile]
    if pip < 0:
        if double >= 0:
            _set_double(layout, double, TWO_SIDES)
        else:
            _add_plain(layout, TILE_HIGH[tile])
            _add_plain(layout, TILE_LOW[tile])
        return
    if ACTION_END[action] == PLAIN_END:
        layout.plain[pip] -= 1
        if layout.plain[pip] == 0:
            layout.open &= ~end_bit(pip)
    else:
        _set_double(layout, pip, covered(rules, layout, pip))
    if double >= 0:
        _set_double(layout, double, ONE_SIDE)
    else:
        _add_plain(layout, ACTION_OUTWARD[action])


@inlined
def _add_plain(layout: Record, pip: int) -> None:
    layout.plain[pip] += 1
    layout.open |= end_bit(pip)


@inlined
def _set_double(layout: Record, pip: int, state: int) -> None:
    bit = end_bit(PIP_COUNT + pip)
    if layout.double[pip] == NOT_PLAYED and layout.spinner == NOBODY:
        layout.spinner = pip
    layout.double[pip] = state
    layout.open = layout.open & ~bit if state == CLOSED else layout.open | bit


# --- What is legal


@inlined
def drawable(table: Record) -> int:
    """How many tiles may still be drawn."""
    return max(0, table.boneyard - table.rules.reserve - table.drawn)


@inlined
def mark_legal(table: Record, hand: Mask, rows: Array, r: int, at: int) -> None:
    """Mark what the seat to move may do, in row r from a column on, where all is zero."""
    if table.phase != PLAYING:
        return
    may_draw, may_play = drawable(table) > 0, hand
    if table.plies == 0:
        while hand:
            rows[r, at + whole(lowest_bit(hand))] = 1
            hand &= hand - ONE
    else:
        ends = table.layout.open
        may_play = playable(table.layout, hand)
        doubles = may_play & ALL_DOUBLES
        while doubles:
            rows[r, at + FIRST_WAY[lowest_bit(doubles)]] = 1
            doubles &= doubles - ONE
        others = may_play & ~ALL_DOUBLES
        while others:
            tile = lowest_bit(others)
            others &= others - ONE
            way, low, high = at + FIRST_WAY[tile], TILE_LOW[tile], TILE_HIGH[tile]
            rows[r, way] = ends >> low & 1
            rows[r, way + 1] = ends >> (PIP_COUNT + low) & 1
            rows[r, way + 2] = ends >> high & 1
            rows[r, way + 3] = ends >> (PIP_COUNT + high) & 1
    if table.rules.draw == DRAW_OPTIONAL:
        rows[r, at + DRAW] = may_draw
        rows[r, at + PASS] = not may_draw and not may_play


@inlined
def legal_count(table: Record, hand: Mask) -> int:
    """How many things the seat to move may do with its hand."""
    if table.phase != PLAYING:
        return 0
    count = bit_count(hand) if table.plies == 0 else 0
    ends = table.layout.open
    while ends:
        count += bit_count(hand & SUIT_OF_END[lowest_bit(ends)])
        ends &= ends - np.uint16(1)
    if table.rules.draw == DRAW_OPTIONAL and (count == 0 or drawable(table) > 0):
        count += 1
    return whole(count)


@inlined
def nth_legal(table: Record, hand: Mask, n: int) -> int:
    """The n-th of the things that the seat to move may do, n below `legal_count`."""
    if table.plies == 0 and n < bit_count(hand):
        return _nth_bit(hand, n)
    ends = table.layout.open
    while ends:
        end = lowest_bit(ends)
        fits = hand & SUIT_OF_END[end]
        count = whole(bit_count(fits))
        if n < count:
            return whole(PLAY[end, _nth_bit(fits, n)])
        n -= count
        ends &= ends - np.uint16(1)
    return DRAW if drawable(table) > 0 else PASS


@inlined
def list_legal(table: Record, hand: Mask, actions: Array) -> int:
    """List what the seat to move may do with its hand; the answer is how many actions there are."""
    count = 0
    if table.plies == 0:
        while hand:
            actions[count] = lowest_bit(hand)
            hand &= hand - ONE
            count += 1
    else:
        ends = table.layout.open
        while ends:
            end = lowest_bit(ends)
            ends &= ends - np.uint16(1)
            fits = hand & SUIT_OF_END[end]
            while fits:
                actions[count] = PLAY[end, lowest_bit(fits)]
                fits &= fits - ONE
                count += 1
    if table.rules.draw == DRAW_OPTIONAL and (count == 0 or drawable(table) > 0):
        actions[count] = DRAW if drawable(table) > 0 else PASS
        count += 1
    return count


@inlined
def _nth_bit(mask: Mask, n: int) -> int:
    for _ in range(n):
        mask &= mask - ONE
    return whole(lowest_bit(mask))


@inlined
def is_legal(table: Record, hand: Mask, action: int) -> bool:
    """Whether the seat to move may do this with its hand."""
    if table.phase != PLAYING or action < 0 or action >= ACTION_COUNT:
        return False
    if action >= DRAW:
        if table.rules.draw != DRAW_OPTIONAL:
            return False
        stuck = table.plies > 0 and playable(table.layout, hand) == 0
        return drawable(table) > 0 if action == DRAW else stuck and drawable(table) == 0
    if not hand >> np.uint32(ACTION_TILE[action]) & ONE:
        return False
    pip = ACTION_PIP[action]
    if table.plies == 0 or pip < 0:
        return table.plies == 0 and pip < 0
    end = pip if ACTION_END[action] == PLAIN_END else PIP_COUNT + pip
    return bool(table.layout.open & end_bit(end))


# --- A move


@inlined
def next_seat(rules: Record, seat: int) -> int:
    """Whose turn comes after a seat's."""
    return seat + 1 if seat + 1 < rules.players else 0


@inlined
def side_of(rules: Record, seat: int) -> int:
    """The side that a seat plays for."""
    return seat - rules.sides if seat >= rules.sides else seat


@inlined
def play(game: Record, action: int) -> None:
    """Make a legal move, and the forced draws and passes after it, up to the next decision."""
    table, rules = game.table, game.table.rules
    seat = table.turn
    if action == DRAW:
        _draw(game, seat)
        return
    if action == PASS:
        _show_lack(table, seat)
        table.passes += 1
        if table.passes == rules.players:
            _end_hand(game, BLOCKED)
        else:
            table.turn = next_seat(rules, seat)
        return
    game.hands[seat] &= ~(ONE << np.uint32(ACTION_TILE[action]))
    table.sizes[seat] -= 1
    table.passes = 0
    table.play_action[table.plies] = action
    table.play_seat[table.plies] = seat
    table.plies += 1
    attach(rules, table.layout, action)
    side = side_of(rules, seat)
    points = _gain(table, side, FIVES[rules.multiple, table.layout.total])
    if points > 0 and rules.game_end == IMMEDIATE and table.scores[side] >= rules.target:
        table.ended = TARGET
        table.phase = GAME_OVER
        table.winner = side
    elif table.sizes[seat] == 0:
        _end_hand(game, DOMINO)
    else:
        _go_round(game)


@inlined
def _draw(game: Record, seat: int) -> None:
    table = game.table
    game.hands[seat] |= ONE << np.uint32(game.order[table.drawn])
    table.draw_seat[table.drawn] = seat
    table.draw_ply[table.drawn] = table.plies
    table.drawn += 1
    table.draws[seat] += 1
    table.sizes[seat] += 1


@compiled
def _show_lack(table: Record, seat: int) -> None:
    """Note that a seat has none of the open pips, the tile that it must set now excepted."""
    pips = open_pips(table.layout)
    table.lacked[seat] |= np.uint8(pips)
    while pips:
        pip = lowest_bit(pips)
        pips &= pips - np.uint16(1)
        table.lack_ply[seat, pip] = table.plies
        table.lack_draws[seat, pip] = table.draws[seat]


@inlined
def _go_round(game: Record) -> None:
    """Give the turn on, past those who cannot play even after drawing all that they may."""
    table, rules = game.table, game.table.rules
    table.turn = next_seat(rules, table.turn)
    if rules.draw == DRAW_OPTIONAL:
        return
    while table.passes < rules.players:
        if playable(table.layout, game.hands[table.turn]) != 0:
            return
        while playable(table.layout, game.hands[table.turn]) == 0 and drawable(table) > 0:
            _draw(game, table.turn)
        _show_lack(table, table.turn)
        if playable(table.layout, game.hands[table.turn]) != 0:
            return
        table.passes += 1
        table.turn = next_seat(rules, table.turn)
    _end_hand(game, BLOCKED)


# --- Points


@inlined
def _gain(table: Record, side: int, fives: int) -> int:
    """Give a side so many fives; answer the points that it got (none past an exact target)."""
    points = fives * table.rules.unit
    if points > 0 and table.rules.exact_target and table.scores[side] + points > table.rules.target:
        return 0
    table.scores[side] += points
    return points


@compiled
def rounded(pips: int, multiple: int) -> int:
    """Pips to the nearest five, in fives."""
    return (pips + (multiple - 1) // 2) // multiple


@compiled
def pips_of(hand: Mask) -> int:
    """The pips in a hand."""
    pips = 0
    while hand:
        pips += TILE_PIPS[lowest_bit(hand)]
        hand &= hand - ONE
    return pips


@compiled
def pips_of_side(game: Record, side: int) -> int:
    """The pips left in a side's hands."""
    pips = 0
    for seat in range(side, game.table.rules.players, game.table.rules.sides):
        pips += pips_of(game.hands[seat])
    return pips


@compiled
def _end_hand(game: Record, ended: int) -> None:
    """Score the end of the hand, and see whether somebody has won."""
    table, rules = game.table, game.table.rules
    table.ended = ended
    if rules.hand_end == SUBTRACT_OWN:
        _subtract_own(game)
    else:
        _pay_winner(game)
    for side in range(rules.sides):
        table.end_points[side] = _gain(table, side, table.end_points[side])
    best, at_top = table.scores[0], 0
    for side in range(rules.sides):
        if table.scores[side] > best:
            best, at_top = table.scores[side], 0
        if table.scores[side] == best:
            at_top += 1
            table.winner = side
    if best >= rules.target and at_top == 1:
        table.phase = GAME_OVER
    else:
        table.phase = HAND_OVER
        table.winner = NOBODY


@compiled
def _subtract_own(game: Record) -> None:
    """Every side loses the rounded pips that it holds."""
    table, rules = game.table, game.table.rules
    for side in range(rules.sides):
        lost = 0
        if rules.round_per == ROUND_HAND:
            for seat in range(side, rules.players, rules.sides):
                lost += rounded(pips_of(game.hands[seat]), rules.multiple)
        else:
            lost = rounded(pips_of_side(game, side), rules.multiple)
        table.end_points[side] = -lost


@compiled
def _pay_winner(game: Record) -> None:
    """The side that went out, or holds fewest pips, is paid for what the others hold.

    Three sides have rules of their own, by Armanino's scoring and where two tie for fewest.
    """
    table, rules = game.table, game.table.rules
    points, multiple = table.end_points, rules.multiple
    everything, fewest, most, tied = 0, pips_of_side(game, 0), 0, 0
    winner = 0
    for side in range(rules.sides):
        pips = pips_of_side(game, side)
        everything += pips
        most = max(most, pips)
        if pips < fewest:
            fewest, winner, tied = pips, side, 0
        if pips == fewest:
            tied += 1
    armanino = rules.hand_end == ARMANINO and rules.sides == 3
    if table.ended == DOMINO:
        winner = side_of(rules, table.turn)
        others = everything - pips_of_side(game, winner)
        points[winner] = rounded(others, multiple)
        if armanino:
            second, third = (winner + 1) % 3, (winner + 2) % 3
            gap = pips_of_side(game, third) - pips_of_side(game, second)
            points[second if gap > 0 else third] = rounded(abs(gap), multiple)
    elif tied == 1:
        paid = everything - 2 * fewest if armanino else everything - fewest
        points[winner] = rounded(paid, multiple)
    elif tied == 2 and rules.sides == 3 and not armanino:
        for side in range(3):
            if pips_of_side(game, side) == fewest:
                points[side] = (most + multiple - 1) // (2 * multiple)


# --- For Python: an array of games and the index of one


@compiled
def start_hand(games: Array, i: int) -> None:
    """Deal and begin the hand that is due (the first, where all but rules and seed is zero)."""
    begin_hand(games[i], deal(games[i]))


@compiled
def start_given_hand(games: Array, i: int, lot: int) -> None:
    """Begin a hand whose tiles have been put into the record."""
    begin_hand(games[i], lot)


@compiled
def play_at(games: Array, i: int, action: int) -> int:
    """Make a move if it is legal; answer the phase that it led to, or REFUSED."""
    game = games[i]
    if not is_legal(game.table, game.hands[game.table.turn], action):
        return REFUSED
    play(game, action)
    return whole(game.table.phase)


@compiled
def is_legal_at(games: Array, i: int, action: int) -> bool:
    """Whether the seat to move may do this."""
    game = games[i]
    return is_legal(game.table, game.hands[game.table.turn], action)


@compiled
def mark_legal_at(games: Array, i: int, masks: Array) -> None:
    """Mark what the seat to move may do, in one row of zeros."""
    game = games[i]
    mark_legal(game.table, game.hands[game.table.turn], masks, 0, 0)


@compiled
def legal_count_at(games: Array, i: int) -> int:
    """How many things the seat to move may do."""
    game = games[i]
    return legal_count(game.table, game.hands[game.table.turn])
