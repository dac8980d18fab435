"""What a view says about the hidden tiles, prepared for counting.

All worlds that are consistent with a view are equally likely. What a seat has seen rules out worlds
as follows:

- A seat that drew or passed had no tile that fitted. If it then played, it played its last draw; if
  it is still to play, its last draw fits.
- A seat that is to move and did not draw has a tile that fits.
- With draw="optional" only a pass says anything: that seat had no tile that fitted.
- If the leader must lead a certain tile, that seat was dealt it, and nobody was dealt a tile that
  comes before it in the order of `lead_tile`.
- A tile that was played had been dealt to its player, or drawn by then. Which of the two is hidden
  as well, and it matters: what a seat was shown to lack restricts the tiles that it held at that
  time, not those that it drew later.

Which tile a player chose to play is assumed to say nothing.

A world puts every tile into a place: one of the boneyard, or one of a dealt hand. The places of a
seat that admit the same tiles form a group. A tile that was played or must be led is settled if it
may have been in any one of some places, whatever was in the others. All other tiles whose place is
not known are free: the groups take them.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.belief.structs import BONEYARD
from fiveup_env.engine.layout import attach, clear, open_pips, playable
from fiveup_env.engine.state import NOBODY, ONE, PLAYING, all_tiles, next_seat
from fiveup_env.errors import BeliefError
from fiveup_env.native import Mask, Struct, bit_count, inlined, inner, signed
from fiveup_env.rules.actions import ACTION_TILE
from fiveup_env.rules.fields import DRAW_OPTIONAL, MAX_PLAYERS
from fiveup_env.rules.tiles import BEFORE_IN_LEAD_ORDER, SUITS_OF, TILE_COUNT


@inner
def read_view(view: Struct, belief: Struct) -> None:
    """Fill a BELIEF with what a view says.

    It gets 0 states if no hand is in play, or if there are not as many free tiles as places.
    """
    public = view.public
    _note_lacks(public, belief)
    _note_tiles(view, belief)
    belief.must_fit = _seat_that_must_fit(view)
    belief.place_count = belief.settled_count = belief.group_count = 0
    for seat in range(public.rules.players):
        if seat != view.seat:
            _add_dealt_hand(public, belief, seat)
            _add_draws(public, belief, seat)
    _add_group(belief, BONEYARD, belief.hidden)
    for k in range(public.drawn, public.boneyard):
        _add_place(belief, k, BONEYARD)
    _number_states(belief)
    places = 0
    for g in range(belief.group_count):
        places += belief.groups[g].size
    if places != bit_count(belief.free) or public.phase != PLAYING:
        belief.states = 0


@inner
def _note_lacks(public: Struct, belief: Struct) -> None:
    """Write the pips that each seat was shown to lack at each ply, by replaying the hand."""
    rules, layout = public.rules, belief.layout
    clear(layout)
    for seat in range(MAX_PLAYERS):
        for ply in range(public.plies + 1):
            belief.lacked[seat, ply] = 0
    for ply in range(1, public.plies + 1):
        attach(rules, layout, public.play_action[ply - 1])
        seat = next_seat(rules, public.play_seat[ply - 1])
        while seat != _mover(public, ply):
            belief.lacked[seat, ply] = open_pips(layout)
            seat = next_seat(rules, seat)
        for k in range(public.drawn):
            if _forced(public) and public.draw_ply[k] == ply:
                belief.lacked[public.draw_seat[k], ply] = open_pips(layout)


@inlined
def _note_tiles(view: Struct, belief: Struct) -> None:
    """Write which tiles are hidden and which are free, and what the viewer knows for certain."""
    public, rules = view.public, view.public.rules
    played, others = np.uint32(0), np.uint32(0)
    for ply in range(public.plies):
        played |= tile_bit(_played(public, ply))
        if public.play_seat[ply] != view.seat:
            others |= tile_bit(_played(public, ply))
    belief.hidden = all_tiles(rules) & ~view.hand & ~played
    belief.free = belief.hidden | others
    belief.boneyard = public.boneyard
    for seat in range(MAX_PLAYERS):
        belief.known.hands[seat] = view.hand if seat == view.seat else np.uint32(0)
    for k in range(TILE_COUNT):
        tile = _known_draw(view, k) if k < public.drawn else -1
        belief.known.order[k] = tile
        if tile >= 0:
            belief.free &= ~tile_bit(tile)
    belief.undealt = np.uint32(0)
    if public.forced_lead >= 0:
        belief.undealt = belief.free & BEFORE_IN_LEAD_ORDER[public.forced_lead]


@inlined
def _known_draw(view: Struct, k: int) -> int:
    """Return the k-th tile drawn if the viewer drew it or saw it played at once, else -1."""
    public = view.public
    ply = public.draw_ply[k]
    if public.draw_seat[k] == view.seat:
        return signed(view.drawn[k])
    if _forced(public) and ply < public.plies and _let_play(public, k):
        return _played(public, ply)
    return -1


@inlined
def _let_play(public: Struct, k: int) -> bool:
    """Return whether the k-th draw was the last one before its seat played or has to play."""
    seat, ply = public.draw_seat[k], public.draw_ply[k]
    last = k + 1 == public.drawn or public.draw_seat[k + 1] != seat or public.draw_ply[k + 1] != ply
    return last and _mover(public, ply) == seat


@inlined
def _seat_that_must_fit(view: Struct) -> int:
    """Return another seat that has a tile that fits, being to move without a draw, or NOBODY."""
    public = view.public
    last = public.drawn - 1
    if not _forced(public) or public.plies == 0 or public.turn == view.seat:
        return NOBODY
    if last >= 0 and public.draw_ply[last] == public.plies and _let_play(public, last):
        return NOBODY
    return signed(public.turn)


@inlined
def tile_bit(tile: int) -> Mask:
    """Return the mask of one tile."""
    return ONE << np.uint32(tile)


@inlined
def _played(public: Struct, ply: int) -> int:
    return signed(ACTION_TILE[public.play_action[ply]])


@inlined
def _forced(public: Struct) -> bool:
    return bool(public.rules.draw != DRAW_OPTIONAL)


@inlined
def _mover(public: Struct, ply: int) -> int:
    """Return the seat that played at a ply, or that is to move if nobody has yet."""
    return signed(public.play_seat[ply] if ply < public.plies else public.turn)


# --- Places and groups


@inner
def _add_dealt_hand(public: Struct, belief: Struct, seat: int) -> None:
    """Add the places of a dealt hand: one group, apart from the places that settled tiles take."""
    first, settled = signed(belief.place_count), 0
    dealt = _held(public, belief, seat, 0) & ~belief.undealt
    if public.forced_lead >= 0 and public.lead == seat:
        _settle(belief, public.forced_lead, first, public.rules.hand_size)
        settled += 1
    for ply in range(public.plies):
        tile = _played(public, ply)
        if public.play_seat[ply] == seat and belief.free & dealt & tile_bit(tile):
            choices = _choices(public, belief, seat, ply)
            if choices > settled:
                _settle(belief, tile, first + settled, choices - settled)
                settled += 1
    _add_group(belief, seat, dealt & belief.free)
    group = belief.groups[belief.group_count - 1]
    group.first, group.size = first + settled, -settled
    for place in range(public.rules.hand_size):
        _add_place(belief, public.boneyard + seat * public.rules.hand_size + place, seat)


@inlined
def _settle(belief: Struct, tile: int, first: int, size: int) -> None:
    """Settle a tile: it was in one of `size` places, starting with the place at index `first`."""
    item = belief.settled[belief.settled_count]
    item.tile, item.first, item.size = tile, first, size
    belief.settled_count += 1
    belief.free &= ~tile_bit(tile)


@inlined
def _choices(public: Struct, belief: Struct, seat: int, ply: int) -> int:
    """Return the number of places where the tile played at a ply may have been, or 0.

    It is 0 if the tile is not settled. A tile is settled if it was certainly dealt, and always if
    all places admit the same tiles.
    """
    choices = signed(public.rules.hand_size)
    for k in range(public.drawn):
        if public.draw_seat[k] == seat and belief.known.order[k] < 0:
            if not _draws_differ(public, belief):
                choices += public.draw_ply[k] <= ply
            elif public.draw_ply[k] < ply + (not _forced(public)):
                return 0
    return choices


@inlined
def _draws_differ(public: Struct, belief: Struct) -> bool:
    """Return whether draws admit other tiles than dealt hands do.

    With optional draws they do not, because nobody draws after a pass, unless there are tiles that
    nobody was dealt.
    """
    return bool(_forced(public) or belief.undealt)


@inner
def _add_draws(public: Struct, belief: Struct, seat: int) -> None:
    """Add the places of a seat's draws; those that admit the same tiles form one group."""
    for k in range(public.drawn):
        if public.draw_seat[k] == seat and belief.known.order[k] < 0:
            if _draws_differ(public, belief):
                admits = _held(public, belief, seat, public.draw_ply[k]) & belief.free
                if _forced(public) and _let_play(public, k):
                    admits = playable(belief.layout, belief.hidden)
                if admits != belief.groups[belief.group_count - 1].admits:
                    _add_group(belief, seat, admits)
            _add_place(belief, k, seat)


