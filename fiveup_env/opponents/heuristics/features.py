"""The features of an action, whose weighted sum is its value to a heuristic.

Features are in points on the cribbage scale (pips in fives). They are computed from what the seat
to move sees: the public part of the game, its hand, and which tiles are unseen. Another hand is
taken to be any set, of that hand's size, of the unseen tiles without the pips that its seat was
shown to lack.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, TypeAlias

import numpy as np

from fiveup_env.engine.chance import chance_below
from fiveup_env.engine.layout import (
    ALL_PIPS,
    DOUBLE_OF,
    attach,
    open_pips,
    total_after,
    total_without,
)
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.scoring import FIVES, MAX_TOTAL
from fiveup_env.engine.state import LAYOUT, ONE, all_tiles, next_seat
from fiveup_env.native import (
    Array,
    Entries,
    Mask,
    Struct,
    Word,
    bit_count,
    inlined,
    inner,
    lowest_bit,
    signed,
)
from fiveup_env.rules.actions import ACTION_SHOWS, ACTION_TILE, DRAW, PASS, PLAY
from fiveup_env.rules.fields import DRAW_UNTIL_PLAYABLE, MAX_MULTIPLE, MAX_PLAYERS
from fiveup_env.rules.tiles import MAX_PIP, PIP_COUNT, SUITS_OF, TILE_COUNT, TILE_PIPS

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
MOST_SHOWN: Final = 2 * MAX_PIP  # by a double
MULTIPLES: Final = range(MAX_MULTIPLE + 1)
PIPS_A_POINT: Final = 5.0
EQUAL: Final = 1e-9  # values that differ by less are equal
EVERY_FEATURE: Final = np.ones(len(FEATURE_NAMES))  # weights that ask for all of them
# FIRST_FIVES[multiple, total]: the least that a total may score once more is shown.
FIRST_FIVES: Final = np.array(
    [[-(-total // max(1, multiple)) for total in range(MAX_TOTAL + 1)] for multiple in MULTIPLES],
    np.int16,
)
# SHOWING[end, shown]: the tiles that show so much if they are set on an end.
SHOWING: Final = np.zeros((2 * PIP_COUNT, MOST_SHOWN + MAX_MULTIPLE), np.uint32)
for _end, _tile in np.argwhere(PLAY >= 0):
    SHOWING[_end, ACTION_SHOWS[PLAY[_end, _tile]]] |= ONE << np.uint32(_tile)
# SCORES_OF_AN_END[multiple]: how many scores tiles may make on an end.
SCORES_OF_AN_END: Final = np.array([1 + MOST_SHOWN // max(1, each) for each in MULTIPLES])
# HANDS[tiles, size]: the number of hands of that size that can be drawn from that many tiles.
HANDS: Final = np.array(
    [[math.comb(tiles, size) for size in range(TILE_COUNT + 1)] for tiles in range(TILE_COUNT + 1)],
    np.float64,
)

# Scratch memory, allocated once for many decisions.
SCRATCH = np.dtype(
    [
        ("layout", LAYOUT),  # the layout after the action in question
        ("actions", np.int64, (PASS + 1,)),
        ("lacked", np.uint32, (MAX_PLAYERS,)),  # the tiles that each seat was shown to lack
        ("most", np.int64),  # the most points that any unseen tile can score there
        ("scoring", np.uint32, (MOST_FIVES,)),  # those that can score this much, up to the most
        ("features", np.float64, (len(FEATURE_NAMES),)),  # of the action, in the order of FEATURES
    ],
    align=True,
)
Scratches: TypeAlias = Annotated[np.ndarray, Entries(SCRATCH)]


@inlined
def unseen_by(public: Struct, hand: Mask) -> Mask:
    """Return the tiles that a seat with this hand does not see: other hands and the boneyard."""
    mask = all_tiles(public.rules) & ~hand
    for ply in range(public.plies):
        mask &= ~(ONE << np.uint32(ACTION_TILE[public.play_action[ply]]))
    return mask


@inner
def best_action(public: Struct, hand: Mask, weights: Array, scratch: Struct, key: Word) -> int:
    """Return the best action of the seat to move by some weights; ties are broken at random.

    A draw is chosen only where nothing can be played, even if the rules allow it elsewhere.
    """
    count = list_legal(public, hand, scratch.actions)
    best, chosen, equals = -1e9, scratch.actions[0], 0
    if count == 1:
        return signed(chosen)
    unseen = look_around(public, hand, weights, scratch)
    for k in range(count):
        action = scratch.actions[k]
        if action >= DRAW:
            continue
        value = value_of(public, hand, unseen, action, weights, scratch)
        taken, best, equals = is_taken(value, best, equals, key, public.plies, action)
        if taken:
            chosen = action
    return signed(chosen)


@inlined
def is_taken(
    value: float, best: float, equals: int, key: Word, plies: int, action: int
) -> tuple[bool, float, int]:
    """Return whether an action replaces the one chosen so far, the best value, and its equals."""
    if value <= best - EQUAL:
        return False, best, equals
    if value > best + EQUAL:
        best, equals = value, 0
    equals += 1
    return chance_below(key, plies * (PASS + 1) + signed(action), equals) == 0, best, equals


@inlined
def _points_only(weights: Array) -> bool:
    return weights[REPLY] == 0 and weights[PIPS] == 0


@inlined
def look_around(public: Struct, hand: Mask, weights: Array, scratch: Struct) -> Mask:
    """Return the tiles that a seat does not see, and note those that each seat was shown to lack.

    This is done once before `write_features`, and not at all if the weights do not ask for it.
    """
    if _points_only(weights):
        return np.uint32(0)
    for seat in range(public.rules.players):
        scratch.lacked[seat] = SUITS_OF[lacked_for_certain(public, seat)]
    return unseen_by(public, hand)


@inlined
def value_of(
    public: Struct, hand: Mask, unseen: Mask, action: int, weights: Array, scratch: Struct
) -> float:
    """Return the weighted sum of an action's features."""
    if _points_only(weights):
        return weights[POINTS] * FIVES[public.rules.multiple, total_after(public.layout, action)]
    write_features(public, hand, unseen, action, weights, scratch)
    return weighted(weights, scratch)


