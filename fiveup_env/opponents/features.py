"""What an action is worth at a glance: a weighted sum of what each heuristic looks at.

All is counted in points on the cribbage scale (pips in fives), from what the seat to move sees: the
table, its hand, and which tiles are unseen. A hand that it does not see is taken to be any of as
many of the unseen tiles as it has, those excepted whose pips it was shown to lack.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.chance import chance_below
from fiveup_env.engine.compiled import (
    Array,
    Mask,
    Struct,
    Word,
    bit_count,
    compiled,
    inlined,
    lowest_bit,
    signed,
)
from fiveup_env.engine.layout import (
    ALL_PIPS,
    DOUBLE_OF,
    SUIT_OF_END,
    attach,
    open_pips,
    total_after,
)
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import LAYOUT, ONE, next_seat
from fiveup_env.rules.actions import ACTION_TILE, DRAW, PASS, PLAY
from fiveup_env.rules.fields import DRAW_UNTIL_PLAYABLE
from fiveup_env.rules.tiles import PIP_COUNT, SUITS_OF, TILE_COUNT, TILE_PIPS

FEATURES: Final = {
    "points": "what the action scores",
    "reply": "what the next player's best reply is expected to score",
    "pips": "the pips that leave the hand",
    "double": "a double leaves the hand",
    "follow": "what one's own best next play would score, were nothing set in between",
    "control": "one's own share of the tiles that would fit",
    "starve": "the chance that the next player cannot play",
    "starve_last": "the chance that the player before oneself cannot play",
    "feed": "what one's partner's best play is expected to score",
}
FEATURE_NAMES: Final = tuple(FEATURES)
(
    POINTS,
    REPLY,
    PIPS,
    DOUBLE,
    FOLLOW,
    CONTROL,
    STARVE,
    STARVE_LAST,
    FEED,
) = range(len(FEATURE_NAMES))

MOST_FIVES: Final = 40
PIPS_A_POINT: Final = 5.0

# Room to think in, made once for many decisions.
SCRATCH = np.dtype(
    [
        ("layout", LAYOUT),  # the layout after the action that is looked at
        ("actions", np.int64, (PASS + 1,)),
        ("best", np.int64, (TILE_COUNT,)),  # what each unseen tile could score there; -1: no fit
        ("often", np.int64, (MOST_FIVES,)),  # how many tiles of a hand's pool score so much
        (
            "features",
            np.float64,
            (len(FEATURE_NAMES),),
        ),  # what was seen of the action, as in FEATURES
    ],
    align=True,
)


@inlined
def unseen_by(public: Struct, hand: Mask) -> Mask:
    """The tiles that a seat with this hand does not see: in other hands or in the boneyard."""
    rules = public.rules
    tiles = (rules.max_pip + 1) * (rules.max_pip + 2) // 2
    mask = np.uint32((1 << tiles) - 1) & ~hand
    for ply in range(public.plies):
        mask &= ~(ONE << np.uint32(ACTION_TILE[public.play_action[ply]]))
    return mask


@compiled
def best_action(public: Struct, hand: Mask, weights: Array, scratch: Struct, key: Word) -> int:
    """The best action of the seat to move, by some weights; of equals, any one.

    A draw is taken only where nothing can be played, as in the forced game.
    """
    count = list_legal(public, hand, scratch.actions)
    best, chosen, equals = -1e9, scratch.actions[0], 0
    if count == 1:
        return signed(chosen)
    at_a_glance = weights[REPLY] == 0 and weights[PIPS] == 0
    unseen = np.uint32(0) if at_a_glance else unseen_by(public, hand)
    for k in range(count):
        action = scratch.actions[k]
        if action >= DRAW:
            continue
        if at_a_glance:
            value = (
                weights[POINTS] * FIVES[public.rules.multiple, total_after(public.layout, action)]
            )
        else:
            write_features(public, hand, unseen, action, weights, scratch)
            value = 0.0
            for name in range(len(FEATURE_NAMES)):
                value += weights[name] * scratch.features[name]
        if value > best + 1e-9:
            best, equals = value, 0
        if value > best - 1e-9:
            equals += 1
            if chance_below(key, public.plies * (PASS + 1) + signed(action), equals) == 0:
                chosen = action
    return signed(chosen)


@compiled
def write_features(
    public: Struct, hand: Mask, unseen: Mask, action: int, weights: Array, scratch: Struct
) -> None:
    """Look at an action: write what there is to see of it, as far as it has a weight."""
    rules, layout, features = public.rules, scratch.layout, scratch.features
    tile = ACTION_TILE[action]
    kept = hand & ~(ONE << np.uint32(tile))
    features[:] = 0
    features[POINTS] = FIVES[rules.multiple, total_after(public.layout, action)]
    features[PIPS] = TILE_PIPS[tile] / PIPS_A_POINT
    features[DOUBLE] = DOUBLE_OF[tile] >= 0
    if kept == 0:
        return
    _copy_layout(public.layout, layout)
    attach(rules, layout, action)
    suits = SUITS_OF[open_pips(layout)]
    mine, theirs = signed(bit_count(kept & suits)), signed(bit_count(unseen & suits))
    features[CONTROL] = mine / max(1, mine + theirs)
    if weights[FOLLOW] != 0:
        features[FOLLOW] = _best_of(rules, layout, kept & suits)
    _write_expectations(public, layout, unseen, weights, scratch)


@inlined
def _best_of(rules: Struct, layout: Struct, tiles: Mask) -> int:
    """The most that any of some tiles can score, in fives."""
    best = 0
    while tiles:
        best = max(best, best_with(rules, layout, lowest_bit(tiles)))
        tiles &= tiles - ONE
    return best


@inlined
def _write_expectations(
    public: Struct, layout: Struct, unseen: Mask, weights: Array, scratch: Struct
) -> None:
    """What the others are expected to make of the layout: the next, the last, and a partner."""
    rules, seat, features = public.rules, signed(public.turn), scratch.features
    _note_best_plays(rules, layout, unseen, scratch)
    following = next_seat(rules, seat)
    features[REPLY] = expected_best(public, following, unseen, scratch)
    if weights[STARVE] != 0:
        features[STARVE] = chance_stuck(public, following, unseen, scratch)
    if rules.players > 2 and weights[STARVE_LAST] != 0:
        last = signed(seat - 1 if seat > 0 else rules.players - 1)
        features[STARVE_LAST] = chance_stuck(public, last, unseen, scratch)
    if rules.sides < rules.players and weights[FEED] != 0:
        partner = (seat + rules.sides) % rules.players
        features[FEED] = expected_best(public, partner, unseen, scratch)


@inlined
def _copy_layout(source: Struct, target: Struct) -> None:
    target.total = source.total
    target.open = source.open
    target.spinner = source.spinner
    for pip in range(PIP_COUNT):
        target.plain[pip] = source.plain[pip]
        target.double[pip] = source.double[pip]


# --- Hands that are not seen


@inlined
def lacked_for_certain(public: Struct, seat: int) -> Mask:
    """The pips that a seat was shown to lack and cannot have drawn since, as a mask."""
    pips = np.uint16(0)
    if public.rules.draw != DRAW_UNTIL_PLAYABLE:
        return pips
    for pip in range(PIP_COUNT):
        if public.lack_ply[seat, pip] >= 0 and public.lack_draws[seat, pip] == public.draws[seat]:
            pips |= np.uint16(1) << np.uint16(pip)
    return pips & ALL_PIPS


@inlined
def _note_best_plays(rules: Struct, layout: Struct, unseen: Mask, scratch: Struct) -> None:
    """Note what each unseen tile could score on a layout, or that it does not fit."""
    suits = SUITS_OF[open_pips(layout)]
    while unseen:
        tile = lowest_bit(unseen)
        unseen &= unseen - ONE
        fits = suits >> np.uint32(tile) & ONE
        scratch.best[tile] = best_with(rules, layout, tile) if fits else -1


@inlined
def best_with(rules: Struct, layout: Struct, tile: int) -> int:
    """The most that a tile can score on a layout, in fives."""
    best, ends = 0, layout.open
    while ends:
        end = lowest_bit(ends)
        ends &= ends - np.uint16(1)
        if SUIT_OF_END[end] >> np.uint32(tile) & ONE:
            best = max(best, signed(FIVES[rules.multiple, total_after(layout, PLAY[end, tile])]))
    return min(best, MOST_FIVES - 1)


@inlined
def expected_best(public: Struct, seat: int, unseen: Mask, scratch: Struct) -> float:
    """What a seat's best play is expected to score, on the layout that was looked at.

    The chance that none of the c tiles worth s or more is in a hand of n out of u tiles is
    C(u - c, n) / C(u, n).
    """
    pool, most = unseen & ~SUITS_OF[lacked_for_certain(public, seat)], 0
    tiles = signed(bit_count(pool))
    scratch.often[:] = 0
    while pool:
        best = max(0, scratch.best[lowest_bit(pool)])
        pool &= pool - ONE
        scratch.often[best] += 1
        most = max(most, best)
    expected, at_least = 0.0, 0
    for fives in range(most, 0, -1):
        at_least += scratch.often[fives]
        expected += 1 - _chance_of_none(tiles, at_least, signed(public.sizes[seat]))
    return expected


@inlined
def chance_stuck(public: Struct, seat: int, unseen: Mask, scratch: Struct) -> float:
    """The chance that nothing in a seat's hand fits the layout that was looked at."""
    pool, fitting = unseen & ~SUITS_OF[lacked_for_certain(public, seat)], 0
    tiles = signed(bit_count(pool))
    while pool:
        fitting += scratch.best[lowest_bit(pool)] >= 0
        pool &= pool - ONE
    return _chance_of_none(tiles, fitting, signed(public.sizes[seat]))


@inlined
def _chance_of_none(tiles: int, wanted: int, size: int) -> float:
    """The chance that a hand of some tiles has none of those that are wanted."""
    none = 1.0
    for k in range(size):
        none *= max(0, tiles - wanted - k) / max(1, tiles - k)
    return none
