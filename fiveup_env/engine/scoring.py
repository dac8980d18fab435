"""Points: what a play scores, and what the end of a hand brings (RULES.md, sections 1, 3 and 4).

Points are first counted on the cribbage scale, one for each five (in general, for each `multiple`),
and then times the `unit`. The code calls the number on the cribbage scale fives.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.engine.compiled import Mask, Struct, compiled, inlined, lowest_bit
from fiveup_env.engine.state import DOMINO, GAME_OVER, HAND_OVER, NOBODY, ONE, side_of
from fiveup_env.rules.fields import ARMANINO, MAX_MULTIPLE, ROUND_HAND, SUBTRACT_OWN
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


@compiled
def rounded(pips: int, multiple: int) -> int:
    """Return the number of fives nearest to some pips."""
    return (pips + (multiple - 1) // 2) // multiple


@compiled
def pips_of(hand: Mask) -> int:
    """Return the pips in a hand."""
    pips = 0
    while hand:
        pips += TILE_PIPS[lowest_bit(hand)]
        hand &= hand - ONE
    return pips


@compiled
def pips_of_side(game: Struct, side: int) -> int:
    """Return the pips left in a side's hands."""
    pips = 0
    for seat in range(side, game.public.rules.players, game.public.rules.sides):
        pips += pips_of(game.hands[seat])
    return pips


@compiled
def end_hand(game: Struct, ended: int) -> None:
    """Score the end of the hand, and end the game if a side has won."""
    public, rules = game.public, game.public.rules
    public.ended = ended
    if rules.hand_end == SUBTRACT_OWN:
        _subtract_own(game)
    else:
        _pay_winner(game)
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


@compiled
def _subtract_own(game: Struct) -> None:
    """Take from every side the rounded pips that it holds."""
    public, rules = game.public, game.public.rules
    for side in range(rules.sides):
        lost = 0
        if rules.round_per == ROUND_HAND:
            for seat in range(side, rules.players, rules.sides):
                lost += rounded(pips_of(game.hands[seat]), rules.multiple)
        else:
            lost = rounded(pips_of_side(game, side), rules.multiple)
        public.end_points[side] = -lost


@compiled
def _pay_winner(game: Struct) -> None:
    """Pay the side that went out, or holds the fewest pips, for what the others hold.

    Three sides have their own rules under Armanino's scoring and when two tie for the fewest.
    """
    public, rules = game.public, game.public.rules
    points, multiple = public.end_points, rules.multiple
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
    if public.ended == DOMINO:
        winner = side_of(rules, public.turn)
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
