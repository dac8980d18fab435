"""Games for other languages: rules, deals, moves, and what a seat may know."""

from __future__ import annotations

import numpy as np
from numba import carray

from fiveup_env.engine.chance import chance_below
from fiveup_env.engine.layout import total_after
from fiveup_env.engine.legality import is_legal, legal_count, mark_legal, nth_legal
from fiveup_env.engine.play import play, start_given_hand, start_hand
from fiveup_env.engine.scoring import FIVES, gain
from fiveup_env.engine.state import (
    GAME,
    GAME_OVER,
    HAND_OVER,
    NOBODY,
    PLAYING,
    PUBLIC,
    VIEW,
    side_of,
    tile_count,
)
from fiveup_env.engine.valid import first_unsound_game, first_unsound_view, rules_fit
from fiveup_env.engine.view import observe
from fiveup_env.native import Array, Struct, Word, inlined, inner, signed
from fiveup_env.portable.calls import (
    BAD_GAME,
    BAD_RULES,
    BAD_SEAT,
    BAD_TILES,
    BAD_VIEW,
    ILLEGAL,
    INT,
    NOT_OVER,
    NOT_PLAYING,
    OK,
    WORD,
    entry,
    reads,
    writes,
)
from fiveup_env.rules.actions import ACTION_COUNT, DRAW
from fiveup_env.rules.fields import MAX_PLAYERS, RULES
from fiveup_env.rules.tiles import TILE_COUNT


@inner
def is_game(game: Array) -> bool:
    """Return whether an array of one GAME holds what play could have stored."""
    return bool(first_unsound_game(game)[0] < 0)


@inner
def fault_of_view(view: Array) -> int:
    """Return OK for an array of one VIEW whose seat is to move, or why it is refused."""
    if first_unsound_view(view)[0] >= 0:
        return BAD_VIEW
    public = view[0].public
    return OK if public.phase == PLAYING and public.turn == view[0].seat else NOT_PLAYING


@inlined
def put(source: Array, target: Array) -> None:
    """Copy a struct.

    A struct of an array does not keep the array alive, which is freed after its last use: so it is
    handed over whole.
    """
    target[0] = source[0]


@inlined
def _blank(rules: Struct, seed: Word) -> Array:
    """Return an array of one GAME that is not dealt yet."""
    games = np.zeros(1, GAME)
    games[0].public.rules = rules
    games[0].seed = seed
    return games


@entry(game=writes(GAME), rules=reads(RULES), seed=WORD)
def new_game(game: Array, rules: Array, seed: Word) -> int:
    """Deal the first hand of the game of a seed."""
    rules = carray(rules, 1)[0]
    if not rules_fit(rules):
        return BAD_RULES
    games = _blank(rules, seed)
    start_hand(games, 0)
    put(games, carray(game, 1))
    return OK


@entry(game=writes(GAME))
def next_hand(game: Array) -> int:
    """Deal the next hand, after one that is over."""
    games = carray(game, 1)
    if not is_game(games):
        return BAD_GAME
    if games[0].public.phase != HAND_OVER:
        return NOT_OVER
    games[0].public.hand_number += 1
    start_hand(games, 0)
    return OK


@inner
def _give(games: Array, hands: Array, boneyard: Array, lead: int) -> int:
    """Begin a hand with given tiles in an array of one GAME."""
    game = games[0]
    rules = game.public.rules
    if not 0 <= lead < rules.players:
        return BAD_SEAT
    left = tile_count(rules) - rules.players * rules.hand_size
    game.public.boneyard = left
    for seat in range(MAX_PLAYERS):
        game.hands[seat] = hands[seat] if seat < rules.players else np.uint32(0)
    for k in range(TILE_COUNT):
        game.order[k] = boneyard[k] if k < left else -1
    start_given_hand(games, 0, lead)
    return OK if is_game(games) else BAD_TILES


@entry(
    game=writes(GAME),
    rules=reads(RULES),
    seed=WORD,
    hands=reads(np.uint32),
    boneyard=reads(np.int8),
    lead=INT,
)
def new_game_with(
    game: Array, rules: Array, seed: Word, hands: Array, boneyard: Array, lead: int
) -> int:
    """Begin a game whose first hand has given tiles; later hands are those of the seed.

    `hands` are 5 masks of tiles, `boneyard` 28 numbers of tiles in the order in which they are
    drawn, and `lead` the seat that leads unless the rules say otherwise.
    """
    rules = carray(rules, 1)[0]
    if not rules_fit(rules):
        return BAD_RULES
    games = _blank(rules, seed)
    fault = _give(games, carray(hands, MAX_PLAYERS), carray(boneyard, TILE_COUNT), lead)
    if fault == OK:
        put(games, carray(game, 1))
    return fault


