"""Bound what can be won from an agent: `python -m benchmarks.ceiling --bound`.

The first hand of a game from 0 to 0, points a hand. One seat is free; all others play a heuristic,
which it knows, and with four players one of them is its partner. The lot says who leads.
`agents.search.relaxation` bounds what the free seat can win, and agents play the same deals there.
What is charged for information is subtracted from what they won, too: its mean is zero for them,
and it takes most of the luck away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from agents.search.relaxation import (
    advance,
    advantages_along,
    most_advantages,
    play_base,
    problem_of,
)
from fiveup_env.arena.statistics import interval, resampled_means
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.engine.legality import mark_legal
from fiveup_env.engine.play import play, start_hand
from fiveup_env.engine.state import PLAYING, side_of
from fiveup_env.engine.view import VIEW, observe
from fiveup_env.opponents.ladder import weights_of
from fiveup_env.opponents.playouts import first_hands, margin_of
from fiveup_env.progress import progress
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agents.search.relaxation import Problem
    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules

RESPONDER: Final = 0
MOST_WORLDS_UNTIL: Final = 4  # decisions; from then on each has half as many worlds
LEAST_WORLDS: Final = 8
BASE_SEEDS: Final = 940_000_000
BASE_DEALS: Final = 50_000


class Deals(NamedTuple):
    """Hands that have been dealt, and the keys of all other chance in them."""

    games: np.ndarray
    chances: np.ndarray  # the others' ties
    keys: np.ndarray  # the worlds


def deals_of(rules: Rules, seeds: np.ndarray) -> Deals:
    """Deal the first hand of every seed."""
    games = first_hands(rules.to_struct(), seeds)
    chances, keys = np.zeros_like(seeds), np.zeros_like(seeds)
    _deal(games, chances, keys)
    return Deals(games, chances, keys)


@compiled
def _deal(games: Array, chances: Array, keys: Array) -> None:
    for i in range(len(games)):
        start_hand(games, i)
        chances[i] = scramble(scramble(games[i].seed + np.uint64(1)) ^ np.uint64(1))
        keys[i] = scramble(scramble(games[i].seed + np.uint64(1)) ^ np.uint64(2))


def schedule(worlds: int, charged: int) -> np.ndarray:
    """Return the number of worlds at each decision: late ones are many, and have fewer."""
    halved = np.maximum(0, np.arange(charged + 1) - MOST_WORLDS_UNTIL)
    return np.maximum(LEAST_WORLDS, worlds >> halved)


def bound(deals: Deals, problem: Problem) -> np.ndarray:
    """Return the most advantages of every deal, and the base's value as its first view shows."""
    found = np.zeros((len(deals.games), 2))
    for i in progress(range(len(found)), len(found), "deals"):
        found[i] = most_advantages(deals.games, i, problem, deals.chances[i], deals.keys[i])
    return found


def played(deals: Deals, problem: Problem, agent: Agent, seed: int = 0) -> np.ndarray:
    """Return the advantages of what an agent chose, by deal, and its margin."""
    games, random = deals.games.copy(), np.random.default_rng(seed)
    views, masks = np.zeros(len(games), VIEW), np.zeros((len(games), ACTION_COUNT), np.int8)
    paths = np.zeros((0, len(games)), np.int64)
    while len(live := np.flatnonzero(_look(games, problem, deals.chances, views, masks))):
        chosen = np.zeros(len(games), np.int64)
        chosen[live] = agent(views[live], masks[live], random)
        _move(games, live, chosen)
        paths = np.vstack([paths, chosen])
    found = np.zeros((len(games), 2))
    for i in range(len(games)):
        found[i, 0] = advantages_along(
            deals.games, i, problem, deals.chances[i], deals.keys[i], paths[:, i]
        )
    _write_margins(games, problem.seat, found[:, 1])
    return found


@compiled
def _look(games: Array, problem: Problem, chances: Array, views: Array, masks: Array) -> Array:
    """Play on to the responder's next choices, and write what it sees; return where it has one."""
    live = np.zeros(len(games), np.bool_)
    masks[:] = 0
    for i in range(len(games)):
        advance(games[i], problem, chances[i])
        live[i] = games[i].public.phase == PLAYING
        if live[i]:
            observe(games[i], problem.seat, views[i])
            mark_legal(games[i].public, games[i].hands[problem.seat], masks, i, 0)
    return live


@compiled
def _move(games: Array, live: Array, actions: Array) -> None:
    for i in live:
        play(games[i], actions[i])


@compiled
def _write_margins(games: Array, seat: int, margins: Array) -> None:
    for i in range(len(games)):
        margins[i] = margin_of(games[i].public, side_of(games[i].public.rules, seat))


@compiled
def _play_base(games: Array, problem: Problem, chances: Array) -> None:
    for i in range(len(games)):
        play_base(games[i], problem, chances[i])


def base_margins(rules: Rules, problem: Problem, seeds: np.ndarray) -> np.ndarray:
    """Return what the base wins, by deal."""
    deals, margins = deals_of(rules, seeds), np.zeros(len(seeds))
    _play_base(deals.games, problem, deals.chances)
    _write_margins(deals.games, problem.seat, margins)
    return margins


def report(
    rules: Rules,
    seeds: np.ndarray,
    others: str,
    base: str,
    worlds: np.ndarray,
    agents: Mapping[str, Agent],
) -> Iterator[tuple[str, str, str]]:
    """Yield a row for the bound without charges, for the bound, and for every agent."""
    deals, (theirs, own) = deals_of(rules, seeds), (weights_of(others), weights_of(base))
    problem = problem_of(RESPONDER, theirs, own, worlds)
    seen = problem_of(RESPONDER, theirs, own, np.array([1]))
    start = base_margins(
        rules, problem, np.arange(BASE_SEEDS, BASE_SEEDS + BASE_DEALS, dtype=np.uint64)
    )
    resampled = resampled_means(start[:, None], 1)

    def points(advantages: np.ndarray) -> str:
        low, high = (ends[0] for ends in interval(resampled + resampled_means(advantages[:, None])))
        return f"{start.mean() + advantages.mean():+.2f} ({low:+.2f} .. {high:+.2f})"

    yield "sees everything, charged nothing", points(bound(deals, seen)[:, 0]), ""
    yield "sees everything, charged for it", points(bound(deals, problem)[:, 0]), ""
    for spec, agent in agents.items():
        found = played(deals, problem, agent)
        low, high = (ends[0] for ends in interval(resampled_means(found[:, 1:])))
        plain = f"{found[:, 1].mean():+.2f} ({low:+.2f} .. {high:+.2f})"
        yield spec, points(found[:, 0]), plain
