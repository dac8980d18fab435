"""The likelihood of the others' moves in a world, by a model of a player.

The model chooses among the legal actions of a hand by a softmax of a weighted sum of features, but
for a share of moves that it makes at random. inference.json has its weights, which
`python -m agents.fitting.fitting` fits to the moves of strong players.

The model takes all tiles that are not on the table for equally unknown. So everything but the hand
is the same in every world, and is computed once for each move and tile: a world is weighed in about
a microsecond.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import numpy as np

from fiveup_env.engine.exponentials import exp, log
from fiveup_env.engine.layout import open_pips
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import play, restart_hand
from fiveup_env.engine.state import GAME, ONE, Games
from fiveup_env.native import (
    Array,
    Doubles,
    Entries,
    Mask,
    Struct,
    bit_count,
    compiled,
    inlined,
    inner,
    lowest_bit,
    read_only,
    signed,
)
from fiveup_env.opponents.heuristics.features import (
    CONTROL,
    EVERY_FEATURE,
    FEATURE_NAMES,
    FOLLOW,
    SCRATCH,
    look_around,
    write_features,
)
from fiveup_env.rules.actions import ACTION_COUNT, ACTION_TILE, DRAW, PASS
from fiveup_env.rules.fields import MAX_TARGET
from fiveup_env.rules.tiles import SUITS_OF, TILE_COUNT

MODEL_FILE: Final = Path(__file__).with_name("inference.json")

# One legal action of a seat that holds its tile.
OPTION = np.dtype(
    [
        ("worth", np.float64),  # the weighted sum of all features that are the same in every world
        ("tile", np.uint32),
        ("suits", np.uint32),  # the tiles that fit afterwards
        ("outside", np.int64),  # how many of them are not on the table
        ("best", np.int8, (TILE_COUNT,)),  # what each of them would score then
    ],
    align=True,
)

# A move that another seat chose.
CHOICE = np.dtype(
    [
        ("seat", np.int8),
        ("later", np.uint32),  # the tiles that it has set from this move on
        ("drawn", np.int8),  # how many tiles had been drawn by then, by all seats
        ("made", np.int64),  # the number of the option that it took
        ("first", np.int16, (TILE_COUNT + 1,)),  # by tile: the number of its first option
        ("fits", np.uint32),  # the tiles that have options
        ("options", OPTION, (ACTION_COUNT,)),
    ],
    align=True,
)

# Scratch memory of an inference.
INFERENCE = np.dtype(
    [
        ("past", GAME),
        ("features", SCRATCH),
        ("count", np.int64),
        ("choices", CHOICE, (TILE_COUNT,)),
    ],
    align=True,
)
Inferences: TypeAlias = Annotated[np.ndarray, Entries(INFERENCE)]

# How a model chooses.
MODEL = np.dtype(
    [
        ("weights", np.float64, (len(FEATURE_NAMES),)),
        ("lapse", np.float64),  # the share of moves made at random
        ("power", np.float64),  # of the likelihoods, which are not exact
    ],
    align=True,
)
Models: TypeAlias = Annotated[np.ndarray, Entries(MODEL)]


@cache
def shipped_model() -> np.ndarray:
    """Return the model that comes with the library, a read-only array of one MODEL struct."""
    kept, model = json.loads(MODEL_FILE.read_text()), np.zeros(1, MODEL)
    model["weights"] = [kept["weights"].get(name, 0.0) for name in FEATURE_NAMES]
    model["lapse"], model["power"] = kept["lapse"], kept["power"]
    return read_only(model)


def log_weights(view: np.ndarray, worlds: np.ndarray, model: np.ndarray) -> np.ndarray:
    """Return the log weights of worlds by the others' moves.

    Worlds are GAME structs at the moment of the view, an array of one VIEW struct.
    """
    logs = np.empty(len(worlds))
    if len(worlds):
        weigh_worlds(worlds, int(view["seat"][0]), model, np.zeros(1, INFERENCE), logs)
    return logs


@compiled
def weigh_worlds(
    worlds: Games, seat: int, model: Models, inference: Inferences, logs: Doubles
) -> None:
    """Write the log weight of each of the worlds of a seat's view."""
    read_choices(worlds[0], seat, model[0], inference[0])
    for w in range(len(worlds)):
        logs[w] = log_likelihood(worlds[w], model[0], inference[0])


@inner
def read_choices(world: Struct, seat: int, model: Struct, inference: Struct) -> None:
    """Note all that the moves of the others have in common in all worlds of a view.

    `world` is any of these worlds, a GAME struct at the moment of the view of a seat.
    """
    past, public = inference.past, world.public
    go_back(world, past)
    inference.count = 0
    viewed = world.hands[seat]
    for ply in range(public.plies):
        if public.play_seat[ply] == seat:
            viewed = np.uint32(viewed | ONE << np.uint32(ACTION_TILE[public.play_action[ply]]))
    while past.public.plies < public.plies:
        action, mover = made(past.public, public), signed(past.public.turn)
        if action < DRAW and mover != seat and past.public.sizes[mover] > 1:
            choice = inference.choices[inference.count]
            _note_choice(past.public, public, viewed, model, choice, inference.features)
            inference.count += choice.first[TILE_COUNT] > 1
        play(past, action)


