"""Monte Carlo search: what its values mean, and what it takes into account."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from agents.arena.duels import duel
from agents.play.search import Pimc
from agents.registry import AgentError, make_agent
from fiveup_env import Game, Rules, belief
from tests.support import chosen, game_of, play_randomly, push_all


def values(agent: Pimc, game: Game, seed: int = 0) -> dict[str, float]:
    """What the agent thinks of every allowed move."""
    row = agent.values(game.view(), game.action_mask()[None], np.random.default_rng(seed))[0]
    assert (np.isfinite(row) == game.action_mask()).all()
    return {str(move): float(row[move.action]) for move in game.legal_moves}


def exact_mean(game: Game, move: str) -> float:
    """The mean margin of a move over all worlds that agree, each played on by its only moves."""
    view, margins = game.view(), []
    side = game.rules.side_of(game.turn)
    worlds = belief.sample(view, 400, np.random.default_rng(1))
    for world in np.unique(worlds):
        twin = game.copy()
        twin._state["hands"][0], twin._state["order"][0] = world["hands"], world["order"]
        before = [int(score) for score in twin.scores]
        twin.push(move)
        while twin.hand_number == game.hand_number and twin.outcome() is None:
            (only,) = twin.legal_moves
            twin.push(only)
        gains = [int(score) - old for score, old in zip(twin.scores, before, strict=True)]
        margins.append(gains[side] - gains[1 - side])
    return float(np.mean(margins))


def test_values_are_the_mean_over_all_worlds_of_the_points_still_to_be_won() -> None:
    # Double-two: seat 0 has two tiles left, seat 1 one; the other two lie in the boneyard.
    game = game_of("2-1 1-0", "2-2 0-0", max_pip=2)
    game.push("2-1")
    thought = values(Pimc(worlds=4000, aim="hand"), game)
    if len(thought) > 1:
        for move, value in thought.items():
            assert value == pytest.approx(exact_mean(game, move), abs=0.1)


def test_a_single_move_is_not_thought_about() -> None:
    game = push_all(game_of("6-5 1-0", "5-4 2-2"), "6-5")
    assert values(Pimc(), game) == {"5-4@5": 0.0}


def test_the_same_seed_gives_the_same_values_and_another_one_others() -> None:
    game = Game(seed=4)
    assert values(Pimc(), game, 1) == values(Pimc(), game, 1) != values(Pimc(), game, 2)


def test_a_decision_is_the_same_alone_and_first_among_others() -> None:
    games = [play_randomly(Game(seed=seed), Random(seed), 5) for seed in range(4)]
    views = np.concatenate([game.view() for game in games])
    masks = np.stack([game.action_mask() for game in games])
    together = Pimc().values(views, masks, np.random.default_rng(0))
    alone = Pimc().values(views[:1], masks[:1], np.random.default_rng(0))
    assert (together[0] == alone[0]).all()


def test_points_that_win_the_game_count_for_more_than_greater_ones_that_do_not() -> None:
    # One point wins. 5-0 makes 5 for sure; the other moves score nothing.
    game = game_of("5-0 6-6 6-4 4-3", "2-1 3-3 2-2 1-1", target=1, game_end="immediate")
    thought = values(Pimc(worlds=64), game)
    assert thought["5-0"] == 1.0
    assert max(thought, key=lambda move: thought[move]) in {"5-0", "6-4"}


def test_search_counts_what_a_partner_gets_as_its_own() -> None:
    game = game_of("6-5 1-0", "5-4 2-2", "4-4 3-3", "0-0 6-6")
    mine = values(Pimc(worlds=256, aim="hand"), game)
    alone = game_of("6-5 1-0", "5-4 2-2", "4-4 3-3", "0-0 6-6", teams=False)
    other = values(Pimc(worlds=256, aim="hand"), alone)
    assert mine != other


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_search_beats_the_heuristic_that_plays_its_hands_out(players: int) -> None:
    rules = Rules.preset(players=players)
    played = duel(
        [make_agent("pimc:worlds=32"), make_agent("greedy")], rules, np.arange(150), "hand"
    )
    low, _ = played.interval(played.margins)
    assert low > 0


def test_more_worlds_are_better_than_few() -> None:
    many, few = make_agent("pimc:worlds=128,aim=hand"), make_agent("pimc:worlds=2,aim=hand")
    played = duel([many, few], Rules.preset(), np.arange(150), "hand")
    assert played.interval(played.margins)[0] > 0


def test_a_budget_of_time_gives_an_allowed_move() -> None:
    game = play_randomly(Game(seed=8), Random(8), 3)
    assert chosen("pimc:ms=1", game) in {str(move) for move in game.legal_moves}


def test_options_that_cannot_be_are_refused() -> None:
    with pytest.raises(AgentError, match=r"no playout 'gredy' \(did you mean 'greedy'\?\)"):
        make_agent("pimc:playout=gredy")
    with pytest.raises(AgentError, match="no aim 'win'; known: game, hand"):
        make_agent("pimc:aim=win")
    with pytest.raises(AgentError, match="worlds=1 or more"):
        make_agent("pimc:worlds=0")