@inlined
def weighted(weights: Array, scratch: Struct) -> float:
    """Return the weighted sum of the features in `scratch`."""
    value = 0.0
    for name in range(len(FEATURE_NAMES)):
        value += weights[name] * scratch.features[name]
    return value


@inner
def write_features(
    public: Struct, hand: Mask, unseen: Mask, action: int, weights: Array, scratch: Struct
) -> None:
    """Write the features of an action, at least those with a weight, into `scratch.features`.

    `look_around` comes first: what it notes is the same for all actions.
    """
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
        features[FOLLOW] = best_of(rules, layout, kept)
    _write_expectations(public, layout, unseen, suits, weights, scratch)


@inlined
def _write_expectations(
    public: Struct, layout: Struct, unseen: Mask, suits: Mask, weights: Array, scratch: Struct
) -> None:
    """Write the features that depend on unseen hands: of the neighbours and of a partner.

    `suits` are all tiles that fit the layout.
    """
    rules, seat, features = public.rules, signed(public.turn), scratch.features
    _note_plays(rules, layout, unseen, scratch)
    following = next_seat(rules, seat)
    if weights[REPLY] != 0:
        features[REPLY] = expected_best(public, following, unseen, scratch)
    if weights[STARVE] != 0:
        features[STARVE] = chance_stuck(public, following, unseen, suits, scratch)
    if rules.players > 2 and weights[STARVE_LAST] != 0:
        last = signed(seat - 1 if seat > 0 else rules.players - 1)
        features[STARVE_LAST] = chance_stuck(public, last, unseen, suits, scratch)
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
    """Return the pips that a seat was shown to lack and cannot have drawn since, as a mask."""
    pips = np.uint16(0)
    if public.rules.draw != DRAW_UNTIL_PLAYABLE:
        return pips
    for pip in range(PIP_COUNT):
        if public.lack_ply[seat, pip] >= 0 and public.lack_draws[seat, pip] == public.draws[seat]:
            pips |= np.uint16(1) << np.uint16(pip)
    return pips & ALL_PIPS


@inlined
def _note_plays(rules: Struct, layout: Struct, unseen: Mask, scratch: Struct) -> None:
    """Write which unseen tiles can score how much on a layout."""
    most, ends = 0, layout.open
    scratch.scoring[:] = 0
    while ends:
        end = lowest_bit(ends)
        ends &= ends - np.uint16(1)
        points, shown = _first_score(rules, layout, end)
        for _ in range(SCORES_OF_AN_END[rules.multiple]):
            tiles = unseen & SHOWING[end, shown]
            scratch.scoring[points] |= tiles
            most = max(most, points if tiles else 0)
            points, shown = _next_score(rules, points, shown)
    scratch.most = most


@inlined
def best_of(rules: Struct, layout: Struct, tiles: Mask) -> int:
    """Return the most points that any of some tiles can score on a layout."""
    best, ends = 0, layout.open
    while ends:
        end = lowest_bit(ends)
        ends &= ends - np.uint16(1)
        points, shown = _first_score(rules, layout, end)
        for _ in range(SCORES_OF_AN_END[rules.multiple]):
            best = max(best, points if tiles & SHOWING[end, shown] else 0)
            points, shown = _next_score(rules, points, shown)
    return best


@inlined
def _first_score(rules: Struct, layout: Struct, end: int) -> tuple[int, int]:
    """Return the least that a tile may score on an end, if not 0, and what it shows then."""
    total = total_without(layout, end)
    points = signed(FIRST_FIVES[rules.multiple, total])
    return min(points, MOST_FIVES - 1), points * rules.multiple - total


@inlined
def _next_score(rules: Struct, points: int, shown: int) -> tuple[int, int]:
    return min(points + 1, MOST_FIVES - 1), shown + rules.multiple


@inlined
def expected_best(public: Struct, seat: int, unseen: Mask, scratch: Struct) -> float:
    """Return the points that a seat's best play is expected to score, by what `scratch` notes."""
    pool, size = unseen & ~scratch.lacked[seat], signed(public.sizes[seat])
    tiles, wanted, none = signed(bit_count(pool)), np.uint32(0), 0.0
    hands = max(1.0, HANDS[tiles, size])
    for points in range(scratch.most, 0, -1):
        wanted |= pool & scratch.scoring[points]
        none += HANDS[tiles - signed(bit_count(wanted)), size] if wanted else hands
    return scratch.most - none / hands


@inlined
def chance_stuck(public: Struct, seat: int, unseen: Mask, suits: Mask, scratch: Struct) -> float:
    """Return the chance that a seat's hand holds none of the tiles that fit, `suits`."""
    pool = unseen & ~scratch.lacked[seat]
    fitting = signed(bit_count(pool & suits))
    return _chance_of_none(signed(bit_count(pool)), fitting, signed(public.sizes[seat]))


@inlined
def _chance_of_none(tiles: int, wanted: int, size: int) -> float:
    """Return the chance that a hand of `size` of the tiles holds none of the wanted ones."""
    return HANDS[tiles - wanted, size] / max(1.0, HANDS[tiles, size])
