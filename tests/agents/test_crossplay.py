"""Agents beside strangers: what is played, and what the figures are made of."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import crossplay, strangers
from benchmarks.crossplay import (
    HELD_OUT,
    Crossplay,
    among_all,
    matrix_row,
    play,
    teams_of,
    with_held_out,
)

SKILL = {"a": 0.1, "b": 0.4, "c": 0.3}


@pytest.fixture
def additive() -> Crossplay:
    """Pairs that win what their members win on average, but for what a and b lose together."""
    values = {
        (one, other): np.full(4, (SKILL[one] + SKILL[other]) / 2)
        for one in SKILL
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


def test_a_row_of_the_matrix_has_the_mean_of_both_orders(additive: Crossplay) -> None:
    row = matrix_row(additive, ["a", "c"], "b")
    assert row["`a`"]["value"] == pytest.approx(20)
    assert row["`c`"]["value"] == pytest.approx(35)


def test_the_mean_of_agents_is_that_of_their_rows(
    additive: Crossplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crossplay, "AGENTS", tuple(SKILL))
    monkeypatch.setattr(crossplay, "HELD_OUT", ("b",))
    rows = [among_all(additive, additive, [agent]) for agent in SKILL]
    mean = among_all(additive, additive, list(SKILL))
    for name in set(mean) - {"agent"}:
        wanted = np.mean([row[name]["value"] for row in rows])
        assert mean[name]["value"] == pytest.approx(wanted, abs=1e-4)


def test_an_entry_is_played_beside_all_held_out_partners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossplay, "HELD_OUT", ("random", "level:2"))
    wins, _ = play(teams_of(["greedy"], crossplay.HELD_OUT), 6, 1)
    assert set(map(len, wins.won.values())) == {6}
    row = with_held_out(wins, "greedy")
    assert row["deals"] == 6
    alone, held_out = row["with itself (%)"], row["beside held-out partners (%)"]
    assert held_out["value"] < alone["value"]
    assert row["difference"]["value"] == pytest.approx(held_out["value"] - alone["value"], abs=1e-4)


def test_no_policy_learns_from_a_held_out_partner() -> None:
    assert not set(strangers.POPULATION) & set(HELD_OUT)
    assert not set(crossplay.AGENTS) & set(HELD_OUT)
    kinds = [one for kind in strangers.KINDS.values() for one in kind]
    assert sorted(kinds) == sorted((*strangers.POPULATION, *HELD_OUT))


def test_the_arms_are_compared_seed_by_seed() -> None:
    policies = {"itself": ["a0", "a1"], "strangers": ["b0", "b1"]}
    level = {"a0": 0.3, "a1": 0.5, "b0": 0.4, "b1": 0.7}
    others = [one for kind in strangers.KINDS.values() for one in kind]
    everybody = [*level, *others]
    wins = {
        (one, other): np.full(5, level.get(one, level.get(other, 0.5)))
        for one in everybody
        for other in everybody
    }
    rows = strangers.rows_of(Crossplay(wins), policies)
    assert [row["win rate (%) beside"] for row in rows] == [
        "itself",
        "other seeds",
        strangers.LESS,
        *strangers.KINDS,
    ]
    assert rows[0]["trained with itself"]["value"] == pytest.approx(0.4)
    assert rows[0]["trained with strangers"]["value"] == pytest.approx(0.55)
    assert rows[0]["difference, by deals"]["value"] == pytest.approx(0.15)
    assert rows[0]["by seeds"].startswith("15.0 +- ")
