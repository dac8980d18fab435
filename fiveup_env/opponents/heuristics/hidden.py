"""Where the hidden tiles are, as the others' plays tell.

A seat that set a tile has most likely not held a better one. A model of a player gives every play a
weighted sum of features, so each tile that a seat might have set in place of the one that it chose
is less likely in its hand: by exp(chosen) / (exp(chosen) + exp(instead)), but for the share of
plays that are made at random. These odds multiply from play to play. What a seat has drawn since is
mixed in, and what it lacked it did not hold before.

Then the odds of each tile are scaled to chances, such that the tile is somewhere and every hand has
its size. All features of a play that hang on the hands of others have an expectation by these
chances, in closed form: no world is drawn.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import numpy as np

from fiveup_env.engine.exponentials import exp
from fiveup_env.engine.layout import attach, open_pips
from fiveup_env.engine.legality import list_legal
from fiveup_env.engine.play import restart_hand, show_lack
from fiveup_env.engine.state import NOBODY, ONE, PLAYING, PUBLIC, Views, all_tiles, next_seat
from fiveup_env.native import (
    Array,
    Doubles,
    DoubleTables,
    Entries,
    Mask,
    Struct,
    Word,
    compiled,
    inlined,
    inner,
    lowest_bit,
    read_only,
    same,
    signed,
)
from fiveup_env.opponents.heuristics.features import (
    EVERY_FEATURE,
    FEATURE_NAMES,
    FEED,
    REPLY,
    SCRATCH,
    STARVE,
    STARVE_LAST,
    is_taken,
    look_around,
    unseen_by,
    weighted,
    write_features,
)
from fiveup_env.rules.actions import ACTION_TILE, DRAW
from fiveup_env.rules.fields import DRAW_OPTIONAL, MAX_PLAYERS
from fiveup_env.rules.tiles import BEFORE_IN_LEAD_ORDER, PIP_COUNT, SUITS_OF, TILE_COUNT

# The model, as `python -m agents.fitting.hidden` finds it.
MODEL: Final = {
    "points": 1.61,
    "reply": -2.28,
    "pips": 0.39,
    "double": 1.62,
    "starve": 9.61,
    "feed": 0.84,
}
LAPSE: Final = 0.074  # the share of plays that are made at random
WEIGHTS: Final = read_only(np.array([MODEL.get(name, 0.0) for name in FEATURE_NAMES]))
ROUNDS: Final = 5  # of scaling
SOMETHING: Final = 1e-300  # less than any chance but 0
BONEYARD: Final = MAX_PLAYERS  # the row of the tiles that nobody has drawn
# Weights that ask for no more than the features that do not hang on the hands of others.
OWN_FEATURES: Final = read_only(
    np.array(
        [name not in {"reply", "starve", "starve_last", "feed"} for name in FEATURE_NAMES], float
    )
)

# What the plays of a hand tell. To read a view goes on from the one before it, if that was of the
# same hand: zeros begin anew.
NOTES = np.dtype(
    [
        ("public", PUBLIC),  # the hand, replayed
        ("odds", np.float64, (MAX_PLAYERS + 1, TILE_COUNT)),  # what the plays add to the prior ones
        ("is_shared", np.bool_),  # whether views of all seats are read, or of one
        ("tiles", np.uint32),  # whose odds are right ...
        ("seat", np.int8),  # ... but for this seat's own, or of all seats if it is NOBODY
    ],
    align=True,
)

# Scratch memory, allocated once for many views. Rows are the seats, then the boneyard.
HIDDEN = np.dtype(
    [
        ("notes", NOTES),  # up to the last play
        ("now", NOTES),  # with what was drawn since
        ("features", SCRATCH),
        ("sizes", np.float64, (MAX_PLAYERS + 1,)),  # how many hidden tiles each of them has
        ("prior", np.float64, (MAX_PLAYERS + 1, TILE_COUNT)),  # odds before any play; 0: impossible
        ("chances", np.float64, (MAX_PLAYERS + 1, TILE_COUNT)),
        ("instead", np.float64, (TILE_COUNT,)),  # by tile: what it might have been worth to set it
        # Only the unseen tiles, and only who may hold one, in order:
        ("tiles", np.int64, (TILE_COUNT,)),
        ("holders", np.int64, (MAX_PLAYERS + 1,)),
        ("odds", np.float64, (MAX_PLAYERS + 1, TILE_COUNT)),
        ("shares", np.float64, (MAX_PLAYERS + 1, TILE_COUNT)),
        ("totals", np.float64, (TILE_COUNT,)),
        ("scales", np.float64, (MAX_PLAYERS + 1,)),
    ],
    align=True,
)
Hiddens: TypeAlias = Annotated[np.ndarray, Entries(HIDDEN)]


@inner
def write_chances(view: Struct, weights: Array, lapse: float, hidden: Struct) -> None:
    """Write the chance of every tile that a view does not show to be in each hand.

    All chances are 0 where the hand is over.
    """
    for holder in range(BONEYARD + 1):
        for tile in range(TILE_COUNT):
            hidden.chances[holder, tile] = 0.0
    if view.public.phase == PLAYING:
        unseen = unseen_by(view.public, view.hand)
        _write_prior(view, unseen, hidden)
        _read_plays(view, unseen, weights, lapse, hidden)
        _scale(unseen, hidden)


@compiled
def fill_chances(
    views: Views, weights: Doubles, lapse: float, memory: Hiddens, chances: DoubleTables
) -> None:
    """Write the chances of many views; the rows of one are the seats, then the boneyard."""
    for i in range(len(views)):
        memory[0].notes.tiles = np.uint32(0)  # so that it is read anew
        write_chances(views[i], weights, lapse, memory[0])
        for holder in range(BONEYARD + 1):
            for tile in range(TILE_COUNT):
                chances[i, holder, tile] = memory[0].chances[holder, tile]


# --- What is possible


@inlined
def _write_prior(view: Struct, unseen: Mask, hidden: Struct) -> None:
    """Write the number of tiles of each holder, and the unseen tiles that it may have.

    What a seat lacked, or nobody was dealt, it can only have drawn: such a tile is as likely as the
    tiles that it has drawn since are many.
    """
    public, undealt = view.public, np.uint32(0)
    if public.forced_lead >= 0:
        undealt = BEFORE_IN_LEAD_ORDER[public.forced_lead]
    for holder in range(BONEYARD + 1):
        size = 0
        if holder == BONEYARD:
            size = signed(public.boneyard - public.drawn)
        elif holder < public.rules.players and holder != view.seat:
            size = signed(public.sizes[holder])
        hidden.sizes[holder] = size
        for tile in range(TILE_COUNT):
            is_unseen = unseen >> np.uint32(tile) & ONE
            hidden.prior[holder, tile] = 1.0 if size > 0 and is_unseen else 0.0
        if size > 0 and holder != BONEYARD:
            _limit(undealt, public.draws[holder] / size, holder, hidden)
            for pip in range(PIP_COUNT):
                if public.lack_ply[holder, pip] >= 0:
                    drawn = public.draws[holder] - public.lack_draws[holder, pip]
                    drawn += _must_set_draw(public, holder)
                    _limit(SUITS_OF[1 << pip], drawn / size, holder, hidden)


@inlined
def _limit(tiles: Mask, share: float, holder: int, hidden: Struct) -> None:
    while tiles:
        tile = lowest_bit(tiles)
        tiles &= tiles - ONE
        hidden.prior[holder, tile] = min(share, hidden.prior[holder, tile])


@inlined
def _must_set_draw(public: Struct, seat: int) -> bool:
    """Return whether a seat is to move and has just drawn a tile that fits."""
    last = public.drawn - 1
    if public.turn != seat or last < 0 or public.draw_seat[last] != seat:
        return False
    return bool(public.draw_ply[last] == public.plies)


# --- What plays tell


@inlined
def _read_plays(view: Struct, unseen: Mask, weights: Array, lapse: float, hidden: Struct) -> None:
    """Replay the hand, and multiply into the odds what every play of another seat tells."""
    public, notes = view.public, hidden.notes
    if not _goes_on(notes, view, unseen):
        _begin(notes, view, unseen)
    past, outside = notes.public, unseen_by(notes.public, np.uint32(0))
    for ply in range(past.plies, public.plies):
        seat, action = signed(public.play_seat[ply]), signed(public.play_action[ply])
        is_bound = _draw_until(public, seat, notes)
        past.turn = seat
        if seat != notes.seat and not is_bound and past.sizes[seat] > 1:
            _read_play(past, action, outside, weights, lapse, hidden)
        outside &= ~(ONE << np.uint32(ACTION_TILE[action]))
        attach(public.rules, past.layout, action)
        past.play_action[ply], past.play_seat[ply] = action, seat
        past.plies += 1
        past.sizes[seat] -= 1
    hidden.now = hidden.notes
    _draw_until(public, signed(public.turn), hidden.now)


@inlined
def _goes_on(notes: Struct, view: Struct, unseen: Mask) -> bool:
    """Return whether a view is of the hand that was read, and asks for no more of it."""
    past, public = notes.public, view.public
    is_read = notes.seat == NOBODY or notes.seat == view.seat  # noqa: PLR1714 - not compiled
    if unseen & ~notes.tiles or not is_read:
        return False
    if past.plies > public.plies or past.drawn > public.drawn:
        return False
    changed = not same(past.rules, public.rules) or past.forced_lead != public.forced_lead
    changed |= past.lead != public.lead
    for ply in range(past.plies):
        changed |= past.play_action[ply] != public.play_action[ply]
        changed |= past.play_seat[ply] != public.play_seat[ply]
    for k in range(past.drawn):
        changed |= past.draw_seat[k] != public.draw_seat[k]
        changed |= past.draw_ply[k] != public.draw_ply[k]
    return not changed


@inlined
def _begin(notes: Struct, view: Struct, unseen: Mask) -> None:
    """Begin to read a hand."""
    notes.public = view.public
    restart_hand(notes)
    notes.tiles, notes.seat = unseen, view.seat
    if notes.is_shared:
        notes.tiles, notes.seat = all_tiles(view.public.rules), NOBODY
    for holder in range(BONEYARD + 1):
        for tile in range(TILE_COUNT):
            notes.odds[holder, tile] = 1.0


@inlined
def _draw_until(public: Struct, mover: int, notes: Struct) -> bool:
    """Replay what seats drew before a play; return whether the mover drew what it had to set."""
    past = notes.public
    seat = signed(past.lead)
    if past.plies > 0:
        seat = next_seat(public.rules, signed(past.play_seat[past.plies - 1]))
    while seat != mover:
        _draw(public, seat, mover, notes)
        seat = next_seat(public.rules, seat)
    return _draw(public, seat, mover, notes)


@inner
def _draw(public: Struct, seat: int, mover: int, notes: Struct) -> bool:
    """Replay what a seat drew before the next play, the mover's.

    Return whether the seat drew the tile that it then had to set.
    """
    past, held = notes.public, signed(notes.public.sizes[seat])
    k = signed(past.drawn)
    while k < public.drawn and public.draw_ply[k] == past.plies and public.draw_seat[k] == seat:
        past.draw_ply[k], past.draw_seat[k] = past.plies, seat
        k += 1
    drew = k - past.drawn
    past.drawn = k
    past.draws[seat] += drew
    past.sizes[seat] += drew
    is_bound = seat == mover and drew > 0 and public.rules.draw != DRAW_OPTIONAL
    if is_bound or seat != mover:
        show_lack(past, seat)
        lacked = SUITS_OF[open_pips(past.layout)]
        while lacked:  # what it may hold of these, it has drawn
            notes.odds[seat, lowest_bit(lacked)] = 1.0
            lacked &= lacked - ONE
    kept = drew - is_bound
    if kept > 0:
        for tile in range(TILE_COUNT):
            odds = notes.odds[seat, tile]
            notes.odds[seat, tile] = (kept + held * odds) / (kept + held)
    return bool(is_bound)


@inner
def _read_play(
    past: Struct, action: int, outside: Mask, weights: Array, lapse: float, hidden: Struct
) -> None:
    """Multiply into a seat's odds what its play tells; `outside` is not on the table yet."""
    scratch, instead, notes = hidden.features, hidden.instead, hidden.notes
    look_around(past, np.uint32(0), weights, scratch)
    own = ONE << np.uint32(ACTION_TILE[action])
    others = outside & notes.tiles & ~scratch.lacked[past.turn] & ~own
    for tile in range(TILE_COUNT):
        instead[tile] = 0.0
    count = list_legal(past, others, scratch.actions)
    scratch.actions[count] = action
    for k in range(count + 1):
        option = signed(scratch.actions[k])
        if option < DRAW:
            tile = ACTION_TILE[option]
            rest = outside & ~(ONE << np.uint32(tile))
            write_features(past, outside, rest, option, weights, scratch)
            instead[tile] += exp(weighted(weights, scratch))
    made = instead[ACTION_TILE[action]]
    while others:
        tile = lowest_bit(others)
        others &= others - ONE
        share = made / (made + instead[tile])
        notes.odds[past.turn, tile] *= lapse + (1 - lapse) * share


