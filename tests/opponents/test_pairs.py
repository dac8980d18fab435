"""A pair: two agents as partners of each other."""

from __future__ import annotations

import numpy as np

from fiveup_env import make_agent
from fiveup_env.opponents.agent import unchecked
from fiveup_env.opponents.pairs import Pair, Seats
from fiveup_env.opponents.registry import split_specs
from tests.support import lowest, lowest_after_draws, random_views


def test_the_first_has_the_lower_seat_of_each_side() -> None:
    views, rng = random_views(30, 40, [4]), np.random.default_rng(0)
    assert set(views["seat"]) == {0, 1, 2, 3}
    chosen = Pair(lowest, "defensive")(views, rng)
    lower = views["seat"] < 2
    assert (chosen[lower] == lowest(views[lower], rng)).all()
    # Its ties depend on its generator alone, so another partner changes none of its choices.
    other = Pair(lowest_after_draws, "defensive")(views, np.random.default_rng(0))
    assert (chosen == other).all()


def test_the_first_plays_where_everybody_plays_alone() -> None:
    views, rng = random_views(30, 40, [3]), np.random.default_rng(0)
    assert (Pair(lowest, "random")(views, rng) == lowest(views, rng)).all()


def test_every_seat_has_its_own_agent_and_after_the_last_comes_the_first() -> None:
    views, rng = random_views(30, 40, [4]), np.random.default_rng(0)
    for members in ((lowest, lowest_after_draws), (lowest, "random", lowest_after_draws, lowest)):
        chosen, place = Seats(*members)(views, rng), views["seat"] % len(members)
        for number, member in enumerate(members):
            own = place == number
            if callable(member):
                assert (chosen[own] == member(views[own], rng)).all()


def test_members_that_are_compiled_are_asked_without_checks() -> None:
    pair = Pair("greedy", "level:3")
    for asked in (unchecked(pair), *pair._members):
        assert getattr(asked, "__name__", "") == "choose_unchecked"


def test_options_of_a_member_follow_it() -> None:
    first, second = "pimc:worlds=5,playout=greedy", "casual:greedy,tiles=0.5,points=0.1"
    pair = f"pair:{first},second={second}"
    assert split_specs(f"partner,{pair},random") == ("partner", pair, "random")
    for spec in (
        pair,
        f"pair:first={first},second={second}",
        f"pair:second={second},first={first}",
    ):
        assert make_agent(spec) == Pair(first, second)
