"""The agents of the library on duplicate deals: each is stronger than what it is built on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.fitting.tuning import margins
from fiveup_env import Rules, make_agent
from fiveup_env.arena.duels import duel
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES
from fiveup_env.opponents.heuristics.ladder import LADDER, weights_of


def test_where_nothing_has_a_weight_any_action_is_as_good() -> None:
    seeds = np.arange(100, dtype=np.uint64)
    won = margins(Rules.preset(), seeds, np.zeros(len(FEATURE_NAMES)), weights_of("greedy"))
    assert won.mean() < -2


@pytest.mark.parametrize(("rung", "below"), list(itertools.pairwise([*reversed(LADDER), "random"])))
def test_every_rung_beats_the_one_below(rung: str, below: str) -> None:
    deals = 40_000 if rung in {"partner", "counter"} else 1_000
    played = duel([make_agent(rung), make_agent(below)], Rules.preset(), np.arange(deals), "hand")
    low, _ = played.margin_interval()
    assert low > 0


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_search_beats_the_heuristic_that_plays_its_hands_out(players: int) -> None:
    rules = Rules.preset(players=players)
    played = duel(
        [make_agent("pimc:worlds=32,aim=hand"), make_agent("greedy")],
        rules,
        np.arange(150),
        "hand",
    )
    low, _ = played.margin_interval()
    assert low > 0


def test_more_worlds_are_better_than_few() -> None:
    many, few = make_agent("pimc:worlds=128,aim=hand"), make_agent("pimc:worlds=2,aim=hand")
    played = duel([many, few], Rules.preset(), np.arange(150), "hand")
    assert played.margin_interval()[0] > 0
