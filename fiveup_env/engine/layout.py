"""The layout: where a tile may be set, what it leaves open, and the total of the open ends.

A layout is reduced to what the rest of the hand depends on (RULES.md, section 1): for each pip, the
number of plain ends that show it and the state of its double. An end has a number: a plain end its
pip, the end of a double PIP_COUNT + pip.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.state import (
    CLOSED,
    NOBODY,
    NOT_PLAYED,
    ONE_CROSS,
    ONE_SIDE,
    TWO_CROSSES,
    TWO_SIDES,
)
from fiveup_env.native import Mask, Struct, inlined, signed
from fiveup_env.rules.actions import (
    ACTION_END,
    ACTION_OUTWARD,
    ACTION_PIP,
    ACTION_SHOWS,
    ACTION_TILE,
    PLAIN_END,
)
from fiveup_env.rules.fields import SPIN_ALL, SPIN_FIRST
from fiveup_env.rules.tiles import PIP_COUNT, SUITS, SUITS_OF, TILE_PIPS, TILES

DOUBLE_OF = np.array([tile.high if tile.is_double else -1 for tile in TILES], np.int8)
TILE_HIGH = np.array([tile.high for tile in TILES], np.int8)
TILE_LOW = np.array([tile.low for tile in TILES], np.int8)
ALL_DOUBLES = np.uint32(sum(1 << tile.id for tile in TILES if tile.is_double))

SUIT_OF_END = np.concatenate([SUITS, SUITS])
ALL_PIPS = np.uint16((1 << PIP_COUNT) - 1)


@inlined
def clear(layout: Struct) -> None:
    """Take all tiles off a layout."""
    layout.total = 0
    layout.open = np.uint16(0)
    layout.spinner = NOBODY
    for pip in range(PIP_COUNT):
        layout.plain[pip] = 0
        layout.double[pip] = NOT_PLAYED


@inlined
def open_pips(layout: Struct) -> Mask:
    """Return the mask of the pips of all open ends; a tile with one of them fits."""
    return (layout.open | layout.open >> np.uint16(PIP_COUNT)) & ALL_PIPS


@inlined
def playable(layout: Struct, hand: Mask) -> Mask:
    """Return the tiles of a hand that fit somewhere on a layout, which must not be empty."""
    return hand & SUITS_OF[open_pips(layout)]


@inlined
def end_bit(end: int) -> Mask:
    """Return the bit of an end in `layout.open`."""
    return np.uint16(1) << np.uint16(end)


@inlined
def covered(rules: Struct, layout: Struct, pip: int) -> int:
    """Return the state of a pip's double after a tile is set on it."""
    state = layout.double[pip]
    if state == TWO_SIDES:
        return ONE_SIDE
    if state == TWO_CROSSES:
        return ONE_CROSS
    spins = rules.spinners == SPIN_ALL or (rules.spinners == SPIN_FIRST and layout.spinner == pip)
    return TWO_CROSSES if state == ONE_SIDE and spins else CLOSED


@inlined
def total_after(layout: Struct, action: int) -> int:
    """Return the total of all open ends after an action."""
    pip = ACTION_PIP[action]
    if pip < 0:
        return signed(TILE_PIPS[action])
    end = pip if ACTION_END[action] == PLAIN_END else PIP_COUNT + pip
    return total_without(layout, end) + ACTION_SHOWS[action]


@inlined
def total_without(layout: Struct, end: int) -> int:
    """Return the total of all open ends once one is covered, before what the tile there shows."""
    if end < PIP_COUNT:
        return layout.total - end
    return layout.total - double_loses(layout, end - PIP_COUNT)


@inlined
def double_loses(layout: Struct, pip: int) -> int:
    """Return what the total loses when a tile is set on a pip's double.

    That is all the double counts if its last free side is covered, and otherwise nothing.
    """
    return 2 * pip if layout.double[pip] == ONE_SIDE else 0


@inlined
def attach(rules: Struct, layout: Struct, action: int) -> None:
    """Set the tile of an action on the layout."""
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
def _add_plain(layout: Struct, pip: int) -> None:
    layout.plain[pip] += 1
    layout.open |= end_bit(pip)


@inlined
def _set_double(layout: Struct, pip: int, state: int) -> None:
    bit = end_bit(PIP_COUNT + pip)
    if layout.double[pip] == NOT_PLAYED and layout.spinner == NOBODY:
        layout.spinner = pip
    layout.double[pip] = state
    layout.open = layout.open & ~bit if state == CLOSED else layout.open | bit
