"""`casual`: without mistakes it is its rung, and each mistake happens as often as is asked."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fiveup_env import Game, Move, legal_masks, make_agent
from fiveup_env.opponents.heuristics.casual import Casual
from fiveup_env.opponents.heuristics.ladder import LADDER
from tests.support import game_of, push_all, random_views

TIMES = 20_000


def casual(rung: str = "greedy", **chances: float) -> Casual:
    """An agent that makes no mistakes but those that are named."""
    return Casual(rung, **({"tiles": 0, "points": 0, "doubles": 0, "others": 0} | chances))


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """Views from all over random games."""
    return np.concatenate([random_views(80, moves) for moves in range(0, 40, 5)])


def shares(agent: Casual, game: Game) -> dict[str, float]:
    """How often an agent makes each move."""
    chosen = agent(np.repeat(game.view(), TIMES), np.random.default_rng(0))
    counts = Counter(chosen.tolist())
    return {str(Move(action)): count / TIMES for action, count in counts.items()}


@pytest.mark.parametrize("rung", LADDER)
def test_without_mistakes_it_is_its_rung(rung: str, views: np.ndarray) -> None:
    chosen = casual(rung)(views, np.random.default_rng(3))
    assert (chosen == make_agent(rung)(views, np.random.default_rng(3))).all()


@pytest.mark.parametrize("chance", [0.3, 1])
def test_with_mistakes_it_plays_what_is_allowed(chance: float, views: np.ndarray) -> None:
    agent = Casual("partner", chance, chance, chance, chance)
    chosen = agent(views, np.random.default_rng(5))
    assert legal_masks(views)[np.arange(len(views)), chosen].all()
    assert (chosen == agent(views, np.random.default_rng(5))).all()


@pytest.fixture
def scoring() -> Game:
    """One of two plays scores: 6-2 makes 3 + 2."""
    return push_all(game_of("6-3 1-0 2-2", "6-2 3-1 5-4"), "6-3")


def test_a_score_is_overlooked_as_often_as_asked(scoring: Game) -> None:
    assert shares(casual(), scoring) == {"6-2@6": 1}
    overlooking = shares(casual(points=0.3), scoring)  # if it is overlooked, half of the time
    assert overlooking == pytest.approx({"6-2@6": 0.7 + 0.3 / 2, "3-1@3": 0.3 / 2}, abs=0.01)


def test_a_tile_is_overlooked_as_often_as_asked_but_not_all_that_fit(scoring: Game) -> None:
    overlooking = shares(casual(tiles=0.3), scoring)
    assert overlooking["6-2@6"] == pytest.approx(0.7 + 0.3**2 / 2, abs=0.01)
    assert shares(casual(tiles=1), scoring) == pytest.approx({"6-2@6": 0.5, "3-1@3": 0.5}, abs=0.02)


def test_a_double_is_counted_once_as_often_as_asked() -> None:
    # 6-3 makes 12 + 3. If the double counts 6, that is 9, and 6-4 makes 10.
    game = push_all(game_of("6-6 1-0", "6-3 6-4"), "6-6")
    assert shares(casual(), game) == {"6-3@6x": 1}
    assert shares(casual(doubles=0.4), game) == pytest.approx(
        {"6-3@6x": 0.6, "6-4@6x": 0.4}, abs=0.01
    )


def test_a_double_that_is_set_is_counted_once_too() -> None:
    # 4-4 makes 8 + 1; if it counts 4, that is 5. 4-3 makes 4.
    game = push_all(game_of("4-1 1-0", "4-4 4-3"), "4-1")
    assert len(shares(casual(), game)) == 2
    assert shares(casual(doubles=1), game) == {"4-4@4": 1}


def test_a_double_that_is_covered_no_longer_counts() -> None:
    # The ends are 6-6 and 3. 6-2 covers the double, and makes 3 + 2.
    game = push_all(game_of("6-6 1-0 0-0", "6-3 2-2 5-5", "6-2 3-1 4-4"), "6-6 6-3@6x")
    assert shares(casual(doubles=1), game) == {"6-2@6x": 1}


def test_the_others_are_forgotten_as_often_as_asked() -> None:
    # Neither lead scores, but a reply to 6-6 does: see the tests of the ladder.
    game = game_of("0-0 6-6", "4-1 5-2")
    assert shares(casual("defensive"), game) == {"0-0": 1}
    forgetting = shares(casual("defensive", others=0.4), game)
    assert forgetting == pytest.approx({"0-0": 0.6 + 0.4 / 2, "6-6": 0.4 / 2}, abs=0.01)
