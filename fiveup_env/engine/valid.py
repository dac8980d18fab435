"""Whether a struct holds what play could have stored, for structs that come from outside.

Compiled code checks no index: a turn of 120 would be read far outside of an array, and a layout
with more ends than tiles could be. So views and states that others hand over are checked here
first. The hand is played again from its public history, and everything that follows from it must be
as stored: the layout, the sizes, the lacks, the passes and the turn. Then no index is outside, no
loop runs for ever, and beliefs have few states to count, whatever is done with the struct.

What is not checked can do no harm: how points were scored, what lies in arrays beyond the last play
and draw, and whether a view's tiles can be dealt at all. Beliefs say that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.engine.layout import attach, clear, end_bit, playable
from fiveup_env.engine.legality import leads
from fiveup_env.engine.play import show_lack
from fiveup_env.engine.state import (
    BLOCKED,
    DOMINO,
    GAME_OVER,
    HAND_OVER,
    LAYOUT,
    NOBODY,
    NOT_ENDED,
    ONE,
    PLAYING,
    TARGET,
    Games,
    Views,
    all_tiles,
    next_seat,
    tile_count,
)
from fiveup_env.native import Array, Mask, Struct, bit_count, compiled, inlined, signed
from fiveup_env.rules.actions import ACTION_END, ACTION_PIP, ACTION_TILE, DRAW, PLAIN_END
from fiveup_env.rules.fields import (
    CHOICES,
    DRAW_OPTIONAL,
    LEAD_ANY,
    MAX_MULTIPLE,
    MAX_PLAYERS,
    MAX_TARGET,
    MIN_PLAYERS,
    PAY_DIFFERENCE,
    SUBTRACT_OWN,
)
from fiveup_env.rules.tiles import MAX_PIP, PIP_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST: Final = 1 << 30  # more points and hands than any game has, and their sums fit 32 bits
MOST_RESERVE: Final = 2

SPINNERS, HAND_ENDS, ROUNDINGS = (
    len(CHOICES[name]) for name in ("spinners", "hand_end", "round_per")
)

# What may be wrong with a struct.
SOUND, RULES_WRONG, NUMBERS_WRONG, HISTORY_WRONG, SUMS_WRONG, TILES_WRONG = range(6)
FAULTS: Final[Mapping[int, str]] = {
    RULES_WRONG: "its rules are not rules of any game",
    NUMBERS_WRONG: "its scores, phase, lead, turn or boneyard are out of range",
    HISTORY_WRONG: "its plays and draws do not follow one another by the rules",
    SUMS_WRONG: "its layout, sizes, lacks, passes or turn do not follow from its plays and draws",
    TILES_WRONG: "its tiles do not agree with its plays and draws",
}

# What is done with what the public history of a hand leads to.
COMPARE, WRITE = range(2)

# What the public history of a hand leads to, under the names that it has in PUBLIC.
PAST = np.dtype(
    [
        ("layout", LAYOUT),
        ("sizes", np.int8, (MAX_PLAYERS,)),
        ("draws", np.int8, (MAX_PLAYERS,)),
        ("lacked", np.uint8, (MAX_PLAYERS,)),
        ("lack_ply", np.int8, (MAX_PLAYERS, PIP_COUNT)),
        ("lack_draws", np.int8, (MAX_PLAYERS, PIP_COUNT)),
        ("plies", np.int8),
        ("drawn", np.int8),
        ("passes", np.int8),
        ("turn", np.int8),
        ("played", np.uint32, (MAX_PLAYERS,)),  # the tiles that each seat has set
    ],
    align=True,
)


@compiled
def first_unsound_view(views: Views) -> tuple[int, int]:
    """Return the index of the first view that no play stores, and its fault; -1 if there is none.

    The seat to move must have a move, as it has in every game.
    """
    return _first_unsound(views, COMPARE)


@compiled
def first_unsound_game(games: Games) -> tuple[int, int]:
    """Return the index of the first game that no play stores, and its fault; -1 if there is none.

    Games that have not been dealt yet, with nothing but zeros, are not sound.
    """
    past = np.zeros(1, PAST)
    for i in range(len(games)):
        game = games[i]
        fault = _fault_of_public(game.public, past[0], COMPARE)
        if fault == SOUND and not _game_fits(game, past[0]):
            fault = TILES_WRONG
        if fault != SOUND:
            return i, fault
    return -1, SOUND


@compiled
def complete_views(views: Views) -> tuple[int, int]:
    """Write into each view what follows from its rules and its plays and draws.

    Return the index of the first view that no play stores, and its fault; -1 if there is none.
    """
    return _first_unsound(views, WRITE)


@inlined
def _first_unsound(views: Array, then: int) -> tuple[int, int]:
    past = np.zeros(1, PAST)
    for i in range(len(views)):
        view = views[i]
        fault = _fault_of_public(view.public, past[0], then)
        if fault == SOUND and not _view_fits(view, past[0]):
            fault = TILES_WRONG
        if fault != SOUND:
            return i, fault
    return -1, SOUND


@inlined
def _fault_of_public(public: Struct, past: Struct, then: int) -> int:
    """Return the fault of a PUBLIC struct; fill `past` if there is none.

    What follows from the history is then compared with it, or written into it.
    """
    if not rules_fit(public.rules):
        return RULES_WRONG
    if not _numbers_fit(public):
        return NUMBERS_WRONG
    if not _replay(public, past):
        return HISTORY_WRONG
    if then == WRITE:
        _write(public, past)
        return SOUND
    return SOUND if _is_same(public, past) else SUMS_WRONG


@inlined
def rules_fit(rules: Struct) -> bool:
    """Return whether `Rules` allows these rules."""
    tiles = tile_count(rules)
    return bool(
        MIN_PLAYERS <= rules.players <= MAX_PLAYERS
        and (rules.sides == rules.players or (rules.sides == 2 and rules.players == 4))
        and 1 <= rules.max_pip <= MAX_PIP
        and rules.hand_size >= 1
        and rules.players * rules.hand_size <= tiles
        and 0 <= rules.spinners < SPINNERS
        and 0 <= rules.draw <= 1
        and 0 <= rules.reserve <= MOST_RESERVE
        and 0 <= rules.hand_end < HAND_ENDS
        and 0 <= rules.round_per < ROUNDINGS
        and 0 <= rules.game_end <= 1
        and 0 <= rules.exact_target <= 1
        and 0 <= rules.block_pays <= 1
        and 0 <= rules.leader <= 1
        and 0 <= rules.lead_tile <= 1
        and 2 <= rules.multiple <= MAX_MULTIPLE
        and (rules.unit == 1 or rules.unit == rules.multiple)  # noqa: PLR1714  (two types)
        and 1 <= rules.target <= MAX_TARGET
        and not (rules.block_pays == PAY_DIFFERENCE and rules.hand_end == SUBTRACT_OWN)
        and not (rules.exact_target and rules.target % rules.unit)
    )


@inlined
def _numbers_fit(public: Struct) -> bool:
    """Return whether the numbers that no history leads to are in range, and its counts too."""
    rules = public.rules
    tiles = tile_count(rules)
    for side in range(MAX_PLAYERS):
        if not -MOST <= public.scores[side] <= MOST:
            return False
        if not -MOST <= public.end_points[side] <= MOST:
            return False
    if public.phase == PLAYING:
        ends = public.ended == NOT_ENDED and public.winner == NOBODY
    elif public.phase == HAND_OVER:
        ends = public.ended in (DOMINO, BLOCKED) and public.winner == NOBODY
    else:
        ends = public.phase == GAME_OVER and DOMINO <= public.ended <= TARGET
        ends = ends and 0 <= public.winner < rules.sides
    return bool(
        ends
        and 0 <= public.hand_number <= MOST
        and 0 <= public.lead < rules.players
        and NOBODY <= public.forced_lead < (0 if rules.lead_tile == LEAD_ANY else tiles)
        and 0 <= public.turn < rules.players
        and public.boneyard == tiles - rules.players * rules.hand_size
        and 0 <= public.drawn <= _most_drawn(public)
        and 0 <= public.plies <= tiles
    )


@inlined
def _most_drawn(public: Struct) -> int:
    """Return the number of tiles that may be drawn in a hand."""
    return max(0, public.boneyard - public.rules.reserve)


# --- The history


@inlined
def _replay(public: Struct, past: Struct) -> bool:
    """Play the public history again; return whether the rules allow it."""
    rules = public.rules
    _begin(rules, past)
    past.turn = public.lead
    seat, players = signed(public.lead), signed(rules.players)
    most, played = _most_drawn(public), np.uint32(0)
    while past.plies < public.plies:
        mover = signed(public.play_seat[past.plies])
        if not 0 <= mover < players or not _go_round(public, past, seat, mover, most):
            return False
        action = signed(public.play_action[past.plies])
        if not 0 <= action < DRAW or not _may_set(public, past.layout, played, action):
            return False
        tile = ONE << np.uint32(ACTION_TILE[action])
        played |= tile
        past.played[mover] |= tile
        past.sizes[mover] -= 1
        past.plies += 1
        past.passes = 0
        attach(rules, past.layout, action)
        if past.sizes[mover] == 0 and past.plies < public.plies:
            return False
        seat = next_seat(rules, mover)
    emptied = past.sizes[past.turn] == 0
    if public.ended in (DOMINO, TARGET):
        ends = emptied or (past.plies > 0 and public.ended == TARGET)
        return bool(ends and past.drawn == public.drawn)
    if emptied:
        return False
    mover = NOBODY if public.ended == BLOCKED else signed(public.turn)
    return _go_round(public, past, seat, mover, most) and past.drawn == public.drawn


@inlined
def _begin(rules: Struct, past: Struct) -> None:
    for seat in range(MAX_PLAYERS):
        past.sizes[seat] = rules.hand_size if seat < rules.players else 0
        past.draws[seat] = 0
        past.lacked[seat] = 0
        past.played[seat] = np.uint32(0)
        for pip in range(PIP_COUNT):
            past.lack_ply[seat, pip] = past.lack_draws[seat, pip] = -1
    clear(past.layout)
    past.plies = past.drawn = past.passes = 0


@inlined
def _go_round(public: Struct, past: Struct, seat: int, mover: int, most: int) -> bool:
    """Draw and pass from a seat's turn to the mover's, or until all have passed if it is NOBODY.

    Return whether the rules allow it: nobody passes who may lead or draw, and where draws are
    forced, nobody draws who may lead.
    """
    rules = public.rules
    forced = rules.draw != DRAW_OPTIONAL
    while past.passes < rules.players:
        drawn = past.drawn
        while (
            past.drawn < public.drawn
            and public.draw_seat[past.drawn] == seat
            and public.draw_ply[past.drawn] == past.plies
        ):
            past.drawn += 1
        drew = past.drawn - drawn
        past.draws[seat] += drew
        past.sizes[seat] += drew
        past.turn = seat
        if forced and drew > 0 and past.plies == 0:
            return False
        if seat == mover:
            if forced and drew > 0:
                show_lack(past, seat)
            return True
        if past.plies == 0 or past.drawn < most:
            return False
        show_lack(past, seat)
        past.passes += 1
        seat = next_seat(rules, seat)
        if forced:
            past.turn = seat
    return mover == NOBODY


@inlined
def _may_set(public: Struct, layout: Struct, played: Mask, action: int) -> bool:
    """Return whether a tile is still to be set, and whether it fits."""
    rules, tile, pip = public.rules, ACTION_TILE[action], ACTION_PIP[action]
    tiles = tile_count(rules)
    if tile >= tiles or played >> np.uint32(tile) & ONE:
        return False
    if pip < 0:
        return played == 0 and (public.forced_lead < 0 or public.forced_lead == tile)
    end = pip if ACTION_END[action] == PLAIN_END else PIP_COUNT + pip
    return bool(layout.open & end_bit(end))


@inlined
def _write(public: Struct, past: Struct) -> None:
    """Store everything that the history leads to."""
    stored, layout = public.layout, past.layout
    stored.total, stored.open, stored.spinner = layout.total, layout.open, layout.spinner
    public.passes, public.turn = past.passes, past.turn
    for pip in range(PIP_COUNT):
        stored.plain[pip], stored.double[pip] = layout.plain[pip], layout.double[pip]
    for seat in range(MAX_PLAYERS):
        public.sizes[seat], public.draws[seat] = past.sizes[seat], past.draws[seat]
        public.lacked[seat] = past.lacked[seat]
        for pip in range(PIP_COUNT):
            public.lack_ply[seat, pip] = past.lack_ply[seat, pip]
            public.lack_draws[seat, pip] = past.lack_draws[seat, pip]


@inlined
def _is_same(public: Struct, past: Struct) -> bool:
    """Return whether everything that the history leads to is as stored."""
    stored, layout = public.layout, past.layout
    other = (
        stored.total != layout.total
        or stored.open != layout.open
        or stored.spinner != layout.spinner
        or public.passes != past.passes
        or public.turn != past.turn
    )
    for pip in range(PIP_COUNT):
        other |= stored.plain[pip] != layout.plain[pip]
        other |= stored.double[pip] != layout.double[pip]
    for seat in range(MAX_PLAYERS):
        other |= public.sizes[seat] != past.sizes[seat]
        other |= public.draws[seat] != past.draws[seat]
        other |= public.lacked[seat] != past.lacked[seat]
        for pip in range(PIP_COUNT):
            other |= public.lack_ply[seat, pip] != past.lack_ply[seat, pip]
            other |= public.lack_draws[seat, pip] != past.lack_draws[seat, pip]
    return not other


# --- The tiles


@inlined
def _view_fits(view: Struct, past: Struct) -> bool:
    """Return whether the viewer's hand and draws agree with the history, and it has a move."""
    public, seat = view.public, signed(view.seat)
    if not 0 <= seat < public.rules.players:
        return False
    held, seen = view.hand | past.played[seat], np.uint32(0)
    for k in range(public.drawn):
        tile = view.drawn[k]
        if public.draw_seat[k] != seat:
            if tile != -1:
                return False
            continue
        if not 0 <= tile < 32:
            return False
        bit = ONE << np.uint32(tile)
        if seen & bit or not held & bit:
            return False
        seen |= bit
    return _hand_fits(public, past, seat, view.hand)