@entry(game=writes(GAME), hands=reads(np.uint32), boneyard=reads(np.int8), lead=INT)
def next_hand_with(game: Array, hands: Array, boneyard: Array, lead: int) -> int:
    """Begin the next hand with given tiles, after one that is over."""
    games, trial = carray(game, 1), np.zeros(1, GAME)
    if not is_game(games):
        return BAD_GAME
    if games[0].public.phase != HAND_OVER:
        return NOT_OVER
    trial[0] = games[0]
    trial[0].public.hand_number += 1
    fault = _give(trial, carray(hands, MAX_PLAYERS), carray(boneyard, TILE_COUNT), lead)
    if fault == OK:
        put(trial, games)
    return fault


@inlined
def _mark(public: Struct, hand: int, rows: Array) -> int:
    rows[:] = 0
    mark_legal(public, hand, rows, 0, 0)
    return legal_count(public, hand)


@entry(game=reads(GAME), mask=writes(np.int8))
def legal(game: Array, mask: Array) -> int:
    """Write 1 for every legal action among all 121, and 0 for the others; return their number."""
    games = carray(game, 1)
    if not is_game(games):
        return BAD_GAME
    public = games[0].public
    return _mark(public, games[0].hands[public.turn], carray(mask, (1, ACTION_COUNT)))


@entry(view=reads(VIEW), mask=writes(np.int8))
def legal_in_view(view: Array, mask: Array) -> int:
    """Do what `legal` does for a view, without a legal action where its seat is not to move."""
    views, rows = carray(view, 1), carray(mask, (1, ACTION_COUNT))
    fault = fault_of_view(views)
    if fault == NOT_PLAYING:
        rows[:] = 0
        return 0
    return fault if fault != OK else _mark(views[0].public, views[0].hand, rows)


@entry(game=writes(GAME), action=INT)
def move(game: Array, action: int) -> int:
    """Make a move, and the forced draws and passes after it; return the phase."""
    games = carray(game, 1)
    if not is_game(games):
        return BAD_GAME
    public = games[0].public
    if public.phase != PLAYING:
        return NOT_PLAYING
    if not is_legal(public, games[0].hands[public.turn], action):
        return ILLEGAL
    play(games[0], action)
    return signed(public.phase)


@entry(game=reads(GAME), totals=writes(np.int32), points=writes(np.int32))
def outcomes(game: Array, totals: Array, points: Array) -> int:
    """Write the total of the open ends after each of the 121 actions, and what it scores.

    Both are -1 where the action is not legal. Return the number of legal actions.
    """
    games, trial = carray(game, 1), np.zeros(1, PUBLIC)
    if not is_game(games):
        return BAD_GAME
    totals, points = carray(totals, ACTION_COUNT), carray(points, ACTION_COUNT)
    public, hand = games[0].public, games[0].hands[games[0].public.turn]
    for action in range(ACTION_COUNT):
        totals[action] = points[action] = -1
        if is_legal(public, hand, action):
            trial[0] = public
            totals[action], points[action] = public.layout.total, 0
            if action < DRAW:
                total = total_after(public.layout, action)
                fives = FIVES[public.rules.multiple, total]
                totals[action] = total
                points[action] = gain(trial[0], side_of(public.rules, public.turn), fives)
    return legal_count(public, hand)


@entry(game=reads(GAME), seat=INT, view=writes(VIEW))
def look(game: Array, seat: int, view: Array) -> int:
    """Write a seat's view."""
    games = carray(game, 1)
    if not is_game(games):
        return BAD_GAME
    if not 0 <= seat < games[0].public.rules.players:
        return BAD_SEAT
    observe(games[0], seat, carray(view, 1)[0])
    return OK


@entry(game=writes(GAME), count=INT, key=WORD)
def play_randomly(game: Array, count: int, key: Word) -> int:
    """Make random moves, and begin new hands and games; return a checksum of them."""
    games = carray(game, 1)
    if not is_game(games):
        return BAD_GAME
    checksum, public = 0, games[0].public
    for k in range(count):
        if public.phase != PLAYING:
            if public.phase == GAME_OVER:
                public.scores[:] = 0
                public.hand_number = -1
                public.ended, public.winner = 0, NOBODY
            public.hand_number += 1
            start_hand(games, 0)
        hand = games[0].hands[public.turn]
        n = chance_below(key, k, legal_count(public, hand))
        action = nth_legal(public, hand, n)
        play(games[0], action)
        checksum += action * (1 + n)
    return checksum & 0x7FFFFFFF
