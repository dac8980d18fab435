"""Judging for other languages: moves tried in sampled worlds, and what deals were worth."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import carray

from fiveup_env.analysis.chances import score_chances
from fiveup_env.analysis.luck import TIMES, play_deal
from fiveup_env.analysis.trials import deal_worlds
from fiveup_env.engine.legality import is_legal
from fiveup_env.engine.state import GAME, PLAYING, VIEW
from fiveup_env.engine.valid import first_unsound_view, rules_fit
from fiveup_env.native import Array, Struct, Word, inner
from fiveup_env.opponents.heuristics.features import SCRATCH
from fiveup_env.opponents.search.action_values import PLAY_ON, try_actions
from fiveup_env.opponents.search.playouts import by_heuristic
from fiveup_env.opponents.search.world_search import MOST_WEIGHED
from fiveup_env.portable.agents import GRID, MOST_WORLDS, PLAYERS_RUNG, RUNGS, dealing_by
from fiveup_env.portable.calls import (
    BAD_GAME,
    BAD_RULES,
    BAD_RUNG,
    BAD_SEARCH,
    BAD_VIEW,
    ILLEGAL,
    INT,
    NO_WORLD,
    NOT_OVER,
    NOT_PLAYING,
    OK,
    WORD,
    entry,
    reads,
    writes,
)
from fiveup_env.portable.games import is_game
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import RULES

MOST_AT_ONCE: Final = 1 << 12  # worlds


@inner
def _fault_of_moves(view: Struct, actions: Array) -> int:
    """Return OK for actions that may be tried, or why they are refused."""
    if view.public.phase != PLAYING:
        return NOT_PLAYING
    for action in actions:
        is_own = view.public.turn == view.seat and is_legal(view.public, view.hand, action)
        if action != PLAY_ON and not is_own:
            return ILLEGAL
    return OK if 1 <= len(actions) <= ACTION_COUNT else ILLEGAL


@entry(
    view=reads(VIEW),
    actions=reads(np.int8),
    count=INT,
    rung=INT,
    weighed=INT,
    grid=reads(np.float64),
    key=WORD,
    first=INT,
    end=INT,
    values=writes(np.float64),
)
def try_moves(
    view: Array,
    actions: Array,
    count: int,
    rung: int,
    weighed: int,
    grid: Array,
    key: Word,
    first: int,
    end: int,
    values: Array,
) -> int:
    """Try actions in the worlds from number `first` to below `end`, played out by a heuristic.

    Each world is drawn from `weighed` of its own by how likely the others' moves were in them.
    Write what each brings the viewer's side in each world: its chance to win the game, and its
    points until the end of the hand, less those of the others [worlds x actions x 2]. The action
    -1 stands for playing on; it is for every seat, others are for the seat to move.
    """
    views, tried = carray(view, 1), carray(actions, max(0, count))
    if first_unsound_view(views)[0] >= 0:
        return BAD_VIEW
    fault = _fault_of_moves(views[0], tried)
    if fault != OK:
        return fault
    if not 0 <= rung < len(RUNGS):
        return BAD_RUNG
    fits = 0 <= first < end <= MOST_WORLDS and end - first <= MOST_AT_ONCE
    if not (fits and 1 <= weighed <= MOST_WEIGHED):
        return BAD_SEARCH
    games = np.empty(end - first, GAME)
    if not deal_worlds(views, key, first, dealing_by(weighed, 1), games):
        return NO_WORLD
    playout = by_heuristic(RUNGS[rung])
    chances = carray(grid, (GRID, GRID))
    block = carray(values, (end - first, count, 2))
    side = views[0].seat % views[0].public.rules.sides
    try_actions(games, tried, playout, side, (chances, chances[:0]), block)
    return OK


@entry(game=reads(GAME), grid=reads(np.float64), chances=writes(np.float64))
def chances_after(game: Array, grid: Array, chances: Array) -> int:
    """Write the chance to win of each of 5 sides by the scores, once a hand or the game is over."""
    games = carray(game, 1)
    if not is_game(games):
        return BAD_GAME
    if games[0].public.phase == PLAYING:
        return NOT_OVER
    by_side = carray(chances, 5)[: games[0].public.rules.sides]
    score_chances(games, carray(grid, (GRID, GRID)), by_side)
    return OK


@entry(rules=reads(RULES), grid=reads(np.float64), chances=writes(np.float64))
def chances_at_start(rules: Array, grid: Array, chances: Array) -> int:
    """Write the chance to win of each of 5 sides before the first deal of a game."""
    given, games = carray(rules, 1), np.zeros(1, GAME)
    if not rules_fit(given[0]):
        return BAD_RULES
    games[0].public.rules = given[0]
    by_side = carray(chances, 5)[: given[0].sides]
    score_chances(games, carray(grid, (GRID, GRID)), by_side)
    return OK


@entry(game=reads(GAME), grid=reads(np.float64), chances=writes(np.float64))
def worth_of_deal(game: Array, grid: Array, chances: Array) -> int:
    """Write the chance of each of 5 sides after the ladder's best has played on in all seats."""
    games = carray(game, 1)
    if not is_game(games):
        return BAD_GAME
    if games[0].public.phase != PLAYING:
        return NOT_PLAYING
    by_side = carray(chances, 5)[: games[0].public.rules.sides]
    by_side[:] = 0
    weights, scratch = RUNGS[PLAYERS_RUNG], np.zeros(1, SCRATCH)
    play_deal(games, weights, carray(grid, (GRID, GRID)), scratch, TIMES, by_side)
    return OK
