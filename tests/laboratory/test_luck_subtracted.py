"""Luck that is subtracted changes no expectation, and narrows intervals."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from agents.arena.duels import duel_of
from agents.arena.faults import ArenaError
from agents.arena.games import Played, Terms, play_chunk, seatings
from agents.arena.luck import Luck, without_luck
from agents.arena.tournament import Tournament, play_tournament
from fiveup_env import Rules
from fiveup_env.engine.chance import scramble
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.game.game import Game
from fiveup_env.opponents.features import SCRATCH, best_action, list_best
from fiveup_env.opponents.ladder import LADDER, weights_of
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.actions import ACTION_COUNT
from tests.support import play_randomly

FOUR = Rules.preset("five_up", 4)
DEALS = 40


def moves_of(game: Game) -> list[int]:
    return [move.action for move in game.moves]


def chunk(a: str, b: str, rules: Rules, first: int, deals: int) -> Played:
    seeds = np.arange(first, first + deals, dtype=np.uint64)
    return play_chunk([make_agent(a), make_agent(b)], [a, b], Terms(rules, luck=True), seeds)


@pytest.mark.parametrize(
    ("a", "b", "preset", "players"),
    [
        ("greedy", "partner", "five_up", 4),
        ("random", "greedy", "all_fives", 2),
        ("greedy", "random", "muggins", 3),
        ("random", "random", "five_up", 2),
    ],
)
def test_luck_is_zero_on_average(a: str, b: str, preset: str, players: int) -> None:
    luck = chunk(a, b, Rules.preset(preset, players), 7_000, DEALS).luck
    by_deal = luck.reshape(DEALS, -1, 2).mean(1)
    errors = by_deal.std(0, ddof=1) / np.sqrt(DEALS)
    assert (errors > 0).all()
    assert (abs(by_deal.mean(0)) < 3.5 * errors).all(), by_deal.mean(0) / errors


def test_without_luck_the_interval_of_two_heuristics_is_less_than_half_as_wide() -> None:
    duel = duel_of([chunk("counter", "partner", FOUR, 9_000, DEALS)], FOUR)
    assert duel.wins.std() < 0.5 * duel.game_wins.mean(1).std()
    assert abs(duel.wins.mean() - 0.5) < abs(duel.game_wins.mean() - 0.5) + 0.1


def test_the_luck_of_a_game_depends_on_its_own_seed_and_moves_alone() -> None:
    agents = [make_agent("random"), make_agent("greedy")]
    measure = Luck(FOUR, agents, seatings(FOUR))
    games = [play_randomly(Game(FOUR, seed=seed), Random(seed)) for seed in (3, 4, 5)]
    luck = [measure(seed, 1, moves_of(game)) for seed, game in enumerate(games, 3)]
    again = [measure(seed, 1, moves_of(game)) for seed, game in reversed([*enumerate(games, 3)])]
    assert np.array_equal(luck, again[::-1])
    assert len({one.tobytes() for one in luck}) == 3


def test_a_game_that_a_forfeit_ended_has_the_luck_that_it_had_until_then() -> None:
    measure = Luck(FOUR, [make_agent("random"), make_agent("greedy")], seatings(FOUR))
    moves = moves_of(play_randomly(Game(FOUR, seed=6), Random(6)))
    one, two = measure(6, 0, moves[:1]), measure(6, 0, moves[:2])
    assert one[0] == two[0] != 0  # the luck of the first deal
    assert measure(6, 0, [])[1] == 0


def test_no_deal_has_a_say_in_what_is_subtracted_from_it() -> None:
    random = np.random.default_rng(4)
    luck, results = random.normal(size=(40, 2)), random.normal(size=40)
    plain = without_luck(results, luck)
    for k in range(40):
        changed = results.copy()
        changed[k] += 5
        assert without_luck(changed, luck)[k] == pytest.approx(plain[k] + 5)


def test_results_that_are_luck_alone_leave_nothing_and_luck_of_zero_subtracts_nothing() -> None:
    random = np.random.default_rng(5)
    luck = random.normal(size=(50, 2))
    assert without_luck(luck @ [0.7, 0.3] + 0.4, luck).var() == pytest.approx(0)
    results = random.normal(size=50)
    assert (without_luck(results, np.zeros((50, 2))) == results).all()
    assert without_luck(results[:1], luck[:1]) == results[:1]


@compiled
def choose_often(views: Array, weights: Array, scratch: Array, listed: Array, chosen: Array) -> int:
    """Mark the actions that are listed for a view, and those that a heuristic chooses."""
    public, hand, best = views[0].public, views[0].hand, np.empty(ACTION_COUNT, np.int64)
    count = list_best(public, hand, weights, scratch[0], best)
    for k in range(count):
        listed[best[k]] = True
    for key in range(200):
        chosen[best_action(public, hand, weights, scratch[0], scramble(np.uint64(key)))] = True
    return count


@pytest.mark.parametrize("rung", LADDER)
def test_the_best_actions_listed_are_those_that_a_heuristic_chooses(rung: str) -> None:
    counts = []
    for seed in range(30):
        game = play_randomly(Game(FOUR, seed=seed), Random(seed), seed // 2)
        listed, chosen = np.zeros((2, ACTION_COUNT), np.bool_)
        scratch = np.zeros(1, SCRATCH)
        counts.append(choose_often(game.view(), weights_of(rung), scratch, listed, chosen))
        assert (listed == chosen).all(), game
    assert (max(counts) > 1) == (rung in {"greedy", "defensive"})  # the others have no equals


def test_single_hands_are_refused() -> None:
    with pytest.raises(ArenaError, match="--without-luck is for whole games"):
        Terms(FOUR, "hand", luck=True)


def test_results_with_luck_resume_and_are_not_mixed_with_others(tmp_path: Any) -> None:
    file = tmp_path / "results.jsonl"
    tournament = Tournament(("greedy", "random"), Terms(FOUR, luck=True), 4, chunk=2)
    first = play_tournament(tournament, 1, file)
    again = play_tournament(tournament, 1, file)
    for task, played in first.played.items():
        assert (played.luck == again.played[task].luck).all()
        assert played.luck.any()
    plain = Tournament(("greedy", "random"), Terms(FOUR), 4, chunk=2)
    with pytest.raises(ArenaError, match="was played with luck True, not False"):
        play_tournament(plain, 1, file)
