"""The outlook: the chance to win the game from the scores at the end of a hand.

Every set of rules has a grid of chances, indexed by the points that two sides still need. Some
thousands of hands between equal players estimate what a hand brings to the side that leads it and
to its best rival, and who leads next. The chances then follow from one another, score by score.
With more than two sides, the chance is that of finishing ahead of the best of the others.

The hands are those of `partner`. The standard error, for `five_up` and up to 61 points to go, is
0.25 percentage points, and at most 0.51.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Final, TypeAlias

import numpy as np

from fiveup_env.engine.chance import deal
from fiveup_env.engine.play import begin_hand, next_leader
from fiveup_env.engine.state import GAME, GAME_OVER, NOBODY, Games, ManyRules, side_of
from fiveup_env.native import (
    Array,
    DoubleRows,
    Doubles,
    Entries,
    Struct,
    Word,
    compiled,
    inlined,
    inner,
    read_only,
    signed,
)
from fiveup_env.opponents.heuristics.features import SCRATCH
from fiveup_env.opponents.heuristics.ladder import weights_of
from fiveup_env.opponents.search.playouts import margin_of, play_out
from fiveup_env.rules.fields import MAX_TARGET, RULES

SEED = 1_000_000_000
FARTHEST = 120  # from farther away, both sides are moved closer by the same amount
GRIDS_KEPT = 1000  # at 120 kB each: a server may be asked about any number of rules


PLAYERS: Final = "partner"  # the heuristic in all seats
HANDS: Final = 10_000
SWEEPS: Final = 200  # at most; the chances are computed from one another once in each
SETTLED: Final = 5e-4  # the largest change in a sweep that is small enough to stop
AIMS: Final = ("game", "hand")  # what a search may aim at: the chance to win, or points

# What a hand brought to the side that led it and to its best rival, in points; and the chances of
# such a hand after which the same side leads the next one, and after which another does.
HAND = np.dtype(
    [("own", np.int64), ("rival", np.int64), ("leads", np.float64), ("follows", np.float64)]
)
Hands: TypeAlias = Annotated[np.ndarray, Entries(HAND)]


def outlook_of(rules: np.ndarray) -> np.ndarray:
    """Return the chances of the side that leads next, by its points to go, then the rival's.

    They are read-only, as all share them.
    """
    return _outlook(rules.item())


@lru_cache(GRIDS_KEPT)
def _outlook(fields: tuple[int, ...]) -> np.ndarray:
    return read_only(make_outlook(fields, HANDS, SEED))


def make_outlook(fields: tuple[int, ...], count: int, seed: int) -> np.ndarray:
    """Return the chances as estimated from `count` hands, whose seeds count up from `seed`."""
    games = np.zeros(count, GAME)
    first_games(np.array([fields], RULES), 0, seed, games)
    chances = np.empty((FARTHEST + 1, FARTHEST + 1))
    fill_outlook(games, weights_of(PLAYERS), np.uint64(seed), np.zeros(count, HAND), chances)
    return chances


@compiled
def first_games(rules: ManyRules, i: int, seed: int, games: Games) -> None:
    """Write games without an end, to be dealt yet, by rules and seeds that count up."""
    for k in range(len(games)):
        public = games[k].public
        public.rules = rules[i]
        public.rules.target, public.rules.exact_target = MAX_TARGET, 0
        games[k].seed = np.uint64(seed + k)


@compiled
def fill_outlook(
    games: Games, weights: Doubles, key: Word, hands: Hands, chances: DoubleRows
) -> None:
    """Play the first hand of every game, and write the chances that follow from them."""
    scratch = np.zeros(1, SCRATCH)
    for i in range(len(games)):
        begin_hand(games[i], deal(games[i]))
        play_out(games[i], weights, scratch[0], key + np.uint64(i))
    sum_up(games, hands)
    kinds = hands[: gather(hands)]
    for own in range(len(chances)):
        for rival in range(len(chances)):
            near, far = float(max(1, own)) ** 3, float(max(1, rival)) ** 3
            chances[own, rival] = far / (near + far)  # the first guess
    for _ in range(SWEEPS):
        if sweep(kinds, chances) <= SETTLED:
            break


@inlined
def gather(hands: Array) -> int:
    """Put hands that brought the same into one, in ascending order; return how many are left.

    Each then has the share of all hands that were like it and after which the same side leads.
    """
    kinds = 0
    for i in range(len(hands)):
        own, rival, leads, follows = hands[i].own, hands[i].rival, hands[i].leads, hands[i].follows
        k, end = 0, kinds
        while k < end:
            middle = (k + end) // 2
            other = hands[middle]
            if other.own < own or (other.own == own and other.rival < rival):
                k = middle + 1
            else:
                end = middle
        if k < kinds and hands[k].own == own and hands[k].rival == rival:
            hands[k].leads += leads
            hands[k].follows += follows
            continue
        for j in range(kinds, k, -1):
            hands[j] = hands[j - 1]
        hands[k].own, hands[k].rival, hands[k].leads, hands[k].follows = own, rival, leads, follows
        kinds += 1
    for k in range(kinds):
        hands[k].leads /= len(hands)
        hands[k].follows /= len(hands)
    return kinds


@inner
def sum_up(games: Array, hands: Array) -> None:
    """Write the result of each hand, as HAND structs."""
    for i in range(len(games)):
        public, rules = games[i].public, games[i].public.rules
        leader = side_of(rules, public.lead)
        hands[i].own = public.scores[leader] // rules.unit
        hands[i].rival = best_rival(public, leader) // rules.unit
        leads = leads_next(public, leader)
        hands[i].leads = 0.5 if leads == NOBODY else float(leads)
        hands[i].follows = 1 - hands[i].leads


@inner
def sweep(hands: Array, chances: Array) -> float:
    """Compute the chances from one another, once each; return the largest change."""
    change = 0.0
    for total in range(2, 2 * len(chances) - 1):
        for own in range(max(1, total - len(chances) + 1), min(total, len(chances))):
            chance = 0.0
            for k in range(len(hands)):
                leads, follows = hands[k].leads, hands[k].follows
                left, right = own - hands[k].own, total - own - hands[k].rival
                if min(left, right) <= 0 and left != right:
                    chance += (leads + follows) * (left < right)
                else:
                    chance += leads * chance_from(chances, left, right, 1)
                    chance += follows * chance_from(chances, left, right, 0)
            change = max(change, abs(chance - chances[own, total - own]))
            chances[own, total - own] = chance
    return change


@inlined
def chance_from(chances: Array, own: int, rival: int, leads: int) -> float:
    """Return a side's chance to win, by the points that it and its rival still need.

    `leads` is 1 if the side leads next, 0 if a rival does, and NOBODY if the lot decides.
    """
    shift = max(0, max(own, rival) - (len(chances) - 1))
    own, rival = max(1, own - shift), max(1, rival - shift)
    if leads == 1:
        return float(chances[own, rival])
    if leads == 0:
        return 1 - chances[rival, own]
    return (1 + chances[own, rival] - chances[rival, own]) / 2


def outlooks_of(views: np.ndarray, aim: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a grid of chances per set of rules among the views, and the index of each view's grid.

    With aim "hand" the one grid is empty: then the points of the hand are what counts. All are
    read-only, so that compiled code takes them for the same type.
    """
    if aim == "hand" or not len(views):
        return read_only(np.zeros((1, 0, 0))), np.zeros(len(views), np.int64)
    rules = views["public"]["rules"]
    if len(rules) == 1 or (rules == rules[0]).all():  # sorting structs takes long
        return outlook_of(rules[0])[None], np.zeros(len(views), np.int64)
    rules, table_indices = np.unique(rules, return_inverse=True)
    return read_only(np.stack([outlook_of(one) for one in rules])), table_indices