@inlined
def _scale(unseen: Mask, hidden: Struct) -> None:
    """Write the odds as chances: those of a tile add up to 1, and nearly so those of a hand."""
    tiles, holders, odds, shares = hidden.tiles, hidden.holders, hidden.odds, hidden.shares
    scales, sizes, count, of = hidden.scales, hidden.sizes, 0, 0
    while unseen:
        tiles[count] = lowest_bit(unseen)
        unseen &= unseen - ONE
        count += 1
    for holder in range(BONEYARD + 1):
        holders[of] = holder
        of += sizes[holder] > 0
    for h in range(of):
        scales[h] = 1.0
        for k in range(count):
            prior = hidden.prior[holders[h], tiles[k]]
            odds[h, k] = prior * hidden.now.odds[holders[h], tiles[k]]
    for _ in range(ROUNDS):
        _write_shares(of, count, hidden)
        for h in range(of):
            held = 0.0
            for k in range(count):
                held += shares[h, k]
            scales[h] *= sizes[holders[h]] / held if held > 0 else 1.0
    for h in range(of):
        for k in range(count):
            hidden.chances[holders[h], tiles[k]] = shares[h, k]


@inlined
def _write_shares(of: int, count: int, hidden: Struct) -> None:
    """Write the scaled odds of the unseen tiles, such that those of each add up to 1."""
    odds, shares, totals, scales = hidden.odds, hidden.shares, hidden.totals, hidden.scales
    for k in range(count):
        totals[k] = 0.0
    for h in range(of):
        for k in range(count):
            shares[h, k] = scales[h] * odds[h, k]
            totals[k] += shares[h, k]
    for k in range(count):
        totals[k] = totals[k] if totals[k] > 0 else 1.0
    for h in range(of):
        for k in range(count):
            shares[h, k] /= totals[k]


