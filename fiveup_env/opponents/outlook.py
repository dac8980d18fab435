"""What a score is worth: the chance to win the game from there, when a hand has ended.

A table for every set of rules, by what two sides have to go: some thousand hands of greedy players
say what a hand may bring to the side that leads it and to its best rival, and whose lead comes
next; the chances to win follow from themselves, score by score. Where there are more than two sides
the chance is that of being ahead of the best of them.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from fiveup_env.engine.compiled import Array, Struct, compiled, inlined, signed
from fiveup_env.engine.state import DOMINO, GAME_OVER, NOBODY, side_of
from fiveup_env.opponents.ladder import weights_of
from fiveup_env.opponents.playouts import first_hands, margin_of, play_hands
from fiveup_env.rules.fields import MAX_TARGET, RULES

HANDS = 3_000
SEED = 1_000_000_000
FARTHEST = 120  # from farther away, both sides are moved closer by as much
SWEEPS = 8

# What a hand brought to the side that led it, to its best rival, and who leads next: 1 the same
# side, 0 another, NOBODY the lot.
HAND = np.dtype([("own", np.int64), ("rival", np.int64), ("leads", np.int64)])


def outlook_of(rules: np.ndarray) -> np.ndarray:
    """The chances of the side that leads the next hand: by its points to go, then the rival's."""
    return _outlook(rules.item())


@cache
def _outlook(fields: tuple[int, ...]) -> np.ndarray:
    endless = np.array(fields, RULES)
    endless["target"], endless["exact_target"] = MAX_TARGET, False
    games = first_hands(endless, np.arange(SEED, SEED + HANDS, dtype=np.uint64))
    greedy = weights_of("greedy")
    play_hands(games, 0, greedy, greedy, np.uint64(SEED))
    hands = np.zeros(HANDS, HAND)
    sum_up(games, hands)
    kinds, often = np.unique(hands, return_counts=True)
    chances = np.full((FARTHEST + 1, FARTHEST + 1), 0.5)
    settle(kinds, often / HANDS, chances)
    return chances


@compiled
def sum_up(games: Array, hands: Array) -> None:
    """What each hand brought."""
    for i in range(len(games)):
        public, rules = games[i].public, games[i].public.rules
        leader = side_of(rules, public.lead)
        hands[i].own = public.scores[leader] // rules.unit
        hands[i].rival = best_rival(public, leader) // rules.unit
        hands[i].leads = NOBODY
        if public.ended == DOMINO:
            hands[i].leads = side_of(rules, public.turn) == leader


@compiled
def settle(hands: Array, often: Array, chances: Array) -> None:
    """Let the chances follow from one another until they stand."""
    for _ in range(SWEEPS):
        for total in range(2, 2 * len(chances) - 1):
            for own in range(max(1, total - len(chances) + 1), min(total, len(chances))):
                chance = 0.0
                for k in range(len(hands)):
                    left, right = own - hands[k].own, total - own - hands[k].rival
                    if min(left, right) <= 0 and left != right:
                        chance += often[k] * (left < right)
                    else:
                        chance += often[k] * chance_from(chances, left, right, hands[k].leads)
                chances[own, total - own] = chance


@inlined
def chance_from(chances: Array, own: int, rival: int, leads: int) -> float:
    """The chance to win with so much to go, where one leads next (1), a rival (0) or by lot."""
    shift = max(0, max(own, rival) - (len(chances) - 1))
    own, rival = max(1, own - shift), max(1, rival - shift)
    if leads == 1:
        return float(chances[own, rival])
    if leads == 0:
        return 1 - chances[rival, own]
    return (1 + chances[own, rival] - chances[rival, own]) / 2


def outlooks_of(views: np.ndarray, aim: str) -> tuple[np.ndarray, np.ndarray]:
    """The chances to win by the rules of some views, and which of them is each view's.

    There are none where the aim is the hand: then its points are what counts.
    """
    if aim == "hand":
        return np.zeros((1, 0, 0)), np.zeros(len(views), np.int64)
    rules, which = np.unique(views["public"]["rules"], return_inverse=True)
    return np.stack([outlook_of(one) for one in rules]), which


@inlined
def worth_of(public: Struct, before: Struct, side: int, chances: Array) -> float:
    """What a hand's end is worth to a side: its chance to win the game, or the points it won."""
    if chances.size == 0:
        return margin_of(public, side) - margin_of(before, side)
    return chance_to_win(public, side, chances)


@inlined
def chance_to_win(public: Struct, side: int, chances: Array) -> float:
    """A side's chance to win the game, its hand or the game itself being over."""
    rules = public.rules
    if public.phase == GAME_OVER:
        return 1.0 if public.winner == side else 0.0
    leads = NOBODY
    if public.ended == DOMINO:
        leads = signed(side_of(rules, public.turn) == side)
    return chance_by_score(public, side, leads, chances)


@inlined
def chance_by_score(public: Struct, side: int, leads: int, chances: Array) -> float:
    """A side's chance to win by the scores, where it leads next (1), a rival (0) or the lot."""
    rules = public.rules
    own = rules.target - public.scores[side]
    rival = rules.target - best_rival(public, side)
    return chance_from(chances, -(-own // rules.unit), -(-rival // rules.unit), leads)


@inlined
def best_rival(public: Struct, side: int) -> int:
    """The score of the best of the other sides."""
    best = -(1 << 30)
    for other in range(public.rules.sides):
        if other != side:
            best = max(best, signed(public.scores[other]))
    return best
