"""Luck that is subtracted changes no expectation, and narrows intervals."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from fiveup_env import Rules
from fiveup_env.arena.duels import duel_of
from fiveup_env.arena.faults import ArenaError
from fiveup_env.arena.games import Played, Terms, play_chunk, seatings
from fiveup_env.arena.luck import WORLD, WORLDS, Luck, draw_worlds, players_for, without_luck
from fiveup_env.arena.tournament import Tournament, play_tournament
from fiveup_env.engine.chance import deal, scramble
from fiveup_env.engine.compiled import Array, compiled
from fiveup_env.engine.play import begin_hand
from fiveup_env.game.game import Game
from fiveup_env.opponents.features import SCRATCH, best_action, list_best
from fiveup_env.opponents.ladder import LADDER, weights_of
from fiveup_env.opponents.playouts import first_hands
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import RULES
from fiveup_env.rules.tiles import LEAD_ORDER
from tests.support import play_randomly

FOUR = Rules.preset("five_up", 4)


def moves_of(game: Game) -> list[int]:
    return [move.action for move in game.moves]


def chunk(a: str, b: str, rules: Rules, first: int, deals: int) -> Played:
    seeds = np.arange(first, first + deals, dtype=np.uint64)
    return play_chunk([make_agent(a), make_agent(b)], [a, b], Terms(rules, luck=True), seeds)


@pytest.mark.parametrize(
    ("a", "b", "preset", "players", "deals"),
    [
        ("greedy", "partner", "five_up", 4, 16),
        ("random", "greedy", "all_fives", 2, 40),
        ("greedy", "random", "muggins", 3, 40),
        pytest.param("greedy", "partner", "five_up", 4, 200, marks=pytest.mark.slow),
        pytest.param("random", "random", "five_up", 2, 100, marks=pytest.mark.slow),
    ],
)
def test_luck_is_zero_on_average(a: str, b: str, preset: str, players: int, deals: int) -> None:
    luck = chunk(a, b, Rules.preset(preset, players), 7_000, deals).luck
    by_deal = luck.reshape(deals, -1, 2).mean(1)
    errors = by_deal.std(0, ddof=1) / np.sqrt(deals)
    assert (errors > 0).all()
    assert (abs(by_deal.mean(0)) < 3.5 * errors).all(), by_deal.mean(0) / errors


def test_without_luck_the_interval_of_two_heuristics_is_less_than_half_as_wide() -> None:
    duel = duel_of([chunk("counter", "partner", FOUR, 9_000, 24)], FOUR)
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


def test_a_heuristic_that_somebody_has_changed_is_not_taken_for_it() -> None:
    class Greedy(type(make_agent("greedy"))):  # type: ignore[misc]
        """Not the rung of this name."""

    assert Luck(FOUR, [Greedy(), make_agent("random")], seatings(FOUR))._players["likely"].all()


def test_few_deals_cannot_ask_for_much_to_be_subtracted() -> None:
    luck = np.array([[0.001, 0.0], [0.002, 0.0], [0.0, 0.001], [0.001, 0.0]])
    results = np.array([0.0, 1.0, 1.0, 0.0])
    assert abs(without_luck(results, luck) - results).max() <= 2 * luck.max()


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


@compiled
def deal_with_worlds(games: Array, players: Array, worlds: Array) -> int:
    """Deal the first hand of a game and the worlds that look like it; return how many they are."""
    begin_hand(games[0], deal(games[0]))
    return draw_worlds(games, players[0], np.array([scramble(games[0].seed)]), worlds)


def test_in_every_world_the_tiles_dealt_let_the_same_tile_of_the_same_seat_lead() -> None:
    rules = Rules.preset("five_up", 4, lead_tile="highest_double")
    players, counts = players_for("greedy", "").copy(), []
    players["hidden"][0, 1:4:2] = 1
    for seed in range(30):
        games = first_hands(np.array(rules.to_struct(), RULES), np.array([seed], np.uint64))
        worlds = np.zeros(WORLDS, WORLD)
        counts.append(deal_with_worlds(games, players, worlds))
        hands, public = games[0]["hands"], games[0]["public"]
        for world in worlds["game"][: counts[-1]]:
            dealt = world["hands"][:4].tolist()
            assert [dealt[0], dealt[2]] == hands[[0, 2]].tolist()
            leading = next(tile for tile in LEAD_ORDER if sum(dealt) >> int(tile) & 1)
            assert leading == public["forced_lead"]
            assert dealt[public["lead"]] >> int(leading) & 1
    assert 1 < min(counts) < max(counts) <= WORLDS


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
