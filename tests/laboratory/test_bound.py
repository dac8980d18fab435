"""The bound on what one seat can win, against exact best replies in the mini games."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from agents.search.relaxation import Problem, digests, problem_of
from benchmarks.bound import Deals, bound, deals_of, played
from fiveup_env import Rules
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.exact.form import Form, form_of
from fiveup_env.exact.values import (
    add_best_replies,
    reaches,
    write_worth,
)
from fiveup_env.opponents.features import SCRATCH, list_best
from fiveup_env.opponents.ladder import weights_of
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.actions import ACTION_COUNT

pytestmark = pytest.mark.slow  # what is tested takes half a minute to compile

MINIS = {
    "mini-2": Rules.preset("mini-2", 2),
    "mini-2-draw": Rules.preset("mini-2-draw", 2),
    "three": Rules.preset("mini-2", 3),
    "partners": Rules.preset("mini-3", 4, hand_size=2),
}
every_mini = pytest.mark.parametrize("mini", MINIS)
FREE = np.array([1])
SHORT = np.array([0, 1, 3, 4, 5, 6], np.uint64)  # deals whose hands have few sequences of moves


class Exact(NamedTuple):
    """What the best reply wins among others if it leads, and its table of actions."""

    value: float
    table: tuple[np.ndarray, np.ndarray]


@compiled
def write_shares(views: Array, weights: Array, scratch: Array, best: Array, shares: Array) -> None:
    """Write the probability of every action of a heuristic, whose ties are broken at random."""
    for i in range(len(views)):
        count = list_best(views[i].public, views[i].hand, weights, scratch[0], best)
        for k in range(count):
            shares[i, best[k]] = 1 / count


@cache
def form(mini: str) -> Form:
    return form_of(MINIS[mini])


@cache
def exact(mini: str, others: str) -> Exact:
    game, views = form(mini), form(mini).views()
    shares = np.zeros((len(views), ACTION_COUNT))
    best = np.zeros(ACTION_COUNT, np.int64)
    write_shares(views, weights_of(others), np.zeros(1, SCRATCH), best, shares)
    state = np.repeat(np.arange(len(views)), game.widths)
    players = MINIS[mini].players
    profile = np.concatenate([np.ones(players), shares[state, game.actions[players:]]])
    worth = np.empty(len(profile))
    write_worth(game.ends, game.payoffs, reaches(game, profile), 0, worth)
    add_best_replies(game.seats, game.parents, game.firsts, 0, worth)
    chosen = [
        first + int(worth[first:last].argmax())
        for first, last in zip(game.firsts[:-1], game.firsts[1:], strict=True)
    ]
    mine = game.seats == 0
    return Exact(float(worth[0]), (digests(views)[mine], game.actions[chosen][mine]))


def leads(mini: str, first: int, count: int) -> Deals:
    """Deals in which seat 0 leads, as it does in the exact game."""
    deals = deals_of(MINIS[mini], np.arange(first, first + count, dtype=np.uint64))
    mine = deals.games["public"]["lead"] == 0
    return Deals(*(part[mine] for part in deals))


def problem(others: str, worlds: np.ndarray, base: str = "partner") -> Problem:
    return problem_of(0, weights_of(others), weights_of(base), worlds)


def error(values: np.ndarray) -> float:
    return float(values.std() / np.sqrt(len(values)))


@every_mini
@pytest.mark.parametrize("others", ["greedy", "partner"])
@pytest.mark.parametrize("worlds", [FREE, np.full(3, 8), np.full(9, 32)], ids=len)
def test_no_bound_is_below_the_exact_best_reply(mini: str, others: str, worlds: np.ndarray) -> None:
    found = bound(leads(mini, 0, 800), problem(others, worlds)).sum(1)
    assert found.mean() + 4 * error(found) > exact(mini, others).value


def test_charges_bring_the_bound_down() -> None:
    deals = leads("mini-2", 0, 800)
    free, few, many = (
        bound(deals, problem("greedy", worlds)).sum(1).mean()
        for worlds in (FREE, np.full(9, 2), np.full(9, 32))
    )
    assert many < min(free, few)


@every_mini
@pytest.mark.parametrize("others", ["greedy", "partner"])
def test_the_bound_is_tight_if_the_base_is_the_best_reply(mini: str, others: str) -> None:
    deals, answer = leads(mini, 0, 200), exact(mini, others)
    excess = []
    for worlds in (8, 256):
        best = problem_of(0, weights_of(others), np.ones(9), np.full(9, worlds), answer.table)
        found = bound(deals, best)
        assert abs(found[:, 1].mean() - answer.value) < 4 * error(found[:, 1])
        excess.append(found[:, 0].mean())
    assert 0 <= excess[1] < excess[0] / 2


@every_mini
@pytest.mark.parametrize("others", ["greedy", "partner"])
@pytest.mark.parametrize("agent", ["random", "greedy"])
def test_who_knows_only_the_view_is_charged_nothing_on_average(
    mini: str, others: str, agent: str
) -> None:
    deals = deals_of(MINIS[mini], np.arange(3000, dtype=np.uint64))
    own = problem(others, np.array([3, 2, 1]))
    first, found = bound(deals, own)[:, 1], played(deals, own, make_agent(agent))
    charges = found[:, 1] - found[:, 0] - first
    assert charges.std() > 0.1
    assert abs(charges.mean()) < 4 * error(charges)


def test_no_path_collects_more_than_the_most() -> None:
    deals = deals_of(Rules.preset("five_up", 2), SHORT)
    own = problem("greedy", np.array([8, 8, 4, 2]))
    most = bound(deals, own)[:, 0]
    for agent in ("random", "partner"):
        assert (played(deals, own, make_agent(agent))[:, 0] <= most + 1e-9).all()


def test_the_same_seeds_give_the_same_bound() -> None:
    deals = deals_of(Rules.preset("five_up", 2), SHORT)
    own = problem("greedy", np.array([4, 2, 2]))
    again = bound(deals, own)
    assert (bound(deals, own) == again).all()
    parts = [bound(Deals(*(p[k : k + 1] for p in deals)), own) for k in range(len(SHORT))]
    assert (np.concatenate(parts) == again).all()
