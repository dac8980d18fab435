"""What partners gain together, against every plan that they can have."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.silence import Side, to_equilibrium
from fiveup_env import Rules
from fiveup_env.exact.form import Form, form_of
from fiveup_env.exact.values import exploitability


@pytest.fixture(scope="module")
def form() -> Form:
    """Return a game with any payoffs; the partners of seats 0 and 1 have six choices of two."""
    game = form_of(Rules.preset("mini-2", 4, hand_size=1, draw="optional"))
    payoffs = np.random.default_rng(0).normal(size=(len(game.ends), 1)) / len(game.ends)
    return replace(game, payoffs=payoffs * [1, -1, 1, -1])


def best_of_all(form: Form, profile: np.ndarray, seats: tuple[int, int]) -> float:
    """Return the most that partners have by any plan of one, and the other's best reply to it."""
    seat, partner = seats
    firsts = form.firsts[:-1][form.seats == partner]
    values = []
    for chosen in itertools.product((0, 1), repeat=len(firsts)):
        plan = profile.copy()
        plan[firsts], plan[firsts + 1] = np.equal(chosen, 0), np.equal(chosen, 1)
        values.append(exploitability(form, plan).best[seat])
    return max(values)


def test_the_best_plan_of_partners_is_the_best_of_all(form: Form) -> None:
    sides, rng = (Side(form, (0, 2)), Side(form, (1, 3))), np.random.default_rng(1)
    gains = []
    for _ in range(3):
        profile = form.normalised(rng.random(len(form.actions)) ** 4)
        alone = exploitability(form, profile).best
        for side, other in itertools.permutations(sides):
            worth = side.worth(other, other.plan(profile))
            bound, profile_of_best = side.best(worth)
            exact = best_of_all(form, profile, side.seats)
            assert bound == pytest.approx(exact, abs=1e-6)
            assert worth @ side.plan(profile_of_best) == pytest.approx(exact)
            assert side.climb(worth, profile)[0] <= exact + 1e-9
            gains.append(exact - alone[list(side.seats)].max())
    assert max(gains) > 0.001  # together they have more than either alone


def test_the_value_of_a_profile_is_that_of_its_plans(form: Form) -> None:
    lead, follow = Side(form, (0, 2)), Side(form, (1, 3))
    profile = form.normalised(np.random.default_rng(2).random(len(form.actions)))
    value = lead.worth(follow, follow.plan(profile)) @ lead.plan(profile)
    assert value == pytest.approx(exploitability(form, profile).values[0])


def test_no_plan_gains_against_the_equilibrium_of_sides(form: Form) -> None:
    sides = Side(form, (0, 2)), Side(form, (1, 3))
    *_, (value, (lead, follow)) = to_equilibrium(sides, form.uniform(), gap=1e-5)
    assert value - 1e-9 <= lead <= value + 1e-5
    assert -value - 1e-9 <= follow <= -value + 1e-5