@inlined
def go_back(world: Struct, past: Struct) -> None:
    """Write the game as it was when its hand began."""
    public = world.public
    past.public = public
    past.seed = world.seed
    for seat in range(len(past.hands)):
        past.hands[seat] = world.hands[seat]
    for k in range(TILE_COUNT):
        past.order[k] = world.order[k]
    for ply in range(public.plies):
        past.hands[public.play_seat[ply]] |= ONE << np.uint32(ACTION_TILE[public.play_action[ply]])
    for k in range(public.drawn):
        past.hands[public.draw_seat[k]] &= ~(ONE << np.uint32(past.order[k]))
    for side in range(len(past.public.scores)):  # so that no replayed play ends the game
        past.public.scores[side] = 0
    past.public.rules.target = MAX_TARGET
    restart_hand(past)


@inlined
def made(past: Struct, public: Struct) -> int:
    """Return the next action of the seat to move, by the public history."""
    k, ply = past.drawn, past.plies
    if k < public.drawn and public.draw_ply[k] == ply and public.draw_seat[k] == past.turn:
        return DRAW
    if ply < public.plies and public.play_seat[ply] == past.turn:
        return signed(public.play_action[ply])
    return PASS


@inlined
def _note_choice(
    past: Struct, public: Struct, viewed: Mask, model: Struct, choice: Struct, scratch: Struct
) -> None:
    """Note the options of the seat to move, whatever it may have held."""
    seat, action = past.turn, signed(public.play_action[past.plies])
    choice.seat, choice.drawn = seat, past.drawn
    choice.later = np.uint32(0)
    outside = look_around(past, np.uint32(0), EVERY_FEATURE, scratch)
    held = np.uint32(outside & ~viewed)  # of the type of a hand, for which functions are compiled
    for ply in range(past.plies, public.plies):
        tile = ONE << np.uint32(ACTION_TILE[public.play_action[ply]])
        if public.play_seat[ply] == seat:
            choice.later |= tile
        else:
            held = np.uint32(held & ~tile)
    choice.fits, last = np.uint32(0), -1
    count = list_legal(past, held, scratch.actions)
    _sort_by_tile(scratch.actions, count)
    n = 0
    for k in range(count):
        option = signed(scratch.actions[k])
        if option >= DRAW:
            continue
        own = signed(ACTION_TILE[option])
        for t in range(last + 1, own + 1):
            choice.first[t] = n
        last = own
        choice.fits |= ONE << np.uint32(own)
        if option == action:
            choice.made = n
        _note_option(past, held, outside, option, model, choice.options[n], scratch)
        n += 1
    for t in range(last + 1, TILE_COUNT + 1):
        choice.first[t] = n


@inlined
def _sort_by_tile(actions: Array, count: int) -> None:
    for k in range(1, count):
        action, j = actions[k], k
        while j > 0 and ACTION_TILE[actions[j - 1]] > ACTION_TILE[action]:
            actions[j] = actions[j - 1]
            j -= 1
        actions[j] = action


@inlined
def _note_option(
    past: Struct,
    held: Mask,
    outside: Mask,
    action: int,
    model: Struct,
    option: Struct,
    scratch: Struct,
) -> None:
    tile = ONE << np.uint32(ACTION_TILE[action])
    write_option_features(past, held, outside, action, scratch)
    option.worth = 0.0
    for name in range(len(FEATURE_NAMES)):
        if name not in (CONTROL, FOLLOW):  # which depend on the hand
            option.worth += model.weights[name] * scratch.features[name]
    option.tile = tile
    option.suits = SUITS_OF[open_pips(scratch.layout)]
    option.outside = signed(bit_count(outside & ~tile & option.suits))
    option.best[:] = 0
    for points in range(1, scratch.most + 1):
        scoring = scratch.scoring[points]
        while scoring:
            option.best[lowest_bit(scoring)] = points
            scoring &= scoring - ONE


@inlined
def write_option_features(
    public: Struct, hand: Mask, outside: Mask, action: int, scratch: Struct
) -> None:
    """Write the features of an action as the model sees them; `outside` is not on the table yet."""
    unseen = outside & ~(ONE << np.uint32(ACTION_TILE[action]))
    write_features(public, hand, unseen, action, EVERY_FEATURE, scratch)


@inner
def log_likelihood(world: Struct, model: Struct, inference: Struct) -> float:
    """Return the log weight of a world by the others' moves, times the model's power."""
    chance = 1.0
    for c in range(inference.count):
        choice = inference.choices[c]
        seat = choice.seat
        hand = world.hands[seat] | choice.later
        for k in range(choice.drawn, world.public.drawn):
            if world.public.draw_seat[k] == seat:
                hand &= ~(ONE << np.uint32(world.order[k]))
        chance *= _chance_of(choice, hand, model)
    return float(model.power * log(chance))


@inlined
def _chance_of(choice: Struct, hand: Mask, model: Struct) -> float:
    """Return the probability that a seat with some hand takes the option that it took."""
    count, total, taken = 0, 0.0, 0.0
    tiles = hand & choice.fits
    while tiles:
        tile = lowest_bit(tiles)
        tiles &= tiles - ONE
        for k in range(choice.first[tile], choice.first[tile + 1]):
            share = exp(_worth(choice.options[k], hand, model))
            total += share
            taken = share if k == choice.made else taken
            count += 1
    return (1 - model.lapse) * taken / total + model.lapse / count


@inlined
def _worth(option: Struct, hand: Mask, model: Struct) -> float:
    kept = hand & ~option.tile & option.suits
    mine, best = signed(bit_count(kept)), 0
    while kept:
        best = max(best, signed(option.best[lowest_bit(kept)]))
        kept &= kept - ONE
    control = mine / max(1, mine + option.outside)
    return float(option.worth + model.weights[CONTROL] * control + model.weights[FOLLOW] * best)
