"""Monte Carlo search: what its values mean, and what it takes into account."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from fiveup_env import Game, Move, belief
from fiveup_env.engine.view import as_view
from fiveup_env.errors import BeliefError
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.search.pimc import Pimc
from tests.support import chosen, game_of, impossible_view, play_randomly, push_all


def values(agent: Pimc, game: Game, seed: int = 0) -> dict[str, float]:
    """What the agent thinks of every allowed move."""
    row = agent.values(game.view(), np.random.default_rng(seed))[0]
    assert (np.isfinite(row) == game.action_mask()).all()
    return {str(move): float(row[move.action]) for move in game.legal_moves}


def mean_margin(game: Game, move: str, worlds: int) -> float:
    """What a move is worth on average over sampled worlds, all played on together by greedy."""
    twins: list[Game] = []
    for world in belief.sample(game.view(), worlds, np.random.default_rng(1)):
        twin = game.copy()
        twin._state["hands"][0], twin._state["order"][0] = world["hands"], world["order"]
        twin.push(move)
        twins.append(twin)
    greedy, rng = make_agent("greedy"), np.random.default_rng(2)
    while going := [twin for twin in twins if goes_on(twin, game.hand_number)]:
        views = np.concatenate([twin.view() for twin in going])
        actions = greedy(views, rng)
        for twin, action in zip(going, actions, strict=True):
            twin.push(Move(int(action)))
    side = game.rules.side_of(int(game.turn or 0))
    won = np.array([twin.scores for twin in twins]) - game.scores
    return float((won[:, side] - won[:, 1 - side]).mean())


def goes_on(game: Game, hand: int) -> bool:
    return game.hand_number == hand and game.outcome() is None


SMALL = {
    "alone": push_all(game_of("2-1 0-0", "2-2 1-1", max_pip=2, reserve=2), "2-1"),
    "partners": push_all(game_of("3-2 0-0", "2-2 3-3", "3-1 1-0", "1-1 2-0", max_pip=3), "3-2"),
}


@pytest.mark.parametrize("name", SMALL)
def test_values_are_the_mean_over_all_worlds_of_what_the_side_will_win(name: str) -> None:
    game = SMALL[name]
    thought = values(Pimc(worlds=4000, aim="hand"), game)
    assert len(thought) == 2
    for move, value in thought.items():
        assert value == pytest.approx(mean_margin(game, move, 500), abs=0.25)


def test_a_single_move_is_not_searched() -> None:
    game = push_all(game_of("6-5 1-0", "5-4 2-2"), "6-5")
    assert values(Pimc(), game) == {"5-4@5": 0.0}


def test_a_decision_is_the_same_alone_and_among_others_and_another_seed_differs() -> None:
    games = [play_randomly(Game(seed=seed), Random(seed), 5) for seed in range(4)]
    views = np.concatenate([game.view() for game in games])
    together, others = (Pimc().values(views, np.random.default_rng(seed)) for seed in (0, 1))
    assert (Pimc().values(views[:1], np.random.default_rng(0)) == together[:1]).all()
    assert (others[0] != together[0]).any()


def test_points_that_win_the_game_count_for_more_than_greater_ones_that_do_not() -> None:
    # One point wins. 5-0 makes 5 for sure; the other moves score nothing.
    game = game_of("5-0 6-6 6-4 4-3", "2-1 3-3 2-2 1-1", target=1, game_end="immediate")
    thought = values(Pimc(worlds=64), game)
    assert thought["5-0"] == 1.0
    assert max(thought, key=lambda move: thought[move]) in {"5-0", "6-4"}


def test_of_plays_that_win_alike_the_one_that_scores_is_chosen() -> None:
    # 6-4 has won the game, which ends with the hand; only at the 6 do the ends make 10 again.
    game = push_all(game_of("6-4 6-5", "5-4 6-6", target=1), "6-4 5-4@4")
    assert values(Pimc(), game) == {"6-5@5": 1.0, "6-5@6": 1.0}
    assert chosen("pimc:worlds=2,looks=1", game) == "6-5@6"


def test_a_budget_of_time_gives_an_allowed_move() -> None:
    game = play_randomly(Game(seed=8), Random(8), 3)
    assert chosen("pimc:ms=1", game) in {str(move) for move in game.legal_moves}


def test_a_view_that_no_deal_leads_to_is_refused() -> None:
    view = impossible_view()
    assert as_view(view) is view
    with pytest.raises(BeliefError, match="no deal is consistent with this view"):
        make_agent("pimc:worlds=2,aim=hand")(view, np.random.default_rng(0))
