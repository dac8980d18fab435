"""Agents for other languages: the ladder, networks, and searches with worlds or milliseconds.

A search is begun, goes on in ranges of worlds for as long as its caller likes, and says what it has
found so far. Between these calls all of it lies in the caller's memory.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import carray

from fiveup_env.belief.structs import BELIEF
from fiveup_env.engine.legality import is_legal
from fiveup_env.engine.state import GAME, VIEW
from fiveup_env.engine.valid import rules_fit
from fiveup_env.native import Array, Struct, Word, inlined, inner, signed
from fiveup_env.opponents.heuristics.casual import MISTAKES, choose_casually
from fiveup_env.opponents.heuristics.features import SCRATCH
from fiveup_env.opponents.heuristics.hidden import HIDDEN
from fiveup_env.opponents.heuristics.ladder import (
    LADDER,
    READER,
    choose_all,
    choose_reading,
    weights_of,
)
from fiveup_env.opponents.networks.compiled import memory_for, write_all
from fiveup_env.opponents.search.dealing import BLOCK, Dealing
from fiveup_env.opponents.search.inference import INFERENCE, shipped_model
from fiveup_env.opponents.search.looks import write_looks
from fiveup_env.opponents.search.network_search import write_expectations, write_probabilities
from fiveup_env.opponents.search.outlook import (
    FARTHEST,
    HAND,
    HANDS,
    PLAYERS,
    SEED,
    fill_outlook,
    first_games,
)
from fiveup_env.opponents.search.playouts import by_heuristic
from fiveup_env.opponents.search.units import scale_of, write_units
from fiveup_env.opponents.search.world_search import (
    MOST_WEIGHED,
    Work,
    mark_allowed,
    name_streams,
    try_worlds,
)
from fiveup_env.opponents.search.world_statistics import (
    CANDIDATE,
    CLEARLY,
    EVIDENCE,
    begin,
    spread_out,
)
from fiveup_env.portable.calls import (
    BAD_OPTIONS,
    BAD_RULES,
    BAD_RUNG,
    BAD_SEARCH,
    BAD_WEIGHTS,
    INT,
    NO_MEMORY_GIVEN,
    NO_WORLD,
    OK,
    STRUCTS,
    WORD,
    entry,
    is_null,
    reads,
    writes,
)
from fiveup_env.portable.games import fault_of_view
from fiveup_env.portable.weights import (
    CHANCES,
    POINTS,
    aim_of,
    has_values,
    unit_in,
    weights_fit,
    weights_in,
)
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import RULES

RUNGS: Final = np.stack([weights_of(name) for name in LADDER])
_READER_WEIGHTS: Final = weights_of(READER)
_MODEL: Final = np.array(shipped_model())
PLAYERS_RUNG: Final = tuple(LADDER).index(PLAYERS)
GRID: Final = FARTHEST + 1  # the side of an outlook's grid of chances
MOST_WORLDS: Final = 1 << 30

# What the prior of a search is: none, as for `pimc`; a policy's probabilities; its values.
NO_PRIOR, PROBABILITIES, EXPECTATIONS = range(3)
PRIORS: Final = ("none", "probabilities", "values")
_memory_for = inlined(memory_for)

# The options of a search.
OPTIONS = np.dtype(
    [
        ("prior", np.int32),
        ("playout", np.int32),  # the rung of the ladder that plays hands out
        ("weighed", np.int32),  # worlds weighed for each one that is tried; 1: none
        ("aim", np.int32),  # POINTS or CHANCES; with a policy, its own
        ("looks", np.int32),  # whether near ties go to what people would play
        ("trust", np.float64),  # the weight of probabilities against noise
        ("least", np.float64),  # the probability below which no action is tried
        ("error", np.float64),  # the standard error of values, in units of 5 points
    ],
    align=True,
)

# A search that has begun.
SEARCH = np.dtype(
    [
        ("seen", VIEW),
        ("options", OPTIONS),
        ("key", np.uint64),
        ("evidence", EVIDENCE),
        ("candidates", CANDIDATE, (ACTION_COUNT,)),
        ("products", np.float64, (ACTION_COUNT * ACTION_COUNT,)),
    ],
    align=True,
)
STRUCTS.update(
    mistakes=MISTAKES, options=OPTIONS, evidence=EVIDENCE, candidate=CANDIDATE, search=SEARCH
)


@entry(view=reads(VIEW), rung=INT, key=WORD)
def heuristic(view: Array, rung: int, key: Word) -> int:
    """Return the action of a heuristic, by its place on the ladder; ties are broken by the key.

    The last one, `reader`, plays no hands out.
    """
    views, actions = carray(view, 1), np.empty(1, np.int64)
    fault = fault_of_view(views)
    if fault != OK:
        return fault
    if rung == len(RUNGS):
        choose_reading(views, key, _READER_WEIGHTS, np.zeros(1, HIDDEN), actions)
        return signed(actions[0])
    if not 0 <= rung < len(RUNGS):
        return BAD_RUNG
    choose_all(views, key, RUNGS[rung], np.empty(1, SCRATCH), actions)
    return signed(actions[0])


@entry(view=reads(VIEW), rung=INT, mistakes=reads(MISTAKES), key=WORD)
def casual(view: Array, rung: int, mistakes: Array, key: Word) -> int:
    """Return the action of a heuristic that makes mistakes, each with a chance from 0 to 1."""
    views, settings, actions = carray(view, 1), carray(mistakes, 1), np.empty(1, np.int64)
    chances = settings[0]
    fault = fault_of_view(views)
    if fault != OK:
        return fault
    if not 0 <= rung < len(RUNGS):
        return BAD_RUNG
    for chance in (chances.tiles, chances.points, chances.doubles, chances.others):
        if not 0 <= chance <= 1:
            return BAD_OPTIONS
    choose_casually(views, key, RUNGS[rung], settings, np.empty(1, SCRATCH), actions)
    return signed(actions[0])


@inner
def _write_logits(views: Array, block: Array, logits: Array) -> None:
    """Write the logits of a view, -inf where an action is not allowed."""
    logits[:] = -np.inf
    weights = weights_in(block)
    write_all(views, weights, _memory_for(weights), logits)


@entry(view=reads(VIEW), policy=reads(np.float32), size=INT, logits=writes(np.float32))
def network(view: Array, policy: Array, size: int, logits: Array) -> int:
    """Write the logits of a policy, a block of `size` numbers; return the action with the highest.

    Those of actions that are not allowed are -inf.
    """
    views = carray(view, 1)
    fault = fault_of_view(views)
    if fault != OK:
        return fault
    if size < 0 or not weights_fit(carray(policy, size)):
        return BAD_WEIGHTS
    written = carray(logits, (1, ACTION_COUNT))
    _write_logits(views, carray(policy, size), written)
    return _highest(written)


@inlined
def _highest(rows: Array) -> int:
    """Return the action with the highest number, which is never one that is not allowed."""
    return signed(rows[0].argmax())


@entry(rules=reads(RULES), grid=writes(np.float64))
def outlook(rules: Array, grid: Array) -> int:
    """Write the grid of chances to win that searches need, 121 x 121; it takes about a second."""
    given = carray(rules, 1)
    if not rules_fit(given[0]):
        return BAD_RULES
    games = np.zeros(HANDS, GAME)
    first_games(given, 0, SEED, games)
    hands = np.zeros(HANDS, HAND)
    fill_outlook(games, RUNGS[PLAYERS_RUNG], np.uint64(SEED), hands, carray(grid, (GRID, GRID)))
    return OK


@inlined
def _options_fit(options: Struct, block: Array) -> bool:
    fits = (
        NO_PRIOR <= options.prior <= EXPECTATIONS
        and 0 <= options.playout < len(RUNGS)
        and 1 <= options.weighed <= MOST_WEIGHED
        and POINTS <= options.aim <= CHANCES
        and 0 <= options.trust < np.inf
        and 0 <= options.least < 1
        and 0 < options.error < np.inf
    )
    if fits and options.prior != NO_PRIOR:
        fits = options.aim == aim_of(block)
        if options.prior == EXPECTATIONS:
            fits = fits and has_values(block)
    return bool(fits)


@inlined
def _grid(grid: Array, aim: int) -> Array:
    """Return the grids of one outlook, an empty one if a search aims at points."""
    return carray(grid, (1, GRID, GRID)) if aim == CHANCES else np.zeros((1, 0, 0))


@inlined
def _write_prior(
    views: Array, options: Struct, block: Array, chances: Array, prior: Array, precisions: Array
) -> None:
    """Write the prior of every action, and its precision."""
    precisions[0] = 0
    if options.prior == NO_PRIOR:
        prior[:] = -np.inf
        mark_allowed(views, prior)
        return
    logits = np.empty((1, ACTION_COUNT), np.float32)
    _write_logits(views, block, logits)
    if options.prior == PROBABILITIES:
        write_probabilities(logits, unit_in(block), options.least, prior)
        return
    starts, stakes = np.zeros(1), np.ones(1)
    if options.aim == CHANCES:
        write_units(views, np.zeros(1, np.int64), chances, starts, stakes)
    stakes[0] /= scale_of(chances[0])
    write_expectations(logits, options.error, stakes, prior, precisions)


@entry(
    view=reads(VIEW),
    options=reads(OPTIONS),
    policy=reads(np.float32, optional=True),
    size=INT,
    grid=reads(np.float64, optional=True),
    key=WORD,
    search=writes(SEARCH),
)
def search_begin(
    view: Array, options: Array, policy: Array, size: int, grid: Array, key: Word, search: Array
) -> int:
    """Begin a search; return how many actions are open. A policy is needed only for a prior.

    The grid is that of `outlook`, and is needed only if the search aims at chances to win.
    """
    views, chosen, begun = carray(view, 1), carray(options, 1)[0], carray(search, 1)[0]
    fault = fault_of_view(views)
    if fault != OK:
        return fault
    block = carray(policy, 0 if is_null(policy) else max(0, size))
    if chosen.prior != NO_PRIOR and not weights_fit(block):
        return BAD_WEIGHTS
    if not _options_fit(chosen, block):
        return BAD_OPTIONS
    if chosen.aim == CHANCES and is_null(grid):
        return NO_MEMORY_GIVEN
    prior, precisions = np.empty((1, ACTION_COUNT)), np.empty(1)
    _write_prior(views, chosen, block, _grid(grid, chosen.aim), prior, precisions)
    trust = chosen.trust if chosen.prior == PROBABILITIES else 0.0
    evidence, candidates = np.zeros(1, EVIDENCE), np.zeros((1, ACTION_COUNT), CANDIDATE)
    begin(prior, trust, precisions, CLEARLY, evidence, candidates)
    if chosen.looks:
        write_looks(views, evidence, candidates)
    begun.seen, begun.options, begun.key = views[0], chosen, key
    begun.products[:] = 0
    _keep(begun, evidence, candidates)
    return signed(begun.evidence.open)


@inlined
def _keep(search: Struct, evidence: Array, candidates: Array) -> None:
    search.evidence = evidence[0]
    for k in range(candidates.shape[1]):
        search.candidates[k] = candidates[0, k]


@inlined
def _search_fits(search: Struct, views: Array) -> bool:
    """Return whether a search is such as `search_begin` leaves it."""
    views[0] = search.seen
    evidence, options = search.evidence, search.options
    if fault_of_view(views) != OK or not 1 <= options.weighed <= MOST_WEIGHED:
        return False
    if not (0 <= options.playout < len(RUNGS) and POINTS <= options.aim <= CHANCES):
        return False
    if not (1 <= evidence.count <= ACTION_COUNT and 0 <= evidence.open <= evidence.count):
        return False
    for k in range(evidence.count):
        if not is_legal(views[0].public, views[0].hand, search.candidates[k].action):
            return False
    return True


@inlined
def dealing_by(weighed: int, worlds: int) -> Dealing:
    """Return a way to deal this many worlds at once, as `dealing_of` does."""
    used = signed(weighed > 1)
    return Dealing(
        signed(weighed),
        np.zeros(1, BELIEF),
        _MODEL,
        np.zeros(used, INFERENCE),
        np.empty(used * signed(weighed) * worlds, GAME),
        np.empty(used * signed(weighed) * worlds),
    )


@entry(search=writes(SEARCH), grid=reads(np.float64, optional=True), first=INT, end=INT)
def search_on(search: Array, grid: Array, first: int, end: int) -> int:
    """Try the open actions in the worlds from number `first` to below `end`; return how many are.

    The grid is that with which the search began.
    """
    begun, views = carray(search, 1)[0], np.zeros(1, VIEW)
    if not (_search_fits(begun, views) and 0 <= first <= end <= MOST_WORLDS):
        return BAD_SEARCH
    if begun.options.aim == CHANCES and is_null(grid):
        return NO_MEMORY_GIVEN
    evidence, count = np.zeros(1, EVIDENCE), signed(begun.evidence.count)
    if begun.evidence.open == 0 or first == end:
        return signed(begun.evidence.open)
    evidence[0] = begun.evidence
    candidates, products = np.zeros((1, count), CANDIDATE), np.zeros((1, count, count))
    for k in range(count):
        candidates[0, k] = begun.candidates[k]
        for j in range(count):
            products[0, k, j] = begun.products[k * count + j]
    keys = np.zeros(1, np.uint64)
    name_streams(begun.key, keys)
    work = Work(
        views,
        keys,
        _grid(grid, begun.options.aim),
        np.zeros(1, np.int64),
        dealing_by(signed(begun.options.weighed), BLOCK),
        by_heuristic(RUNGS[begun.options.playout]),
        np.empty(BLOCK, GAME),
        evidence,
        candidates,
        products,
    )
    if try_worlds(np.zeros(1, np.int64), first, end, work) >= 0:
        return NO_WORLD
    _keep(begun, evidence, candidates)
    for k in range(count):
        for j in range(count):
            begun.products[k * count + j] = products[0, k, j]
    return signed(begun.evidence.open)


@entry(
    search=reads(SEARCH),
    values=writes(np.float64),
    errors=writes(np.float64),
    scores=writes(np.float64),
)
def search_result(search: Array, values: Array, errors: Array, scores: Array) -> int:
    """Write what worlds show about each of the 121 actions; return the action to choose.

    Values are -inf where an action was not tried. Errors are standard errors of the difference from
    the best action, -inf likewise. Scores add the prior, and are -inf for the clearly worse. The
    action has the highest, if looks count too.
    """
    begun, views = carray(search, 1)[0], np.zeros(1, VIEW)
    if not _search_fits(begun, views):
        return BAD_SEARCH
    evidence, count = np.zeros(1, EVIDENCE), signed(begun.evidence.count)
    evidence[0] = begun.evidence
    actions, fields = np.zeros((1, count), np.int64), np.zeros((4, 1, count))
    for k in range(count):
        actions[0, k] = begun.candidates[k].action
        fields[0, 0, k] = begun.candidates[k].mean
        fields[1, 0, k] = begun.candidates[k].error
        fields[2, 0, k] = begun.candidates[k].score
        fields[3, 0, k] = begun.candidates[k].appeal
    appeals = np.empty((1, ACTION_COUNT))
    spread_out(evidence, actions, fields[0], carray(values, (1, ACTION_COUNT)))
    spread_out(evidence, actions, fields[1], carray(errors, (1, ACTION_COUNT)))
    spread_out(evidence, actions, fields[2], carray(scores, (1, ACTION_COUNT)))
    spread_out(evidence, actions, fields[3], appeals)
    return _highest(appeals)
