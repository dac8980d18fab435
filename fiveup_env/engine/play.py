"""What happens next: moves, forced draws and passes, and the beginning of a hand.

Draws and passes that the rules force are made at once, so after a move the game is at the next
decision, at the end of the hand or at the end of the game. A new hand begins only when it is asked
for. The functions that Python calls are at the end.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.chance import deal
from fiveup_env.engine.layout import attach, clear, open_pips, playable
from fiveup_env.engine.legality import drawable, is_legal
from fiveup_env.engine.scoring import FIVES, end_hand, gain
from fiveup_env.engine.state import (
    BLOCKED,
    DOMINO,
    GAME_OVER,
    NOBODY,
    NOT_ENDED,
    ONE,
    PLAYING,
    TARGET,
    Games,
    next_seat,
    side_of,
)
from fiveup_env.native import Struct, compiled, inlined, inner, lowest_bit, signed
from fiveup_env.rules.actions import ACTION_TILE, DRAW, PASS
from fiveup_env.rules.fields import (
    DRAW_OPTIONAL,
    IMMEDIATE,
    LEAD_HIGHEST_DOUBLE,
    LEAD_ROTATE,
    MAX_PLAYERS,
)
from fiveup_env.rules.tiles import LEAD_ORDER, PIP_COUNT, TILE_COUNT

REFUSED = -1


@inner
def begin_hand(game: Struct, lot: int) -> None:
    """Begin the hand that has been dealt; the seat `lot` leads where the lot decides.

    With `lead_tile` "highest_double" the tiles dealt decide instead.
    """
    public = game.public
    public.lead = next_leader(public)
    public.forced_lead = -1
    if public.lead == NOBODY:
        public.lead = lot
        if public.rules.lead_tile == LEAD_HIGHEST_DOUBLE:
            force_lead(game)
    restart_hand(game)


@inlined
def next_leader(public: Struct) -> int:
    """Return the seat that leads after the hand that has ended, or NOBODY if the lot decides.

    Before the first hand no hand has ended, and the lot decides.
    """
    if public.ended == NOT_ENDED:
        return NOBODY
    if public.rules.leader == LEAD_ROTATE:
        return next_seat(public.rules, public.lead)
    return signed(public.play_seat[public.plies - 1]) if public.ended == DOMINO else NOBODY


@inlined
def force_lead(game: Struct) -> None:
    """Make the holder of the first dealt tile in LEAD_ORDER lead it."""
    public = game.public
    for tile in LEAD_ORDER:  # pragma: no branch - one of them was dealt
        for seat in range(public.rules.players):
            if game.hands[seat] >> np.uint32(tile) & ONE:
                public.lead, public.forced_lead = seat, tile
                return


@inner
def restart_hand(game: Struct) -> None:
    """Begin the hand that has been dealt, once it is settled who leads and with which tile."""
    public = game.public
    public.turn = public.lead
    public.phase = PLAYING
    public.ended = NOT_ENDED
    public.winner = NOBODY
    public.passes = 0
    public.drawn = 0
    public.plies = 0
    for seat in range(MAX_PLAYERS):
        public.end_points[seat] = 0
        public.sizes[seat] = public.rules.hand_size if seat < public.rules.players else 0
        public.draws[seat] = 0
        public.lacked[seat] = 0
        for pip in range(PIP_COUNT):
            public.lack_ply[seat, pip] = public.lack_draws[seat, pip] = -1
    for i in range(TILE_COUNT):
        public.draw_seat[i] = public.draw_ply[i] = public.play_seat[i] = public.play_action[i] = -1
    clear(public.layout)


@inlined
def play(game: Struct, action: int) -> None:
    """Make a legal move, and the forced draws and passes up to the next decision."""
    public, rules = game.public, game.public.rules
    seat = public.turn
    if action == DRAW:
        _draw(game, seat)
        return
    if action == PASS:
        show_lack(public, seat)
        public.passes += 1
        if public.passes == rules.players:
            end_hand(game, BLOCKED)
        else:
            public.turn = next_seat(rules, seat)
        return
    game.hands[seat] &= ~(ONE << np.uint32(ACTION_TILE[action]))
    public.sizes[seat] -= 1
    public.passes = 0
    public.play_action[public.plies] = action
    public.play_seat[public.plies] = seat
    public.plies += 1
    attach(rules, public.layout, action)
    side = side_of(rules, seat)
    points = gain(public, side, FIVES[rules.multiple, public.layout.total])
    if points > 0 and rules.game_end == IMMEDIATE and public.scores[side] >= rules.target:
        public.ended = TARGET
        public.phase = GAME_OVER
        public.winner = side
    elif public.sizes[seat] == 0:
        end_hand(game, DOMINO)
    else:
        _go_round(game)


@inlined
def _draw(game: Struct, seat: int) -> None:
    public = game.public
    game.hands[seat] |= ONE << np.uint32(game.order[public.drawn])
    public.draw_seat[public.drawn] = seat
    public.draw_ply[public.drawn] = public.plies
    public.drawn += 1
    public.draws[seat] += 1
    public.sizes[seat] += 1


@inner
def show_lack(public: Struct, seat: int) -> None:
    """Note that a seat lacks all open pips, apart from a drawn tile that it must set now."""
    pips = open_pips(public.layout)
    public.lacked[seat] |= np.uint8(pips)
    while pips:
        pip = lowest_bit(pips)
        pips &= pips - np.uint16(1)
        public.lack_ply[seat, pip] = public.plies
        public.lack_draws[seat, pip] = public.draws[seat]


@inlined
def _go_round(game: Struct) -> None:
    """Pass the turn to the next seat that can play, drawing and passing where that is forced."""
    public, rules = game.public, game.public.rules
    public.turn = next_seat(rules, public.turn)
    if rules.draw == DRAW_OPTIONAL:
        return
    while public.passes < rules.players:
        if playable(public.layout, game.hands[public.turn]) != 0:
            return
        while playable(public.layout, game.hands[public.turn]) == 0 and drawable(public) > 0:
            _draw(game, public.turn)
        show_lack(public, public.turn)
        if playable(public.layout, game.hands[public.turn]) != 0:
            return
        public.passes += 1
        public.turn = next_seat(rules, public.turn)
    end_hand(game, BLOCKED)


# --- For Python: an array of games and the index of one


@compiled
def start_hand(games: Games, i: int) -> None:
    """Deal and begin the next hand: the first if everything but the rules and the seed is zero."""
    begin_hand(games[i], deal(games[i]))


@compiled
def start_given_hand(games: Games, i: int, lot: int) -> None:
    """Begin a hand whose tiles have already been written into the struct."""
    begin_hand(games[i], lot)


@compiled
def play_at(games: Games, i: int, action: int) -> int:
    """Make a move if it is legal; return the phase that it leads to, or REFUSED."""
    game = games[i]
    if not is_legal(game.public, game.hands[game.public.turn], action):
        return REFUSED
    play(game, action)
    return signed(game.public.phase)