@inlined
def _game_fits(game: Struct, past: Struct) -> bool:
    """Return whether all hands and the boneyard agree with the history."""
    public, rules = game.public, game.public.rules
    seen = np.uint32(0)
    for seat in range(MAX_PLAYERS):
        if seat >= rules.players:
            if game.hands[seat]:
                return False
        elif game.hands[seat] & seen or not _hand_fits(public, past, seat, game.hands[seat]):
            return False
        seen |= game.hands[seat] | past.played[seat]
    drawn = np.uint32(0)
    for k in range(public.boneyard):
        tile = game.order[k]
        if not 0 <= tile < 32:
            return False
        bit = ONE << np.uint32(tile)
        if k < public.drawn:
            seat = public.draw_seat[k]
            if drawn & bit or not (game.hands[seat] | past.played[seat]) & bit:
                return False
            drawn |= bit
        else:
            if seen & bit or not all_tiles(rules) & bit:
                return False
            seen |= bit
    return True


@inlined
def _hand_fits(public: Struct, past: Struct, seat: int, hand: Mask) -> bool:
    """Return whether a seat may hold a hand: its size fits, and whoever is to move has a move."""
    outside = ~all_tiles(public.rules)
    for other in range(MAX_PLAYERS):
        outside |= past.played[other]
    if hand & outside or bit_count(hand) != past.sizes[seat]:
        return False
    if public.phase != PLAYING or public.turn != seat:
        return True
    if public.plies == 0:
        return leads(public, hand) != 0
    return bool(public.rules.draw == DRAW_OPTIONAL or playable(public.layout, hand) != 0)
