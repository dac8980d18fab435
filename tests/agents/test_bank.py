"""The bank of positions: what it holds, what it says of agents, and how it is made and read."""

from __future__ import annotations

import itertools
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from agents.bank import __main__ as command
from agents.bank import positions
from agents.bank.positions import EVERY_RULES, PHASES, PLAYERS, make_bank, phases_of
from agents.bank.regret import mean_regret, measure, part_of, rows_of
from agents.bank.storage import (
    SHIPPED,
    BankError,
    _columns,
    read_bank,
    shipped_bank,
    write_bank,
)
from agents.fitting.reference import ActionValues, action_values
from fiveup_env.engine.view import legal_masks
from fiveup_env.errors import OptionError
from fiveup_env.opponents.heuristics.ladder import LADDER
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.search.pimc import Pimc
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from pathlib import Path

    from agents.bank.storage import Bank
    from fiveup_env.opponents.agent import Agent

RANDOM = np.random.default_rng


def differs(bank: Bank, agent: Agent, other: Agent) -> tuple[float, float]:
    """Return the bounds of how much more the first agent loses than the other."""
    rows = rows_of(bank, [measure(bank, other, "other"), measure(bank, agent, "agent")])
    low, high = rows[1]["more_than_first_ci"]
    return low, high


def default_part() -> Bank:
    return shipped_bank().under([Rules.preset()])


# --- What it holds


def test_the_shipped_bank_has_all_games_phases_scores_and_players() -> None:
    bank = shipped_bank()
    assert SHIPPED.stat().st_size < 4_000_000
    assert bank.about["worlds"] >= 4096
    assert bank.about["players"] == list(PLAYERS)
    assert set(bank.players) == set(range(len(PLAYERS)))
    assert set(phases_of(bank.views)) == set(range(len(PHASES)))
    for rules in EVERY_RULES:
        assert len(bank.under([rules])) >= 30
    public = bank.views["public"]
    shares = public["scores"].max(1) / public["rules"]["target"]
    counts, _ = np.histogram(shares, [-1, 0.25, 0.5, 0.75, 1])
    assert (counts > len(bank) / 12).all()


def test_every_position_leaves_a_choice_and_has_a_value_for_every_allowed_action() -> None:
    bank = shipped_bank()
    assert (bank.masks.sum(1) > 1).all()
    allowed = np.isfinite(Pimc(worlds=1, aim="hand").values(bank.views, RANDOM(0)))
    assert np.array_equal(bank.masks, allowed)
    for values in (bank.values.halves[:, 1], bank.values.errors):
        assert np.array_equal(np.isfinite(values), allowed)
    chances = bank.values.halves[np.isfinite(bank.values.halves)]
    assert ((chances >= 0) & (chances <= 1)).all()


