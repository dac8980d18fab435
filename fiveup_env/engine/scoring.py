"""Points: what a play scores, and what the end of a hand brings (RULES.md, sections 1, 3 and 4).

Points are first counted on the cribbage scale, one for each five (in general, for each `multiple`),
and then times the `unit`. The code calls the number on the cribbage scale fives.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.state import DOMINO, GAME_OVER, HAND_OVER, NOBODY, ONE, side_of
from fiveup_env.native import Mask, Struct, inlined, inner, lowest_bit
from fiveup_env.rules.fields import (
    ARMANINO,
    MAX_MULTIPLE,
    PAY_DIFFERENCE,
    ROUND_ALL,
    ROUND_HAND,
    SUBTRACT_OWN,
)
from fiveup_env.rules.tiles import TILE_PIPS

# FIVES[multiple][total]: the points of a total on the cribbage scale. No total is larger than all
# pips of the set, even with every double counted as an end.
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


@inlined
def gain(public: Struct, side: int, fives: int) -> int:
    """Add fives to a side's score and return the points added: none past an exact target."""
    points = fives * public.rules.unit
    if (
        points > 0
        and public.rules.exact_target
        and public.scores[side] + points > public.rules.target
    ):
        return 0
    public.scores[side] += points
    return points


@inner
def rounded(pips: int, multiple: int) -> int:
    """Return the number of fives nearest to some pips."""
    return (pips + (multiple - 1) // 2) // multiple


@inner
def pips_of(hand: Mask) -> int:
    """Return the pips in a hand."""
    pips = 0
    while hand:
        pips += TILE_PIPS[lowest_bit(hand)]
        hand &= hand - ONE
    return pips


@inner
def pips_of_side(game: Struct, side: int) -> int:
    """Return the pips left in a side's hands."""
    pips = 0
    for seat in range(side, game.public.rules.players, game.public.rules.sides):
        pips += pips_of(game.hands[seat])
    return pips


@inner
def end_hand(game: Struct, ended: int) -> None:
    """Score the end of the hand, and end the game if a side has won."""
    public, rules = game.public, game.public.rules
    public.ended = ended
    if rules.hand_end == SUBTRACT_OWN:
        _subtract_own(game)
    elif ended == DOMINO:
        _pay_for_domino(game)
    else:
        _pay_for_block(game)
    for side in range(rules.sides):
        public.end_points[side] = gain(public, side, public.end_points[side])
    best, at_top = public.scores[0], 0
    for side in range(rules.sides):
        if public.scores[side] > best:
            best, at_top = public.scores[side], 0
        if public.scores[side] == best:
            at_top += 1
            public.winner = side
    if best >= rules.target and at_top == 1:
        public.phase = GAME_OVER
    else:
        public.phase = HAND_OVER
        public.winner = NOBODY


@inner
def _fives_of_side(game: Struct, side: int) -> int:
    """Return the pips left in a side's hands, in fives: each hand rounded by itself, or the sum."""
    rules = game.public.rules
    if rules.round_per != ROUND_HAND:
        return rounded(pips_of_side(game, side), rules.multiple)
    fives = 0
    for seat in range(side, rules.players, rules.sides):
        fives += rounded(pips_of(game.hands[seat]), rules.multiple)
    return fives


@inner
def _fives_of_others(game: Struct, winner: int) -> int:
    """Return the pips left in the hands of all sides but one, in fives."""
    rules = game.public.rules
    pips, fives = 0, 0
    for side in range(rules.sides):
        if side != winner:
            pips += pips_of_side(game, side)
            fives += _fives_of_side(game, side)
    return rounded(pips, rules.multiple) if rules.round_per == ROUND_ALL else fives


@inner
def _subtract_own(game: Struct) -> None:
    """Take from every side the rounded pips that it holds."""
    for side in range(game.public.rules.sides):
        game.public.end_points[side] = -_fives_of_side(game, side)


@inlined
def _armanino_of_three(rules: Struct) -> bool:
    """Return whether Armanino's scoring has its own way of paying here: it has for three sides."""
    return bool(rules.hand_end == ARMANINO and rules.sides == 3)


@inner
def _pay_for_domino(game: Struct) -> None:
    """Pay the side that went out for what the others hold, and what Armanino adds to that."""
    public, rules = game.public, game.public.rules
    winner = side_of(rules, public.turn)
    public.end_points[winner] = _fives_of_others(game, winner)
    if _armanino_of_three(rules):
        second, third = (winner + 1) % 3, (winner + 2) % 3
        gap = pips_of_side(game, third) - pips_of_side(game, second)
        public.end_points[second if gap > 0 else third] = rounded(abs(gap), rules.multiple)


@inner
def _pay_for_block(game: Struct) -> None:
    """Pay the side with the fewest pips for what the others hold, or two of three that tie.

    A difference is one number and is rounded as one, whatever `round_per` says.
    """
    public, rules = game.public, game.public.rules
    points, multiple = public.end_points, rules.multiple
    everything, fewest, winner, tied = 0, pips_of_side(game, 0), 0, 0
    for side in range(rules.sides):
        pips = pips_of_side(game, side)
        everything += pips
        if pips < fewest:
            fewest, winner, tied = pips, side, 0
        if pips == fewest:
            tied += 1
    armanino = _armanino_of_three(rules)
    if tied == 1:
        if armanino or rules.block_pays == PAY_DIFFERENCE:
            points[winner] = rounded(everything - 2 * fewest, multiple)
        else:
            points[winner] = _fives_of_others(game, winner)
    elif tied == 2 and rules.sides == 3 and not armanino:
        third = everything - 2 * fewest
        for side in range(rules.sides):
            if pips_of_side(game, side) == fewest:
                points[side] = (third + multiple - 1) // (2 * multiple)
