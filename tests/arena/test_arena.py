"""The arena: duplicate deals, honest intervals, the same results in every run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from random import Random as Chance
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fiveup_env import Batch, Game, Move, Rules, legal_masks
from fiveup_env.arena.play import workers
from fiveup_env.arena.play.faults import ArenaError, view_text
from fiveup_env.arena.play.games import Played, Task, Terms, play_chunk, seatings
from fiveup_env.arena.play.results import to_json
from fiveup_env.arena.play.tally import MOST_POINTS
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.arena.play.workers import play_tasks
from fiveup_env.arena.statistics.duels import Duel, duel, duel_of
from fiveup_env.game.records import loads
from fiveup_env.opponents.agent import Agent, Random
from fiveup_env.opponents.heuristics.ladder import Greedy
from tests.support import SEATINGS, game_of, hidden_otherwise

SEEDS = np.arange(5_000, 5_300)
NAMES = ("first", "second")
FAULTY = "tests.arena.strangers:Faulty"


def lowest(views: np.ndarray, rng: Any) -> np.ndarray:
    """Return the lowest legal actions: an agent that leaves nothing to chance."""
    del rng
    return legal_masks(views).argmax(1)


def lasting(played: Played) -> dict[str, Any]:
    """Return the parts of a chunk that must be the same in every run."""
    return {name: value for name, value in to_json(played).items() if name != "seconds"}


def test_the_views_that_an_agent_is_given_stay_what_they_were() -> None:
    given, copies = [], []

    def keeping(views: np.ndarray, rng: Any) -> np.ndarray:
        given.append(views)
        copies.append(views.tobytes())
        return lowest(views, rng)

    play_chunk([keeping, lowest], NAMES, Terms(Rules.preset(players=2), "hand"), SEEDS[:2])
    assert [views.tobytes() for views in given] == copies


# --- Duplicate deals


@pytest.mark.parametrize(("players", "teams"), SEATINGS)
def test_each_side_is_played_by_the_first_agent_once(players: int, *, teams: bool) -> None:
    rules = Rules.preset(players=players, teams=teams)
    ways = seatings(rules)
    assert len(ways) == rules.sides
    for own, way in enumerate(ways):
        assert set(np.flatnonzero(way == 0)) == set(rules.seats_of(own))


@pytest.mark.parametrize("episode", ["game", "hand"])
def test_an_agent_that_meets_itself_comes_out_even_on_every_deal(episode: str) -> None:
    played = duel([lowest, lowest], Rules.preset(players=2), SEEDS[:50], episode)
    assert (played.wins == 0.5).all()
    assert (played.margins == 0).all()


def test_the_same_seeds_give_the_same_results_whatever_else_is_played() -> None:
    agents: list[Agent] = [Greedy(), Random()]
    rules = Rules.preset(players=3)
    signed = duel(agents, rules, SEEDS, "hand")
    again = duel(agents, rules, SEEDS, "hand")
    first = duel(agents, rules, SEEDS[:256], "hand")
    assert (signed.margins == again.margins).all()
    assert (signed.game_points[:256] == first.game_points).all()


@pytest.mark.parametrize(("players", "teams"), [(3, False), (4, True)])
def test_sides_that_tie_share_a_game(players: int, *, teams: bool) -> None:
    # In the game of an agent against itself a deal goes the same way in all seatings, so the shares
    # of its sides must sum to 1, however many of them tie.
    rules = Rules.preset(players=players, teams=teams, max_pip=3, hand_size=2)
    played = duel([lowest, lowest], rules, SEEDS, "hand")
    tied = np.isin(played.game_wins, [1 / sides for sides in range(2, rules.sides + 1)])
    assert tied.any()
    assert played.game_wins.sum(1) == pytest.approx(1)


def test_every_hand_counts_the_same_however_short_its_game() -> None:
    # A game of 2 hands won by 8, one of 8 hands lost by 8: points are even over all hands, where
    # the mean of the games would be 1.5 points a hand.
    long_and_short = Duel(np.array([[1, 0]]), np.array([[8, -8]]), np.array([[2, 8]]))
    assert long_and_short.margins.mean() == 0
    rng = np.random.default_rng(1)
    hands = rng.integers(1, 20, (500, 2))
    many = Duel(np.zeros((500, 2)), rng.normal(0.3 * hands, 4), hands)
    assert many.margins.mean() == pytest.approx(many.game_points.sum() / hands.sum())
    assert many.turned.margins.mean() == -many.margins.mean()
    # The interval is that of the ratio: resample deals and divide.
    draws = rng.integers(0, 500, (2_000, 500))
    points, counts = many.game_points.sum(1)[draws], many.game_hands.sum(1)[draws]
    wanted = np.percentile(points.sum(1) / counts.sum(1), [2.5, 97.5])
    assert many.margin_interval() == pytest.approx(wanted, abs=0.02)


def test_a_random_choice_is_allowed_even_where_chance_answers_zero() -> None:
    unlucky: Any = SimpleNamespace(random=np.zeros)
    game = game_of("6-6 1-1", "6-5 0-0")
    game.push("6-6")
    assert game.ask(Random(), unlucky) == Move.parse("6-5@6x")
    batch = Batch(3, seed=1)
    batch.reset()
    assert batch.action_mask[range(3), batch.random_actions(unlucky)].all()


# --- What is counted


@pytest.mark.parametrize(("players", "episode"), [(2, "game"), (3, "hand"), (4, "game")])
def test_what_is_counted_is_what_the_records_say(players: int, episode: str) -> None:
    rules = Rules.preset(players=players)
    terms = Terms(rules, episode, record=True)
    played = play_chunk([Greedy(), Random()], NAMES, terms, SEEDS[:3])
    ways = np.tile(seatings(rules), (3, 1))
    tally = np.zeros_like(played.tally)[0]
    for game, (record, way) in enumerate(zip(played.records, ways, strict=True)):
        hands = json.loads(record)["hands"]
        assert loads(record).outcome() is not None or episode == "hand"
        assert len(hands) == played.hands[game]
        assert hands[-1]["scores_after"] == played.scores[game].tolist()
        for hand in hands:
            for ply, move in enumerate(move for move in hand["moves"] if move["play"]):
                tally["plies"][way[move["player"]], ply] += 1
                tally["ply_points"][way[move["player"]], ply] += move["points"]
            gains = np.subtract(hand["scores_after"], hand["scores_before"])
            for side, points in enumerate(gains):
                tally["hand_points"][way[side], points + MOST_POINTS] += 1
            own = gains[game % rules.sides]
            margin = own - (gains.sum() - own) / (rules.sides - 1)
            tally["hand_margins"][int(np.floor(margin + 0.5)) + MOST_POINTS] += 1
    for name in tally.dtype.names or ():
        assert (tally[name] == played.tally[0][name]).all(), name


# --- Agents at fault


def honest_at_first(wrong: Callable[[np.ndarray], np.ndarray]) -> Agent:
    """Return an agent that goes wrong once two tiles have been set in every game."""

    def choose(views: np.ndarray, rng: Any) -> np.ndarray:
        late = views["public"]["plies"].min() > 1
        return wrong(legal_masks(views)) if late else lowest(views, rng)

    return choose


def illegal(masks: np.ndarray) -> np.ndarray:
    return np.where(masks.sum(1) > 1, masks.argmin(1), masks.argmax(1))


def not_a_number(masks: np.ndarray) -> np.ndarray:
    return np.full(len(masks), np.nan)


def too_few(masks: np.ndarray) -> np.ndarray:
    return masks.argmax(1)[1:]


def beyond(masks: np.ndarray) -> np.ndarray:
    return np.full(len(masks), 1 << 40)


def failing(_masks: np.ndarray) -> np.ndarray:
    raise RuntimeError("out of ideas")


CROOKS: list[tuple[Callable[[np.ndarray], np.ndarray], str]] = [
    (illegal, r"made an illegal move: action \d+ .* is not allowed; allowed: "),
    (not_a_number, r"returned NaN of float64 of shape \(\d+,\); \d+ views need one integer each"),
    (too_few, r"returned an array of int64 of shape \(\d+,\); \d+ views need one integer each"),
    (beyond, "made an illegal move: action 1099511627776 is not allowed"),
    (failing, "raised RuntimeError: out of ideas"),
]


@pytest.mark.parametrize(("crook", "why"), CROOKS, ids=[crook.__name__ for crook, _ in CROOKS])
def test_a_wrong_answer_is_told_with_its_agent_its_view_and_its_game(
    crook: Callable[[np.ndarray], np.ndarray], why: str
) -> None:
    terms = Terms(Rules.preset(players=2))
    with pytest.raises(ArenaError, match=f"^honest crook {why}") as caught:
        play_chunk([lowest, honest_at_first(crook)], ["lowest", "honest crook"], terms, SEEDS[:10])
    story = str(caught.value)
    assert "is to move and holds" in story
    game = loads(story.splitlines()[-1])
    assert view_text(game) in story


@pytest.mark.parametrize("crook", [crook for crook, _ in CROOKS])
def test_with_forfeits_a_wrong_answer_loses_its_game_and_no_other(
    crook: Callable[[np.ndarray], np.ndarray],
) -> None:
    rules, wrong = Rules.preset(players=3), honest_at_first(crook)
    terms = Terms(rules, forfeit=True)
    played = play_chunk([wrong, lowest], NAMES, terms, SEEDS[:10])
    lost = played.forfeits == 0
    assert lost.any()
    assert not (played.forfeits == 1).any()
    result = duel_of([played], rules)
    assert (result.game_wins.ravel()[lost] == 0).all()
    assert (result.game_points.ravel()[lost] <= 0).all()
    turned = duel_of([play_chunk([lowest, wrong], NAMES, terms, SEEDS[:10])], rules)
    assert turned.wins.mean() > 0.9


def test_games_without_a_wrong_answer_are_played_on() -> None:
    rules, terms = Rules.preset(), Terms(Rules.preset(), "hand", forfeit=True)

    def seldom_wrong(views: np.ndarray, rng: Any) -> np.ndarray:
        return np.where(views["public"]["plies"] == 7, -1, lowest(views, rng))

    played = play_chunk([seldom_wrong, lowest], NAMES, terms, SEEDS)
    fair = play_chunk([lowest, lowest], NAMES, replace(terms, forfeit=False), SEEDS)
    kept = played.forfeits < 0
    assert 0 < kept.sum() < len(kept)
    assert (played.scores[kept] == fair.scores[kept]).all()
    assert len(duel_of([played], rules).wins) == len(SEEDS)


def test_a_decision_beyond_the_limit_is_told() -> None:
    terms = Terms(Rules.preset(), move_limit=1e-9)
    with pytest.raises(ArenaError, match=r"^first took .* seconds a decision; 1e-09 are allowed"):
        play_chunk([lowest, lowest], NAMES, terms, SEEDS[:2])


def test_the_text_of_a_view_tells_nothing_that_is_hidden() -> None:
    game = Game(seed=4)
    for _ in range(9):
        game.push(next(iter(game.legal_moves)))
    for seed in range(20):
        other = hidden_otherwise(game, Chance(seed))
        assert view_text(other) == view_text(game)


# --- Processes


def test_any_number_of_processes_plays_the_same() -> None:
    terms = Terms(Rules.preset(), "hand", record=True)
    tournament = Tournament(("random", "greedy", "defensive"), terms, 20, seed=7, chunk=8)
    alone = play_tournament(tournament, cores=1)
    crowd = play_tournament(tournament, cores=2)
    assert {task: lasting(played) for task, played in alone.played.items()} == {
        task: lasting(played) for task, played in crowd.played.items()
    }
    assert alone.records == crowd.records


def test_an_agent_that_never_answers_is_ended_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE", 0.3)
    terms = Terms(Rules.preset(players=2), "hand", move_limit=0.05)
    task = Task(("random", f"{FAULTY},how=silent"), 3, 2)
    with pytest.raises(
        ArenaError, match=r"Faulty,how=silent did not respond; 0.05 seconds a"
    ) as caught:
        list(play_tasks([task], terms, 1))
    assert view_text(loads(str(caught.value).splitlines()[-1])) in str(caught.value)
    others = Task(("random", "greedy"), 3, 2)
    forgiving = replace(terms, forfeit=True)
    done = dict(play_tasks([task, others], forgiving, 1))
    assert (done[task].forfeits == 1).all()
    assert (done[others].forfeits == -1).all()
    monkeypatch.setattr(workers, "READY", 0.0)
    with pytest.raises(ArenaError, match=r"^random did not make a first move within 0 seconds"):
        list(play_tasks([task], terms, 1))


def test_only_what_an_agent_does_itself_is_on_its_clock() -> None:
    terms = Terms(Rules.preset(players=2), "hand", move_limit=5, judge="pimc:worlds=8")
    task, announced = Task(("random", "greedy"), 3, 2), list[Any]()
    workers.Player(terms, announced.append).play(task)
    assert announced[::2].count(None) == 0  # each is about to do something ...
    assert set(announced[1::2]) == {None}  # ... and has done it, before the arena goes on
    assert announced[:4:2] == ["random", "greedy"]
    worker = workers._Worker(terms, task)
    try:
        worker.note(announced[-2], 0)
        assert worker.deadline < math.inf
        worker.note(None, 0)
        assert worker.deadline == math.inf
    finally:
        worker.end()


def test_a_process_that_dies_is_told_with_who_played() -> None:
    ends = f"{FAULTY},how=ends"
    tasks = [Task(("random", ends), first, 2) for first in (3, 5)]
    with pytest.raises(ArenaError, match=rf"worker died while random met {ends} on deals [35] to"):
        list(play_tasks(tasks, Terms(Rules.preset(players=2), "hand"), 2))


# --- Pairs


def test_pairs_are_all_or_those_against_one() -> None:
    terms = Terms(Rules.preset())
    tournament = Tournament(("random", "greedy", "defensive"), terms, 600, seed=5)
    assert tournament.pairs == [(0, 1), (0, 2), (1, 2)]
    assert replace(tournament, against="greedy").pairs == [(0, 1), (2, 1)]
    with pytest.raises(
        ArenaError, match="no agent of this tournament 'partner'; known: random, gr"
    ):
        replace(tournament, against="partner")
    assert tournament.meetings == [
        ("greedy", "random"),
        ("defensive", "random"),
        ("defensive", "greedy"),
    ]
    alone = replace(tournament, terms=Terms(Rules.preset(players=3)), against="greedy")
    assert alone.meetings == [
        ("random", "greedy"),
        ("greedy", "random"),
        ("defensive", "greedy"),
        ("greedy", "defensive"),
    ]
    assert [task.first for task in tournament.tasks] == [5] * 3 + [261] * 3 + [517] * 3
    assert {task.deals for task in tournament.tasks[-3:]} == {88}
    twins = Tournament(("greedy", "greedy", "random"), terms, 1)  # they meet others once
    assert [task.agents for task in twins.tasks] == [("greedy", "greedy"), ("greedy", "random")]
