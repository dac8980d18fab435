"""The legal actions of the seat to move, given everything public and its hand.

They depend on nothing else, so the same functions serve a game and a view. Each asks the question
in the form that one user needs: a mask, a number, the n-th action, a list, or one action.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.layout import (
    ALL_DOUBLES,
    SUIT_OF_END,
    TILE_HIGH,
    TILE_LOW,
    end_bit,
    playable,
)
from fiveup_env.engine.state import ONE, PLAYING, Games
from fiveup_env.native import (
    Array,
    Int8Rows,
    Mask,
    Struct,
    bit_count,
    compiled,
    inlined,
    lowest_bit,
    signed,
)
from fiveup_env.rules.actions import (
    ACTION_COUNT,
    ACTION_END,
    ACTION_PIP,
    ACTION_TILE,
    DRAW,
    FIRST_WAY,
    PASS,
    PLAIN_END,
    PLAY,
)
from fiveup_env.rules.fields import DRAW_OPTIONAL
from fiveup_env.rules.tiles import PIP_COUNT


@inlined
def drawable(public: Struct) -> int:
    """Return the number of tiles that may still be drawn."""
    return max(0, public.boneyard - public.rules.reserve - public.drawn)


@inlined
def leads(public: Struct, hand: Mask) -> Mask:
    """Return the tiles of a hand that may be led."""
    tile = public.forced_lead
    return hand if tile < 0 else hand & ONE << np.uint32(tile)


@inlined
def mark_legal(public: Struct, hand: Mask, rows: Array, r: int, at: int) -> None:
    """Write 1 for every legal action into row r, from column `at` on, which must hold zeros."""
    if public.phase != PLAYING:
        return
    may_draw, may_play = drawable(public) > 0, hand
    if public.plies == 0:
        tiles = leads(public, hand)
        while tiles:
            rows[r, at + signed(lowest_bit(tiles))] = 1
            tiles &= tiles - ONE
    else:
        ends = public.layout.open
        may_play = playable(public.layout, hand)
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
    if public.rules.draw == DRAW_OPTIONAL:
        rows[r, at + DRAW] = may_draw
        rows[r, at + PASS] = not may_draw and not may_play


@inlined
def legal_count(public: Struct, hand: Mask) -> int:
    """Return the number of legal actions."""
    if public.phase != PLAYING:
        return 0
    count = bit_count(leads(public, hand)) if public.plies == 0 else 0
    ends = public.layout.open
    while ends:
        count += bit_count(hand & SUIT_OF_END[lowest_bit(ends)])
        ends &= ends - np.uint16(1)
    if public.rules.draw == DRAW_OPTIONAL and (count == 0 or drawable(public) > 0):
        count += 1
    return signed(count)


@inlined
def nth_legal(public: Struct, hand: Mask, n: int) -> int:
    """Return the n-th legal action, for n from 0 to `legal_count` - 1."""
    if public.plies == 0 and n < bit_count(leads(public, hand)):
        return _nth_bit(leads(public, hand), n)
    ends = public.layout.open
    while ends:
        end = lowest_bit(ends)
        fits = hand & SUIT_OF_END[end]
        count = signed(bit_count(fits))
        if n < count:
            return signed(PLAY[end, _nth_bit(fits, n)])
        n -= count
        ends &= ends - np.uint16(1)
    return DRAW if drawable(public) > 0 else PASS


@inlined
def list_legal(public: Struct, hand: Mask, actions: Array) -> int:
    """Write the legal actions of a hand in play into an array, and return their number."""
    count = 0
    if public.plies == 0:
        tiles = leads(public, hand)
        while tiles:
            actions[count] = lowest_bit(tiles)
            tiles &= tiles - ONE
            count += 1
    else:
        ends = public.layout.open
        while ends:
            end = lowest_bit(ends)
            ends &= ends - np.uint16(1)
            fits = hand & SUIT_OF_END[end]
            while fits:
                actions[count] = PLAY[end, lowest_bit(fits)]
                fits &= fits - ONE
                count += 1
    if public.rules.draw == DRAW_OPTIONAL and (count == 0 or drawable(public) > 0):
        actions[count] = DRAW if drawable(public) > 0 else PASS
        count += 1
    return count


@inlined
def _nth_bit(mask: Mask, n: int) -> int:
    for _ in range(n):
        mask &= mask - ONE
    return signed(lowest_bit(mask))


@inlined
def is_legal(public: Struct, hand: Mask, action: int) -> bool:
    """Return whether an action is legal; any integer may be given."""
    if public.phase != PLAYING or action < 0 or action >= ACTION_COUNT:
        return False
    if action >= DRAW:
        if public.rules.draw != DRAW_OPTIONAL:
            return False
        stuck = public.plies > 0 and playable(public.layout, hand) == 0
        return drawable(public) > 0 if action == DRAW else stuck and drawable(public) == 0
    pip = ACTION_PIP[action]
    may_set = leads(public, hand) if pip < 0 else hand
    if not may_set >> np.uint32(ACTION_TILE[action]) & ONE:
        return False
    if pip < 0:
        return bool(public.plies == 0)
    end = pip if ACTION_END[action] == PLAIN_END else PIP_COUNT + pip
    return bool(public.layout.open & end_bit(end))


@compiled
def is_legal_at(games: Games, i: int, action: int) -> bool:
    """Return whether an action is legal in the i-th game."""
    game = games[i]
    return is_legal(game.public, game.hands[game.public.turn], action)


@compiled
def mark_legal_at(games: Games, i: int, masks: Int8Rows) -> None:
    """Write 1 for every legal action of the i-th game into the first row, which must hold zeros."""
    game = games[i]
    mark_legal(game.public, game.hands[game.public.turn], masks, 0, 0)


@compiled
def legal_count_at(games: Games, i: int) -> int:
    """Return the number of legal actions in the i-th game."""
    game = games[i]
    return legal_count(game.public, game.hands[game.public.turn])