@inlined
def _held(public: Struct, belief: Struct, seat: int, since: int) -> Mask:
    """Return the tiles that a seat may have held since a ply, until it played them or until now.

    It was never shown to lack one of their pips while it held them.
    """
    held, lacked = np.uint32(0), np.uint8(0)
    for ply in range(since, public.plies):
        if public.play_seat[ply] == seat:
            held |= tile_bit(_played(public, ply)) & ~SUITS_OF[lacked]
        lacked |= belief.lacked[seat, ply]
    return held | (belief.hidden & ~SUITS_OF[lacked | belief.lacked[seat, public.plies]])


@inlined
def _add_group(belief: Struct, seat: int, admits: Mask) -> None:
    """Add a group without places."""
    group = belief.groups[belief.group_count]
    group.admits = admits
    must_fit = seat == belief.must_fit
    group.fitting = playable(belief.layout, belief.hidden) if must_fit else np.uint32(0)
    group.first = belief.place_count
    group.size = group.stride = 0
    belief.group_count += 1


@inlined
def _add_place(belief: Struct, place: int, holder: int) -> None:
    """Add a place to the last group."""
    belief.places[belief.place_count] = place
    belief.holder[place] = holder
    belief.place_count += 1
    belief.groups[belief.group_count - 1].size += 1


@inlined
def _number_states(belief: Struct) -> None:
    """Number the states: how many places of each group are left.

    The largest group needs no digit of its own: what is left there follows from the others. If a
    seat must have a tile that fits, it still lacks one in the upper half of the states.
    """
    largest = 0
    for g in range(belief.group_count):
        if belief.groups[g].size > belief.groups[largest].size:
            largest = g
    belief.fillings = 1
    for g in range(belief.group_count):
        if g != largest:
            group = belief.groups[g]
            group.stride = belief.fillings
            belief.fillings *= group.size + 1
            group.span = belief.fillings
    belief.groups[largest].span = belief.fillings
    belief.states = belief.fillings if belief.must_fit == NOBODY else 2 * belief.fillings


def impossible(view: np.ndarray) -> BeliefError:
    """Return the error for a view that no world is consistent with."""
    if view[0]["public"]["phase"] != PLAYING:
        return BeliefError("the hand is over; beliefs are about hands in play")
    return BeliefError("no deal is consistent with this view: no game leads to it")
