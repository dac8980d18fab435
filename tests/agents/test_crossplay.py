"""Agents beside strangers: what is played, and what the figures are made of."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import crossplay
from benchmarks.crossplay import AGENTS, HELD_OUT, Crossplay, play, teams_of, with_held_out
from fiveup_env.opponents.registry import make_agent

SKILL = {"a": 0.1, "b": 0.4, "c": 0.3}


@pytest.fixture
def additive() -> Crossplay:
    """Pairs that win what their members win on average, but for what a and b lose together."""
    values = {
        (first, other): np.full(4, (SKILL[first] + SKILL[other]) / 2)
        for first in SKILL
        for other in SKILL
    }
    for team in (("a", "b"), ("b", "a")):
        values[team] = values[team] - 0.05
    return Crossplay(values)


def test_every_agent_sits_on_both_seats_beside_each_partner() -> None:
    teams = teams_of(["a", "b"], ["b", "c"])
    assert teams[:2] == [("a", "a"), ("b", "b")]
    both = {("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")}
    assert set(teams[2:]) == both
    assert len(teams) == len(set(teams))


def test_a_weak_partner_is_no_loss_of_strangers(additive: Crossplay) -> None:
    assert additive.alone("b") == pytest.approx(0.4)
    assert additive.beside("b", ["a", "c"]) == pytest.approx((0.2 + 0.35) / 2)
    assert additive.beyond_members("c", ["a", "b"]) == pytest.approx(0)
    assert additive.beyond_members("a", ["b", "c"]) == pytest.approx(-0.05 / 2)


def test_an_entry_is_played_beside_all_held_out_partners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossplay, "HELD_OUT", ("random",))
    wins, _ = play(teams_of(["greedy"], crossplay.HELD_OUT), 6, 1)
    assert set(map(len, wins.won.values())) == {6}
    row = with_held_out(wins, "greedy")
    assert row["deals"] == 6
    alone, held_out = row["with itself (%)"], row["beside held-out partners (%)"]
    assert held_out["value"] < alone["value"]
    assert row["difference"]["value"] == pytest.approx(held_out["value"] - alone["value"], abs=1e-4)


@pytest.mark.parametrize("spec", [*AGENTS, *HELD_OUT])
def test_every_agent_and_held_out_partner_can_be_made(spec: str) -> None:
    assert make_agent(spec)