def test_the_values_are_what_the_search_finds_today() -> None:
    bank = default_part().part(np.arange(0, 90, 5))
    found = action_values(bank.views, bank.about["worlds"] // 8, RANDOM(1))
    every, best = np.arange(len(bank)), bank.values.means.argmax(1)
    with np.errstate(invalid="ignore"):  # of actions that are not allowed
        ours, theirs = (v.means - v.means[every, best][:, None] for v in (found, bank.values))
        # An eighth of the worlds has eight times the variance, and the bank its own.
        gaps = (ours - theirs) / (3 * bank.values.errors)
    gaps = gaps[bank.values.errors > 0]
    assert np.abs(gaps).max() < 4
    assert 0.7 < np.sqrt(np.mean(gaps**2)) < 1.3


# --- What it says of agents


def test_the_noise_of_the_values_makes_no_regret_and_hides_none() -> None:
    noise = RANDOM(0).normal(0, 0.01, (20_000, 2, 6)).astype(np.float32)
    values = ActionValues(noise, np.zeros((20_000, 6), np.float32))
    first = np.zeros(20_000, int)
    naive = (values.means.max(1) - values.means[:, 0]).mean()
    assert naive > 0.008  # the winner's curse: all actions are equally good
    assert abs(values.regrets(first).mean()) < 0.0003
    noise[:, :, 0] -= 0.1
    assert values.regrets(first).mean() == pytest.approx(0.1, abs=0.0005)


def test_the_interval_is_by_game_so_that_repeated_positions_make_it_no_narrower() -> None:
    bank, agent = default_part(), lambda views, _rng: legal_masks(views).argmax(1)
    twice = bank.part(np.repeat(np.arange(len(bank)), 2))
    mean, low, high = mean_regret(bank, agent, "")
    assert low < mean < high
    assert mean_regret(twice, agent, "") == pytest.approx((mean, low, high))


def test_the_order_of_the_ladder_is_reproduced() -> None:
    bank = shipped_bank()
    rungs = [make_agent(spec) for spec in ("random", *LADDER)]
    for weaker, stronger in itertools.pairwise(rungs[:4]):
        assert differs(bank, weaker, stronger)[0] > 0
    for highest in rungs[4:]:  # which are too close for this many positions
        assert differs(bank, rungs[2], highest)[0] > 0


def test_an_agent_that_picks_the_worst_action_is_caught_at_once() -> None:
    bank = default_part()
    search = Pimc(worlds=32)

    def worst(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        values = search.values(views, rng)
        return np.where(np.isfinite(values), values, np.inf).argmin(1)

    assert differs(bank, worst, make_agent("random"))[0] > 0


def test_an_agent_that_sees_the_table_from_another_seat_is_caught_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = make_agent("policy:partners")
    monkeypatch.setattr("fiveup_env.opponents.agent.as_views", lambda views: views)  # no check

    def rotated(views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        views["seat"] = (views["seat"] + 1) % 4
        return policy(views, rng)

    assert differs(default_part(), rotated, policy)[0] > 0


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        (lambda masks: masks.argmin(1), "chose actions that are not allowed in"),
        (lambda masks: np.full(len(masks), ACTION_COUNT), "chose actions that are not allowed in"),
        (lambda masks: np.full(len(masks), -1), "chose actions that are not allowed in"),
        (lambda masks: masks.argmax(1) * 1.0, "returned an array of float64 of shape"),
        (lambda masks: masks.argmax(1)[1:], "views need one integer each"),
    ],
)
def test_an_agent_that_breaks_the_protocol_is_named(actions: Any, sentence: str) -> None:
    bank = default_part()
    with pytest.raises(BankError, match=f"^mine .*{sentence}"):
        measure(bank, lambda views, _rng: actions(legal_masks(views)), "mine")


def test_what_an_agent_does_to_its_views_changes_nothing() -> None:
    bank = default_part()
    before = bank.views.copy()

    def vandal(views: np.ndarray, _rng: np.random.Generator) -> np.ndarray:
        masks = legal_masks(views)
        actions = masks.argmax(1)
        views[:] = np.zeros(1, views.dtype)
        return actions

    assert measure(bank, vandal, "").regrets.mean() > 0
    assert np.array_equal(bank.views, before)


def test_the_groups_share_out_the_positions() -> None:
    bank = shipped_bank()
    (row,) = rows_of(bank, [measure(bank, make_agent("greedy"), "greedy")])
    kinds = {group["kind"] for group in row["groups"]}
    assert kinds == {"all", "phase", "score", "preset", "players"}
    for kind in kinds:
        groups = [group for group in row["groups"] if group["kind"] == kind]
        assert sum(group["positions"] for group in groups) == len(bank)
        share = sum(group["positions"] * group["regret"] for group in groups) / len(bank)
        assert share == pytest.approx(row["groups"][0]["regret"])
        for group in groups:
            assert group["regret_ci"][0] < group["regret"] < group["regret_ci"][1]


# --- The command


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["bank", *arguments])
    return command.main()