# --- What is expected


@inner
def expect_features(public: Struct, hand: Mask, unseen: Mask, action: int, hidden: Struct) -> None:
    """Write the features of an action into `hidden.features`, as the chances let expect them.

    `write_chances` and `look_around` come first.
    """
    scratch = hidden.features
    write_features(public, hand, unseen, action, OWN_FEATURES, scratch)
    if hand == ONE << np.uint32(ACTION_TILE[action]):
        return
    rules, seat, features = public.rules, signed(public.turn), scratch.features
    suits, following = unseen & SUITS_OF[open_pips(scratch.layout)], next_seat(rules, seat)
    features[REPLY] = _best_of(following, unseen, hidden, scratch)
    features[STARVE] = _chance_of_none(following, suits, 1.0, 0.0, hidden)[0]
    if rules.players > 2:
        last = signed(seat - 1 if seat > 0 else rules.players - 1)
        features[STARVE_LAST] = _chance_of_none(last, suits, 1.0, 0.0, hidden)[0]
    if rules.sides < rules.players:
        partner = (seat + rules.sides) % rules.players
        features[FEED] = _best_of(partner, unseen, hidden, scratch)


@inner
def best_expected(view: Struct, weights: Array, hidden: Struct, key: Word) -> int:
    """Return the best action by some weights, as `best_action` does, where features are expected.

    A draw is chosen only where nothing can be played.
    """
    public, hand, scratch = view.public, view.hand, hidden.features
    count = list_legal(public, hand, scratch.actions)
    best, chosen, equals = -1e9, scratch.actions[0], 0
    if count == 1:
        return signed(chosen)
    write_chances(view, WEIGHTS, LAPSE, hidden)
    list_legal(public, hand, scratch.actions)  # again: to read the plays took the same memory
    unseen = look_around(public, hand, EVERY_FEATURE, scratch)
    for k in range(count):
        action = scratch.actions[k]
        if action < DRAW:
            expect_features(public, hand, unseen, action, hidden)
            value = weighted(weights, scratch)
            taken, best, equals = is_taken(value, best, equals, key, public.plies, action)
            if taken:
                chosen = action
    return signed(chosen)


@inlined
def _best_of(seat: int, unseen: Mask, hidden: Struct, scratch: Struct) -> float:
    """Return the points that a seat's best play is expected to score, by what `scratch` notes."""
    wanted, none, without, expected = np.uint32(0), 1.0, 0.0, 0.0
    for points in range(scratch.most, 0, -1):
        more = unseen & scratch.scoring[points] & ~wanted
        wanted |= more
        none, without = _chance_of_none(seat, more, none, without, hidden)
        expected += 1 - none
    return expected


@inlined
def _chance_of_none(
    seat: int, tiles: Mask, none: float, without: float, hidden: Struct
) -> tuple[float, float]:
    """Return the chance that a seat holds none of some tiles, and its share of them.

    Both go on from other tiles. The fewer places are left for the tiles that are not ruled out, the
    likelier is each of them: where all chances are alike, this counts the hands.
    """
    size = hidden.sizes[seat]
    while tiles:
        chance = hidden.chances[seat, lowest_bit(tiles)]
        tiles &= tiles - ONE
        none *= 1 - min(1.0, chance * size / max(chance, size - without, SOMETHING))
        without += chance
    return none, without