@inlined
def hand_value(public: Struct, before: Struct, side: int, chances: Array) -> float:
    """Return the value of a hand's end to a side: its chance to win the game, or points won."""
    if chances.size == 0:
        return margin_of(public, side) - margin_of(before, side)
    return chance_to_win(public, side, chances)


@inlined
def chance_to_win(public: Struct, side: int, chances: Array) -> float:
    """Return a side's chance to win the game once the hand, or the game itself, is over."""
    if public.phase == GAME_OVER:
        return 1.0 if public.winner == side else 0.0
    return chance_by_score(public, side, leads_next(public, side), chances)


@inlined
def leads_next(public: Struct, side: int) -> int:
    """Return 1 if a side leads the next hand, 0 if a rival does, and NOBODY if the lot decides."""
    seat = next_leader(public)
    return NOBODY if seat == NOBODY else signed(side_of(public.rules, seat) == side)


@inlined
def chance_by_score(public: Struct, side: int, leads: int, chances: Array) -> float:
    """Return a side's chance to win by the scores.

    `leads` is as in `chance_from`: 1 if the side leads next, 0 if a rival does, else NOBODY.
    """
    rules = public.rules
    own = rules.target - public.scores[side]
    rival = rules.target - best_rival(public, side)
    return chance_from(chances, -(-own // rules.unit), -(-rival // rules.unit), leads)


@inlined
def best_rival(public: Struct, side: int) -> int:
    """Return the highest score among the other sides."""
    best = -(1 << 30)
    for other in range(public.rules.sides):
        if other != side:
            best = max(best, signed(public.scores[other]))
    return best
