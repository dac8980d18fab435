"""How likely the others' moves are in a world, exactly: what a known policy tells of their tiles.

The others play a heuristic: the action with the highest weighted sum of features, with ties broken
at random. A world in which another action had a higher sum is impossible; in all others a move has
the probability 1 / the number of equals. `narrow` rules out in advance what a player for points
alone cannot have held, because it would have played it.
"""

from __future__ import annotations

import numpy as np

from fiveup_env.belief.structs import BONEYARD
from fiveup_env.engine.compiled import Array, Mask, Struct, compiled, inlined, lowest_bit, signed
from fiveup_env.engine.layout import open_pips, total_after
from fiveup_env.engine.play import play
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import ONE, PUBLIC
from fiveup_env.opponents.features import POINTS, best_with, list_best
from fiveup_env.opponents.inference import go_back, made
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW
from fiveup_env.rules.tiles import SUITS_OF, TILE_COUNT, TILE_PIPS

# A move that another seat chose.
CHOICE = np.dtype(
    [
        ("public", PUBLIC),  # what everybody saw then
        ("action", np.int64),
        ("later", np.uint32),  # the tiles that the seat has set from this move on
        ("gone", np.uint32),  # the tiles that were on the table by then
        ("better", np.uint32),  # the tiles that it would have set instead, had it held them
        ("best", np.int64, (ACTION_COUNT,)),  # scratch memory
    ],
    align=True,
)


@compiled
def read_choices(world: Struct, seat: int, others: Array, past: Struct, choices: Array) -> int:
    """Note the moves that the other seats chose, and return how many they are.

    `world` is any world of what a seat sees now, `past` is scratch memory.
    """
    public, count, gone = world.public, 0, np.uint32(0)
    for_points = _plays_for_points(others)
    go_back(world, past)
    while past.public.plies < public.plies or past.public.drawn < public.drawn:
        action = made(past.public, public)
        if past.public.turn != seat:
            choice = choices[count]
            choice.public = past.public
            choice.action = action
            choice.gone = gone
            choice.better = np.uint32(0)
            if for_points and action < DRAW:
                choice.better = _better(past.public, action)
            choice.later = np.uint32(0)
            for ply in range(past.public.plies, public.plies):
                if public.play_seat[ply] == past.public.turn:
                    choice.later |= ONE << np.uint32(ACTION_TILE[public.play_action[ply]])
            count += 1
        if action < DRAW:
            gone |= ONE << np.uint32(ACTION_TILE[action])
        play(past, action)
    return count


@inlined
def _plays_for_points(weights: Array) -> bool:
    others = 0
    for name in range(len(weights)):
        others += name != POINTS and weights[name] != 0
    return bool(others == 0 and weights[POINTS] > 0)


@inlined
def _better(public: Struct, action: int) -> Mask:
    """Return the tiles that would have scored more than an action did."""
    better, rules = np.uint32(0), public.rules
    scored = FIVES[rules.multiple, total_after(public.layout, action)]
    if public.plies == 0:
        for tile in range(TILE_COUNT):
            if FIVES[rules.multiple, TILE_PIPS[tile]] > scored:
                better |= ONE << np.uint32(tile)
        return better if public.forced_lead < 0 else np.uint32(0)
    tiles = SUITS_OF[open_pips(public.layout)]
    while tiles:
        tile = signed(lowest_bit(tiles))
        tiles &= tiles - ONE
        if best_with(rules, public.layout, tile) > scored:
            better |= ONE << np.uint32(tile)
    return better


@compiled
def narrow(public: Struct, belief: Struct, choices: Array) -> None:
    """Rule out tiles that a seat would have set, in places that it had filled by then."""
    for g in range(belief.group_count):
        group, since = belief.groups[g], 0
        if group.size == 0 or belief.holder[belief.places[group.first]] == BONEYARD:
            continue
        for i in range(group.first, group.first + group.size):
            if belief.places[i] < belief.boneyard:
                since = max(since, signed(public.draw_ply[belief.places[i]]))
        for c in range(len(choices)):
            choice = choices[c]
            seat = choice.public.turn
            if seat == belief.holder[belief.places[group.first]] and choice.public.plies >= since:
                group.admits &= ~(choice.better & ~choice.gone)


@compiled
def likelihood(world: Struct, others: Array, choices: Array, scratch: Struct) -> float:
    """Return the probability of the moves that were chosen, in a world."""
    chance, public = 1.0, world.public
    for c in range(len(choices)):
        choice = choices[c]
        seat = choice.public.turn
        hand = world.hands[seat] | choice.later
        for k in range(choice.public.drawn, public.drawn):
            if public.draw_seat[k] == seat:
                hand &= ~(ONE << np.uint32(world.order[k]))
        equals, among = list_best(choice.public, hand, others, scratch, choice.best), False
        for k in range(equals):
            among |= choice.best[k] == choice.action
        if not among:
            return 0.0
        chance /= equals
    return chance
