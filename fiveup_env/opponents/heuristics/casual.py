"""`casual`: a rung of the ladder with the mistakes that people make.

It plays the best action of those that it notices, by what it takes them to score. Each mistake has
a chance of its own, and is drawn from the decision's key. With all chances at 0 it is its rung.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, TypeAlias

import numpy as np

from fiveup_env.checks import finite
from fiveup_env.engine.chance import chance_below, scramble
from fiveup_env.engine.layout import DOUBLE_OF, double_loses, playable, total_after
from fiveup_env.engine.legality import leads, list_legal
from fiveup_env.engine.scoring import FIVES
from fiveup_env.engine.state import ONE, ONE_SIDE, TWO_SIDES, Views
from fiveup_env.errors import AgentError, shown, unknown
from fiveup_env.native import (
    Array,
    Doubles,
    Entries,
    Int64s,
    Mask,
    Struct,
    Word,
    bit_count,
    compiled,
    inlined,
    inner,
    lowest_bit,
    signed,
)
from fiveup_env.opponents.agent import CompiledAgent
from fiveup_env.opponents.heuristics.features import (
    FEED,
    POINTS,
    REPLY,
    SCRATCH,
    STARVE,
    STARVE_LAST,
    Scratches,
    is_taken,
    look_around,
    value_of,
)
from fiveup_env.opponents.heuristics.ladder import LADDER, weights_of
from fiveup_env.rules.actions import ACTION_END, ACTION_PIP, ACTION_TILE, DRAW, PASS, PLAIN_END
from fiveup_env.rules.tiles import PIP_COUNT, TILE_COUNT

# The chance of each mistake.
MISTAKES = np.dtype(
    [
        ("tiles", np.float64),
        ("points", np.float64),
        ("doubles", np.float64),
        ("others", np.float64),
    ],
    align=True,
)
ManyMistakes: TypeAlias = Annotated[np.ndarray, Entries(MISTAKES)]
PARTS: Final = 1_000_000  # of a chance

# The numbers in a decision's stream by which each mistake is drawn: of a tile, an action, a pip.
_SALT: Final = np.uint64(0x4D495354414B4553)
_TILES: Final = 0
_ANY_TILE: Final = _TILES + TILE_COUNT
_POINTS: Final = _ANY_TILE + 1
_DOUBLES: Final = _POINTS + PASS + 1
_OTHERS: Final = _DOUBLES + PIP_COUNT


@dataclass(frozen=True)
class Casual(CompiledAgent):
    """Plays as a rung of the ladder would that overlooks and miscounts, as people do."""

    rung: str = field(default="defensive", metadata={"help": f"one of {', '.join(LADDER)}"})
    tiles: float = field(default=0.1, metadata={"help": "chance to overlook a tile of the hand"})
    points: float = field(default=0.2, metadata={"help": "chance to overlook what a play scores"})
    doubles: float = field(default=0.2, metadata={"help": "chance to count a double only once"})
    others: float = field(
        default=0.2, metadata={"help": "chance to forget the partner and who plays next"}
    )

    def __post_init__(self) -> None:
        """Raise AgentError if there is no such rung, or a chance is not one."""
        if self.rung not in LADDER:
            raise AgentError(unknown("rung of the ladder", self.rung, LADDER))
        for name in MISTAKES.names or ():
            chance = finite(getattr(self, name))
            if chance is None or not 0 <= chance <= 1:
                given = shown(getattr(self, name))
                raise AgentError(f"{name} of casual must be a chance from 0 to 1, not {given}")

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        actions, key = np.empty(len(views), np.int64), np.uint64(rng.integers(1 << 63))
        chances = np.array([tuple(getattr(self, name) for name in MISTAKES.names or ())], MISTAKES)
        choose_casually(views, key, weights_of(self.rung), chances, np.zeros(1, SCRATCH), actions)
        return actions


@compiled
def choose_casually(
    views: Views,
    key: Word,
    weights: Doubles,
    settings: ManyMistakes,
    scratch: Scratches,
    actions: Int64s,
) -> None:
    """Write the action for every view that looks best after some mistakes into `actions`."""
    minded, mistakes = np.empty(len(weights)), settings[0]
    for i in range(len(views)):
        own = scramble(key + np.uint64(i))
        for name in range(len(weights)):
            minded[name] = weights[name]
        if _happens(scramble(own ^ _SALT), _OTHERS, mistakes.others):
            for name in (REPLY, STARVE, STARVE_LAST, FEED):
                minded[name] = 0
        actions[i] = casual_action(
            views[i].public, views[i].hand, minded, mistakes, scratch[0], own
        )


@inner
def casual_action(
    public: Struct, hand: Mask, weights: Array, mistakes: Struct, scratch: Struct, key: Word
) -> int:
    """Return the best of the actions that are noticed, by what they seem to score."""
    slips = scramble(key ^ _SALT)
    count = list_legal(public, noticed(public, hand, mistakes.tiles, slips), scratch.actions)
    best, chosen, equals = -1e9, scratch.actions[0], 0
    if count == 1:
        return signed(chosen)
    unseen = look_around(public, hand, weights, scratch)
    for k in range(count):
        action = scratch.actions[k]
        if action >= DRAW:
            continue
        right = signed(FIVES[public.rules.multiple, total_after(public.layout, action)])
        error = seeming_points(public, action, mistakes, slips) - right
        value = value_of(public, hand, unseen, action, weights, scratch)
        value += weights[POINTS] * error
        taken, best, equals = is_taken(value, best, equals, key, public.plies, action)
        if taken:
            chosen = action
    return signed(chosen)


@inlined
def _happens(slips: Word, number: int, chance: float) -> bool:
    """Return whether a mistake with some chance is made."""
    return bool(chance_below(slips, number, PARTS) < chance * PARTS)


@inlined
def noticed(public: Struct, hand: Mask, chance: float, slips: Word) -> Mask:
    """Return the tiles of a hand that are not overlooked: at least one that can be played."""
    seen, tiles = hand, hand
    while tiles:
        tile = lowest_bit(tiles)
        tiles &= tiles - ONE
        if _happens(slips, _TILES + signed(tile), chance):
            seen &= ~(ONE << np.uint32(tile))
    able = leads(public, hand) if public.plies == 0 else playable(public.layout, hand)
    if able == 0 or able & seen:
        return seen
    for _ in range(chance_below(slips, _ANY_TILE, signed(bit_count(able)))):
        able &= able - ONE
    return seen | ONE << np.uint32(lowest_bit(able))


@inlined
def seeming_points(public: Struct, action: int, mistakes: Struct, slips: Word) -> int:
    """Return the points that an action seems to score, on the cribbage scale."""
    if _happens(slips, _POINTS + signed(action), mistakes.points):
        return 0
    layout = public.layout
    total = signed(total_after(layout, action))
    for pip in range(PIP_COUNT):
        closes = (
            ACTION_PIP[action] == pip
            and ACTION_END[action] != PLAIN_END
            and double_loses(layout, pip) > 0
        )
        counts = layout.double[pip] == ONE_SIDE or layout.double[pip] == TWO_SIDES
        counts = (counts and not closes) or DOUBLE_OF[ACTION_TILE[action]] == pip
        if counts and _happens(slips, _DOUBLES + pip, mistakes.doubles):
            total -= pip
    return signed(FIVES[public.rules.multiple, total])
