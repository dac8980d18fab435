"""Sequential tests: what they compute, how often they err, and what their verdict depends on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from fiveup_env import Rules
from fiveup_env.arena.play.games import Played, Task, Terms
from fiveup_env.arena.play.tournament import Engine, Tournament, play_tournament
from fiveup_env.arena.play.workers import play_tasks
from fiveup_env.arena.statistics.duels import duel
from fiveup_env.arena.statistics.ratings import lead_of, win_rate
from fiveup_env.arena.statistics.sequential import ADDED, Follower, SequentialTest, log_likelihood
from fiveup_env.cli.evaluate import main
from fiveup_env.opponents.registry import make_agent

TOURNAMENT = Tournament(
    ("defensive", "greedy"), Terms(Rules.preset(players=2), "hand"), 640, seed=5, chunk=32
)
SCORES = np.array([0, 0.25, 0.5, 0.75, 1])


def followed(tournament: Tournament, engine: Engine | None = None, elo1: float = 20) -> Follower:
    """Play until a test against 0 Elo is decided, and return what followed it."""
    follower = Follower(SequentialTest(0, elo1, tournament.terms.rules.sides))
    play_tournament(tournament, 1, engine=engine, decided=follower)
    return follower


def state(follower: Follower) -> tuple[object, ...]:
    """Return all that a test has found."""
    test = follower.test
    return test.verdict, test.llr, test.scores.tobytes(), follower.deals


def finished_in(order: Callable[[list[Task]], Iterable[Task]]) -> Engine:
    """Return an engine that finishes the tasks in another order."""

    def play(tasks: Iterable[Task], terms: Terms, cores: int) -> Iterator[tuple[Task, Played]]:
        return play_tasks(order(list(tasks)), terms, cores)

    return play


def shares_of(a: str, b: str, rules: Rules, seeds: np.ndarray) -> np.ndarray:
    """Return the share of its games that `a` won in each deal, with two sides or more."""
    agents = {spec: make_agent(spec) for spec in (a, b)}
    shares = duel([agents[a], agents[b]], rules, seeds, "hand").wins
    if rules.sides == 2:
        return shares
    return (shares + 1 - duel([agents[b], agents[a]], rules, seeds, "hand").wins) / 2


def best_likelihood(values: np.ndarray, counts: np.ndarray, mean: float) -> float:
    """Return the log likelihood of the best distribution with a mean, by a general optimiser."""
    shares = counts / counts.sum()
    best = minimize(
        lambda weights: -(shares @ np.log(weights)),
        np.full(len(values), 1 / len(values)),
        jac=lambda weights: -shares / weights,
        bounds=[(1e-9, 1)] * len(values),
        constraints=[
            {"type": "eq", "fun": lambda weights: weights.sum() - 1},
            {"type": "eq", "fun": lambda weights: weights @ values - mean},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return float(-best.fun * counts.sum())


def tilted(chances: tuple[float, ...], slope: float) -> np.ndarray:
    """Return a distribution of scores with more of the high ones, or of the low ones."""
    weights = np.array(chances) * np.exp(slope * SCORES)
    return weights / weights.sum()


# --- The model


@given(st.floats(-600, 600), st.integers(2, 5))
@settings(max_examples=50)
def test_a_lead_and_its_win_rate_are_those_of_the_ratings(lead: float, sides: int) -> None:
    strength, others = 10 ** (lead / 400), sides - 1
    alone, beaten = strength / (strength + others), 1 / (1 + others * strength)
    assert win_rate(lead, sides) == pytest.approx((alone + 1 - beaten) / 2)
    assert lead_of(win_rate(lead, sides), sides) == pytest.approx(lead, abs=1e-6)


@given(st.lists(st.integers(0, 40), min_size=5, max_size=5), st.floats(-60, 60), st.floats(1, 60))
@settings(max_examples=30, deadline=None)
def test_the_ratio_is_that_of_the_best_distributions_with_the_two_means(
    occurred: list[int], elo0: float, more: float
) -> None:
    counts = np.array(occurred) + ADDED * np.array([1, 0, 0, 0, 1])
    rates = win_rate(elo0), win_rate(elo0 + more)
    ours = [log_likelihood(SCORES, counts, rate) for rate in rates]
    wanted = [best_likelihood(SCORES[counts > 0], counts[counts > 0], rate) for rate in rates]
    assert ours[1] - ours[0] == pytest.approx(wanted[1] - wanted[0], abs=1e-4)


@pytest.mark.parametrize("players", [2, 3])
def test_the_unit_is_the_deal_in_all_its_seatings(players: int) -> None:
    tournament = replace(
        TOURNAMENT, terms=Terms(Rules.preset(players=players), "hand"), deals=64, chunk=64
    )
    follower = followed(tournament, elo1=5)
    test, sides = follower.test, players
    assert test.verdict is None
    a, b = tournament.agents
    seeds = np.arange(tournament.seed, tournament.seed + tournament.deals, dtype=np.uint64)
    wins = shares_of(a, b, tournament.terms.rules, seeds)
    assert len(test.scores) == len(wins) == 64
    assert test.scores == pytest.approx(wins)
    assert test.to_json()["games"] == 64 * (2 if sides == 2 else 2 * sides)
    values, counts = np.unique(np.append(wins.round(9), (0, 1)), return_counts=True)
    counts = counts + (ADDED - 1) * np.isin(values, (0, 1))
    low, high = (best_likelihood(values, counts, rate) for rate in test.rates)
    assert test.llr == pytest.approx(high - low, abs=1e-4)


def test_agents_that_always_play_alike_are_equal() -> None:
    test = SequentialTest(0, 5)
    test.add(np.full(10_000, 0.5))
    assert test.verdict == "H0"
    assert test.lead[0] == 0


# --- Errors


@pytest.mark.parametrize(("lead", "wanted"), [(0, "H0"), (1, "H1"), (2, "H1")])
@pytest.mark.parametrize(
    ("elo1", "chances"),
    [
        (40, (0.15, 0.2, 0.3, 0.2, 0.15)),
        (5, (0.004, 0, 0.992, 0, 0.004)),  # agents that seldom differ
    ],
)
def test_no_more_than_one_verdict_in_twenty_is_wrong(
    elo1: float, chances: tuple[float, ...], lead: float, wanted: str
) -> None:
    rng, runs = np.random.default_rng(0), 1_000
    slope = brentq(lambda slope: tilted(chances, slope) @ SCORES - win_rate(lead * elo1), -20, 20)
    wrong = 0
    for _ in range(runs):
        test = SequentialTest(0, elo1)
        test.add(rng.choice(SCORES, 3_000, p=tilted(chances, slope)))
        wrong += test.verdict != wanted
    assert wrong <= runs / 20


def test_it_takes_about_half_of_the_deals_of_a_fixed_number() -> None:
    rng, chances = np.random.default_rng(0), (0.15, 0.2, 0.3, 0.2, 0.15)
    spread = np.sqrt(chances @ (SCORES - 0.5) ** 2)
    fixed = (2 * 1.645 * spread / (win_rate(20) - 0.5)) ** 2
    deals = []
    for _ in range(300):
        test = SequentialTest(0, 20)
        test.add(rng.choice(SCORES, 10_000, p=chances))
        deals.append(len(test.scores))
    assert np.mean(deals) < 0.6 * fixed


# --- What the verdict depends on


def test_the_order_in_which_chunks_are_finished_changes_nothing() -> None:
    wanted = followed(TOURNAMENT)
    assert wanted.test.verdict == "H1"
    assert TOURNAMENT.chunk < wanted.deals < TOURNAMENT.deals
    orders: list[Callable[[list[Task]], Iterable[Task]]] = [
        reversed,
        lambda tasks: [tasks[k] for k in np.random.default_rng(1).permutation(len(tasks))],
    ]
    for order in orders:
        assert state(followed(TOURNAMENT, finished_in(order))) == state(wanted)


def test_both_sides_of_a_pair_see_the_same_deals() -> None:
    there, back = followed(TOURNAMENT), Follower(SequentialTest(-20, 0))
    play_tournament(replace(TOURNAMENT, agents=TOURNAMENT.agents[::-1]), 1, decided=back)
    assert back.test.verdict == "H0"
    assert back.test.llr == pytest.approx(-there.test.llr)
    assert (back.test.scores == 1 - there.test.scores).all()


def test_an_interrupted_test_goes_on_to_the_same_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, parts = tmp_path / "whole.json", tmp_path / "parts.json"
    command = "greedy defensive --players 2 --episode hand --chunk 32 --sprt -10 0"
    assert main([*command.split(), "--json", str(whole), "--cores", "2"]) == 0
    uninterrupted = capsys.readouterr().out.splitlines()[-1]
    kept = ["--results", str(tmp_path / "results.jsonl"), "--json", str(parts), "--cores", "1"]
    assert main([*command.split(), *kept, "--deals", "64"]) == 0
    assert "cannot tell" in capsys.readouterr().out
    assert json.loads(parts.read_text())["sprt"]["verdict"] is None
    wanted = json.loads(whole.read_text())
    for _ in range(2):  # the second time, nothing is left to play
        assert main([*command.split(), *kept]) == 0
        assert capsys.readouterr().out.splitlines()[-1] == uninterrupted
        content = json.loads(parts.read_text())
        assert content["sprt"] == wanted["sprt"]
        assert content["pairs"] == wanted["pairs"]
    assert wanted["sprt"]["verdict"] == "H0"
    assert wanted["sprt"]["deals"] <= wanted["pairs"][0]["deals"] < 1_000


@pytest.mark.parametrize("bounds", ["0", "0 five", "zero 5"])
def test_bounds_that_are_not_two_numbers_are_refused(
    bounds: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(f"--agents greedy,random --sprt {bounds}".split())
    assert "argument --sprt" in capsys.readouterr().err.splitlines()[-1]
