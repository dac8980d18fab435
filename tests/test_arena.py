"""The arena: duplicate deals, honest intervals, the same results on every run."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import evaluate
from agents.arena.duels import Duel, duel, seatings, split_specs
from agents.play.heuristics import Defensive, Greedy, Random
from fiveup_env import Rules
from tests.support import SEATINGS

if TYPE_CHECKING:
    from pathlib import Path

    from fiveup_env.opponents import Policy

SEEDS = np.arange(5_000, 5_300)


def lowest(views: np.ndarray, masks: np.ndarray, random: Any) -> np.ndarray:
    """A policy that leaves nothing to chance."""
    del views, random
    return masks.argmax(1)


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
    agents: list[Policy] = [Greedy(), Random()]
    rules = Rules.preset(players=3)
    whole = duel(agents, rules, SEEDS, "hand")
    again = duel(agents, rules, SEEDS, "hand")
    first = duel(agents, rules, SEEDS[:256], "hand")
    assert (whole.margins == again.margins).all()
    assert (whole.margins[:256] == first.margins).all()


def test_an_interval_is_wider_for_fewer_deals_and_holds_the_mean() -> None:
    values = np.random.default_rng(1).normal(1, 2, 4_000)
    whole, part = Duel(values, values), Duel(values[:400], values[:400])
    low, high = whole.interval(values)
    assert low < values.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * 2 / np.sqrt(4_000), rel=0.1)
    few = part.interval(values[:400])
    assert few[1] - few[0] > 2.5 * (high - low)


@pytest.mark.parametrize(("better", "worse"), [(Greedy(), Random()), (Defensive(), Greedy())])
def test_each_rung_beats_the_one_below(better: Any, worse: Any) -> None:
    played = duel([better, worse], Rules.preset(), SEEDS)
    low, _ = played.interval(played.wins)
    assert low > 0.6
    assert played.interval(played.margins)[0] > 0


def test_specs_are_parted_by_commas_and_keep_their_options() -> None:
    assert split_specs("greedy,pimc:worlds=50,ms=20,random") == [
        "greedy",
        "pimc:worlds=50,ms=20",
        "random",
    ]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["evaluate.py", *arguments])
    return evaluate.main()


def test_evaluate_prints_a_table_and_writes_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results.json"
    arguments = (
        "--agents",
        "greedy,random",
        "--deals",
        "40",
        "--episode",
        "hand",
        "--json",
        str(file),
    )
    assert run(monkeypatch, *arguments) == 0
    table = capsys.readouterr().out
    assert "greedy" in table
    (pair,) = json.loads(file.read_text())["pairs"]
    assert (pair["a"], pair["b"], pair["deals"]) == ("greedy", "random", 40)
    low, high = pair["margin_ci"]
    assert low < pair["margin"] < high
    assert run(monkeypatch, "--list") == 0
    assert "defensive" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--agents", "greedy"], "two agents at least"),
        (["--agents", "greedy,greedi"], "did you mean 'greedy'"),
        (["--deals", "0"], "one deal at least"),
        (["--players", "7"], "2 to 5 can play"),
        (["--rules", "chess"], "no preset 'chess'"),
    ],
)
def test_bad_input_gets_one_sentence(
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *arguments) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