def test_the_command_prints_a_table_and_writes_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bank.json"
    agents = ["random", "policy:partners", "partner"]
    assert (
        run(monkeypatch, *agents, "--players", "4", "--rules", "five_up", "--json", str(file)) == 0
    )
    table = capsys.readouterr().out
    assert max(map(len, table.splitlines())) <= 100
    order = [table.index(f"\n{agent}") for agent in ("policy:partners", "partner", "random")]
    assert order == sorted(order)
    written = json.loads(file.read_text())
    assert [row["agent"] for row in written["agents"]] == agents
    assert written["bank"] == shipped_bank().about
    assert written["agents"][0]["groups"][0]["positions"] == len(default_part())
    assert written["agents"][0]["more_than_first_ci"] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["greed"], "there is no agent 'greed' (did you mean 'greedy'?)"),
        (["greedy", "--rules", "fiveup"], "there is no preset of this bank 'fiveup'"),
        (["greedy", "--players", "6"], "there is no players of this bank '6 players'"),
        (["--make", "no.bank", "--worlds", "100"], "worlds must be a multiple of 64, not 100"),
        (["--make", "no.bank", "--rounds", "0"], "a batch needs 1 to"),
        (["--make", "no.bank", "--seed", "-1"], "deals must be from 0 to below"),
        (["--make", "no.bank", "--seed", f"{(1 << 63) - 9}"], "deals must be from 0 to below"),
        (["greedy", "--bank", "no.bank"], "No such file or directory: 'no.bank'"),
    ],
)
def test_bad_input_is_a_sentence(
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *arguments) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


# --- Making and reading


def test_the_same_command_makes_the_same_bank_and_another_seed_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(positions, "EVERY_RULES", [])
    monkeypatch.setattr(positions, "PLAYERS", ("greedy", "random"))
    monkeypatch.setattr(positions, "MOST_MOVES", 40)
    file, contents = tmp_path / "small.bank", []
    for seed in (1, 1, 2):
        bank = make_bank(1, 64, seed, "a command")
        write_bank(file, bank)
        contents.append(file.read_bytes())
        read = read_bank(file)
        for (name, one), (_, other) in zip(_columns(bank.views), _columns(read.views), strict=True):
            assert np.array_equal(one, other), name
        assert np.array_equal(bank.values.halves, read.values.halves)
        assert np.array_equal(bank.masks, read.masks)
    assert contents[0] == contents[1] != contents[2]


@pytest.mark.parametrize("worlds", [0, -64, 32, 100])
def test_worlds_come_in_two_halves_of_blocks(worlds: int) -> None:
    bank = default_part().part(np.arange(2))
    with pytest.raises(OptionError, match=f"worlds must be a multiple of 64, not {worlds}"):
        action_values(bank.views, worlds, RANDOM(0))


def test_what_agents_draw_changes_neither_who_sits_where_nor_which_positions_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for agent in ("lowest", "lowest_after_draws"):
        monkeypatch.setattr(positions, "PLAYERS", (f"tests.support:{agent}",) * 3)
        found.append(positions.gather(1, 5))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def altered(content: bytes, path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> bytes:
    """Return the bytes of a bank with a fault."""
    bank = read_bank(path)
    if what == "other views":
        fields = dict(_columns(bank.views))
        fields.pop("view.public.rules.reserve")
        monkeypatch.setattr("agents.bank.storage._columns", lambda _: iter(fields.items()))
    elif what == "a hostile view":
        bank.views["public"]["turn"][7] = 120
    elif what == "a value that is none":
        bank.values.halves[0, 1, bank.masks[0].argmax()] = np.nan
    elif what == "half a file":
        return content[: len(content) // 2]
    elif what == "a flipped bit":
        return content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]
    elif what == "another file":
        return b"PK"
    write_bank(path, bank)
    monkeypatch.undo()
    return path.read_bytes()


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("other views", "was made by other code: there is no view.public.rules.reserve of type"),
        ("a hostile view", "is damaged: view 7 is of no game: its scores, phase, lead, turn or"),
        ("a value that is none", "is damaged: its values are not those of any positions"),
        ("half a file", "is not a bank of positions, or is damaged; make it again by python -m"),
        ("a flipped bit", "is not a bank of positions, or is damaged"),
        ("another file", "is not a bank of positions, or is damaged"),
    ],
)
def test_a_bank_that_cannot_be_used_is_refused_in_a_sentence(
    what: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "small.bank"
    write_bank(path, default_part().part(np.arange(50)))
    path.write_bytes(altered(path.read_bytes(), path, monkeypatch, what))
    with pytest.raises(BankError, match=sentence):
        read_bank(path)


def test_a_group_that_the_bank_lacks_is_refused() -> None:
    with pytest.raises(BankError, match="there is no preset of this bank 'mini-2'"):
        part_of(shipped_bank(), "preset", "mini-2")
    assert len(shipped_bank().under([Rules.preset("mini-2", 2)])) == 0
