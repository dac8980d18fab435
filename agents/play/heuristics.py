"""The heuristic ladder: each agent is named for what it adds to the one before.

All are compiled, and score the allowed actions of a view; the best is taken, and among equals one
at random. A draw is taken only where nothing can be played, as in the forced game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.registry import register
from fiveup_env.actions import ACTION_COUNT, ACTION_TILE, DRAW, PLAY
from fiveup_env.compiled import Array, Mask, Record, Word, compiled, inlined, lowest_bit, whole
from fiveup_env.engine import (
    ALL_PIPS,
    FIVES,
    LAYOUT,
    ONE,
    SUIT_OF_END,
    attach,
    chance_below,
    next_seat,
    total_after,
)
from fiveup_env.opponents import random_policy
from fiveup_env.rules import DRAW_UNTIL_PLAYABLE
from fiveup_env.tiles import PIP_COUNT, SUITS_OF

MOST_FIVES: Final = 40
GREEDY, DEFENSIVE = range(2)


@register("random")
@dataclass(frozen=True)
class Random:
    """Any allowed action, each as likely as the other."""

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose an action for every view."""
        return random_policy(views, masks, random)


@register("greedy")
@dataclass(frozen=True)
class Greedy:
    """The most points now."""

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose an action for every view."""
        return _choose(views, masks, random, GREEDY)


@register("defensive")
@dataclass(frozen=True)
class Defensive:
    """Points now, less what the next player's best reply is expected to score."""

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Choose an action for every view."""
        return _choose(views, masks, random, DEFENSIVE)


def _choose(
    views: np.ndarray, masks: np.ndarray, random: np.random.Generator, kind: int
) -> np.ndarray:
    actions, key = np.empty(len(views), np.int64), np.uint64(random.integers(1 << 63))
    layout, worth = np.zeros(1, LAYOUT), np.zeros(MOST_FIVES, np.int64)
    choose_all(views, masks, key, kind, layout, worth, actions)
    return actions


@compiled
def choose_all(
    views: Array, masks: Array, key: Word, kind: int, layouts: Array, worth: Array, actions: Array
) -> None:
    """The best action for every view, by the values of a kind of heuristic.

    `layouts` and `worth` are room to think in: one LAYOUT, and a number for every score.
    """
    for i in range(len(views)):
        best, equals = -1e9, 0
        for action in range(ACTION_COUNT):
            if not masks[i, action]:
                continue
            value = action_value(views[i], action, kind, layouts[0], worth)
            if value > best + 1e-9:
                best, equals = value, 0
            if value > best - 1e-9:
                equals += 1
                if chance_below(key, i * ACTION_COUNT + action, equals) == 0:
                    actions[i] = action


@inlined
def action_value(view: Record, action: int, kind: int, layout: Record, worth: Array) -> float:
    """What an action is worth to the seat that views, in points on the cribbage scale."""
    if action >= DRAW:
        return -1e6
    table, rules = view.table, view.table.rules
    value = float(FIVES[rules.multiple, total_after(table.layout, action)])
    if kind == DEFENSIVE and table.sizes[view.seat] > 1:
        _copy_layout(table.layout, layout)
        attach(rules, layout, action)
        value -= expected_reply(view, layout, worth)
    return value


@inlined
def _copy_layout(source: Record, target: Record) -> None:
    target.total = source.total
    target.open = source.open
    target.spinner = source.spinner
    for pip in range(PIP_COUNT):
        target.plain[pip] = source.plain[pip]
        target.double[pip] = source.double[pip]


@inlined
def unseen_by(view: Record) -> Mask:
    """The tiles that a view does not show: in other hands or in the boneyard."""
    rules = view.table.rules
    tiles = (rules.max_pip + 1) * (rules.max_pip + 2) // 2
    mask = np.uint32((1 << tiles) - 1) & ~view.hand
    for ply in range(view.table.plies):
        mask &= ~(ONE << np.uint32(ACTION_TILE[view.table.play_action[ply]]))
    return mask


@inlined
def lacked_for_certain(table: Record, seat: int) -> Mask:
    """The pips that a seat was shown to lack and cannot have drawn since, as a mask."""
    pips = np.uint16(0)
    if table.rules.draw != DRAW_UNTIL_PLAYABLE:
        return pips
    for pip in range(PIP_COUNT):
        if table.lack_ply[seat, pip] >= 0 and table.lack_draws[seat, pip] == table.draws[seat]:
            pips |= np.uint16(1) << np.uint16(pip)
    return pips & ALL_PIPS


@inlined
def expected_reply(view: Record, layout: Record, worth: Array) -> float:
    """What the next player's best play scores on average, on a layout.

    Its hand is taken to be any of as many tiles, of those unseen that it may hold. The chance that
    none of the c tiles worth s or more is in a hand of n out of u tiles is C(u - c, n) / C(u, n).
    """
    table, rules = view.table, view.table.rules
    seat = next_seat(rules, view.seat)
    unseen = unseen_by(view) & ~SUITS_OF[lacked_for_certain(table, seat)]
    size, count, most = whole(table.sizes[seat]), 0, 0
    worth[:] = 0
    while unseen:
        tile = lowest_bit(unseen)
        unseen &= unseen - ONE
        best = _best_with(rules, layout, tile)
        worth[best] += 1
        most = max(most, best)
        count += 1
    expected, at_least = 0.0, 0
    for fives in range(most, 0, -1):
        at_least += worth[fives]
        none = 1.0
        for k in range(size):
            none *= max(0, count - at_least - k) / max(1, count - k)
        expected += 1 - none
    return expected


@inlined
def _best_with(rules: Record, layout: Record, tile: int) -> int:
    """The most that a tile can score on a layout, in fives."""
    best, ends = 0, layout.open
    while ends:
        end = lowest_bit(ends)
        ends &= ends - np.uint16(1)
        if SUIT_OF_END[end] >> np.uint32(tile) & ONE:
            fives = FIVES[rules.multiple, total_after(layout, PLAY[end, tile])]
            best = max(best, whole(fives))
    return min(best, MOST_FIVES - 1)
