"""Judging: losses of decisions, error rates, chances at every moment, luck and skill."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from fiveup_env import Game, Move, make_agent
from fiveup_env.analysis import Judgement, chances_of, judge, luck_of, moments_of
from fiveup_env.analysis.audit import oddities
from fiveup_env.analysis.trials import Trials, shortfalls
from fiveup_env.errors import AgentError
from fiveup_env.opponents.search.pimc import Pimc
from tests.support import hidden_otherwise, play_randomly

QUICK = "pimc:worlds=64,playout=greedy"


def played_by(specs: list[str], seed: int = 3, **options: Any) -> Game:
    """A game to 15 points between agents, one for each seat."""
    game = Game(players=len(specs), seed=seed, target=15, **options)
    agents, rng = [make_agent(spec) for spec in specs], np.random.default_rng(seed)
    while game.outcome() is None:
        agent = agents[game.turn or 0]
        game.push(game.ask(agent, rng))
    return game


def test_every_move_with_a_choice_is_judged_and_no_other() -> None:
    game = played_by(["random"] * 4)
    judgement = judge(game, QUICK)
    again = Game(game.rules, seed=game.seed)
    with_choice = []
    for number, move in enumerate(game.moves):
        if len(again.legal_moves) > 1:
            with_choice.append((number, again.turn, again.hand_number, move))
        again.push(move)
    judged = [(d.number, d.seat, d.hand, d.move) for d in judgement.decisions]
    assert judged == with_choice
    for decision in judgement.decisions:
        options = {option.move for option in decision.options}
        assert {decision.move, decision.best} <= options
        chances = [option.chance.mean for option in decision.options]
        assert chances == sorted(chances, reverse=True)
        assert all(0 <= chance <= 1 for chance in chances)


def before_a_win(seed: int) -> tuple[Game, Move, Move]:
    """A game in which one move wins at once, with that move and one that does not."""
    game = Game(players=2, seed=seed, target=12, game_end="immediate")
    random = Random(seed)
    while game.outcome() is None:
        ends = {}
        for move in game.legal_moves:
            game.push(move)
            ends[move] = game.outcome() is not None
            game.pop()
        if sum(ends.values()) == 1 and len(ends) > 1:
            (winning,) = (move for move, wins in ends.items() if wins)
            return game, winning, next(move for move in ends if move != winning)
        game.push(random.choice([move for move, wins in ends.items() if not wins] or list(ends)))
    return before_a_win(seed + 100)


def test_a_win_that_was_missed_is_a_mistake() -> None:
    game, winning, other = before_a_win(1)
    game.push(other)
    decision = judge(game, QUICK).decisions[-1]
    assert (decision.move, decision.best) == (other, winning)
    assert decision.options[0].chance == (1.0, 0.0)
    assert decision.chance_lost.mean == pytest.approx(
        1 - next(one.chance.mean for one in decision.options if one.move == other)
    )


@pytest.mark.parametrize("weighed", [1, 16])
def test_the_values_are_those_of_pimc(weighed: int) -> None:
    game = play_randomly(Game(seed=5), Random(5), 6)
    mask = game.action_mask()
    actions = mask.nonzero()[0]
    trials = Trials(f"pimc:worlds=2000,weighed={weighed},playout=greedy")
    means = trials(game.view(), actions, 1).mean(0)
    views = np.repeat(game.view(), 60)
    for column, aim, near in ((0, "game", 0.03), (1, "hand", 0.5)):
        search = Pimc(worlds=32, weighed=weighed, aim=aim)  # too few to give an action up
        values = search.values(views, np.random.default_rng(1))[:, actions].mean(0)
        assert means[:, column] == pytest.approx(values, abs=near)


def test_moves_that_only_look_better_by_luck_cost_nothing_on_average() -> None:
    rng = np.random.default_rng(0)
    lost = [shortfalls(rng.normal(size=(40, 6, 2)), 0)[0] for _ in range(400)]
    means = [loss.mean for loss in lost]
    assert abs(np.mean(means)) < 3 * np.std(means) / math.sqrt(len(lost))
    # The best of noisy means would say otherwise.
    means_of_worlds = rng.normal(size=(400, 40, 6)).mean(1)
    naive = means_of_worlds.max(1) - means_of_worlds[:, 0]
    assert np.mean(naive) > 0.1
    inside = [loss.interval[0] <= 0 <= loss.interval[1] for loss in lost]
    assert np.mean(inside) > 0.85


def test_a_judgement_sees_only_what_the_player_saw() -> None:
    game = play_randomly(Game(seed=8), Random(8), 9)
    seat = game.turn or 0
    other = hidden_otherwise(game, Random(1), seat)
    actions, trials = game.action_mask().nonzero()[0], Trials(QUICK)
    same = [trials(one.view(seat), actions, 7) for one in (game, other)]
    assert np.array_equal(same[0], same[1])
    assert chances_of(game.state(), QUICK)[seat] == chances_of(other.state(), QUICK)[seat]


def test_error_rates_tell_a_random_player_from_a_good_one() -> None:
    game = played_by(["partner", "random"], seed=4)
    judgement = judge(game, "pimc:worlds=100,playout=partner")
    rates = [judgement.error_rate(seat) for seat in range(2)]
    assert sum(rate.decisions for rate in rates) == len(judgement.decisions)
    assert rates[0].chance.mean < rates[1].chance.mean
    assert rates[0].points.mean < rates[1].points.mean
    losses = [d.chance_lost.mean for d in judgement.decisions if d.seat == 1]
    assert rates[1].chance.mean == pytest.approx(np.mean(losses))
    assert rates[1].chance.error > 0
    low, high = rates[1].chance.interval
    assert high - low == pytest.approx(2 * 1.96 * rates[1].chance.error)
    assert math.isnan(Judgement(()).error_rate(0).chance.mean)


@pytest.mark.parametrize(("players", "draw"), [(2, "until_playable"), (5, "optional")])
def test_there_is_a_moment_before_every_move_and_after_every_hand(players: int, draw: Any) -> None:
    game = play_randomly(Game(players=players, draw=draw, seed=1, target=10), Random(1))
    assert game.outcome()
    moments = list(moments_of(game))
    over = [m for m in moments if m.state[0]["public"]["phase"] != 0]
    assert len(moments) == len(game.moves) + len(game.hand_states())
    assert len(over) == len(game.hand_states())
    assert moments[-1].moves == len(game.moves)


def test_chances_end_with_the_outcome_and_are_those_of_the_sides() -> None:
    game = played_by(["greedy"] * 4)
    outcome = game.outcome()
    assert outcome
    last = [*moments_of(game)][-1]
    assert [chance.mean for chance in chances_of(last.state, QUICK)] == [
        float(seat in outcome.seats) for seat in range(4)
    ]
    first = chances_of(Game(seed=1).state(), "pimc:worlds=400,playout=greedy")
    assert all(0.3 < chance.mean < 0.7 for chance in first)


@pytest.mark.parametrize("players", [3, 4])
def test_luck_and_skill_add_up_to_the_outcome(players: int) -> None:
    game = played_by(["greedy"] * players, seed=6, teams=players == 4)
    hands, outcome = luck_of(game), game.outcome()
    assert outcome
    assert len(hands) == len(game.hand_states())
    for side in range(game.rules.sides):
        total = sum(hand.luck(side) + hand.skill(side) for hand in hands)
        assert hands[0].before[side] + total == pytest.approx(float(side == outcome.winner))


def test_the_reference_player_itself_has_luck_only() -> None:
    game = played_by(["partner"] * 4, seed=9)
    for hand in luck_of(game):
        assert abs(hand.skill(0)) <= 0.05  # only ties between equal moves
    assert luck_of(play_randomly(Game(seed=1), Random(1), 3)) == []  # the hand is not over


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("greedy", "the reference must be a pimc such as"),
        ("pimc:worlds=3", "4 worlds or more"),
        ("pimc:aim=hand", "ms and aim as they are"),
    ],
)
def test_a_reference_that_cannot_judge_is_refused_in_a_sentence(
    reference: str, sentence: str
) -> None:
    with pytest.raises(AgentError, match=sentence):
        judge(Game(seed=1), reference)


# --- Audits


def test_who_takes_the_most_points_is_never_said_to_have_missed_some() -> None:
    greedy = [*oddities(played_by(["greedy"] * 4), reference=QUICK)]
    reasons = {oddity.reason for oddity in greedy if oddity}
    assert len(greedy) > 20
    assert reasons
    assert "scored more" not in reasons


def test_an_oddity_names_a_play_that_was_clearly_as_good_and_better_to_look_at() -> None:
    game = played_by(["random"] * 4)
    decisions = {d.number: d for d in judge(game, QUICK, seed=5).decisions}
    odd = [oddity for oddity in oddities(game, {1, 3}, QUICK, seed=5) if oddity]
    assert odd
    for oddity in odd:
        decision = decisions[oddity.number]
        chances = {option.move: option.chance.mean for option in decision.options}
        assert (oddity.seat, oddity.move) == (decision.seat, decision.move)
        assert oddity.seat in {1, 3}
        gain = chances[oddity.other] - chances[oddity.move]
        assert oddity.gain.mean == pytest.approx(gain)
        assert oddity.gain.interval[0] >= 0
