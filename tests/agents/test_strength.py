"""Agents and shipped policies are stronger than what they are built on; and how they are tuned."""

from __future__ import annotations

import itertools
from itertools import cycle

import numpy as np
import pytest
import torch

from agents.fitting import fitting, hidden
from agents.fitting.tuning import evolve, margin
from agents.policies.agent import TorchPolicy
from fiveup_env import Rules, make_agent
from fiveup_env.arena.statistics.duels import duel
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES
from fiveup_env.opponents.heuristics.hidden import LAPSE, MODEL
from fiveup_env.opponents.heuristics.ladder import LADDER, READER, weights_of
from fiveup_env.opponents.networks.files import SHIPPED, WEIGHTS
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.rules.presets import FAMILY
from tests.opponents.test_policy import ACTIONS, numbers, positions


def test_weights_are_tuned_by_what_they_win_against_the_rung_below() -> None:
    seeds = np.arange(100, dtype=np.uint64)
    assert margin(seeds, "greedy", np.zeros(len(FEATURE_NAMES)), "greedy") < -2
    assert margin(seeds, "reader", weights_of("partner"), "greedy") > 1


@pytest.mark.parametrize(
    ("rung", "below", "deals"),
    [
        pytest.param(*pair, 40_000, marks=pytest.mark.slow)
        if pair[0] in {"partner", "counter"}
        else (*pair, 2_000)
        for pair in itertools.pairwise([READER, *reversed(LADDER), "random"])
    ],
)
def test_every_rung_beats_the_one_below(rung: str, below: str, deals: int) -> None:
    played = duel([make_agent(rung), make_agent(below)], Rules.preset(), np.arange(deals), "hand")
    assert played.margin_interval()[0] > 0


@pytest.mark.parametrize(
    ("first", "second", "players"),
    [("pimc:worlds=32,aim=hand", "greedy", players) for players in (2, 5)]
    + [("pimc:worlds=128,aim=hand", "pimc:worlds=2,aim=hand", 4)],
)
def test_search_beats_the_heuristic_that_plays_its_hands_out_and_more_worlds_beat_few(
    first: str, second: str, players: int
) -> None:
    rules, agents = Rules.preset(players=players), [make_agent(first), make_agent(second)]
    assert duel(agents, rules, np.arange(150), "hand").margin_interval()[0] > 0


def test_the_search_finds_the_top_of_a_hill_that_it_sees_through_noise() -> None:
    top, rng = np.array([1.0, -2.0, 0.5]), np.random.default_rng(0)
    slopes = np.array([1.0, 5.0, 0.2])

    def worth(candidates: np.ndarray, generation: int) -> np.ndarray:
        del generation
        heights = -(slopes * (candidates - top) ** 2).sum(1)
        return heights + rng.normal(0, 0.01, len(candidates))

    means = [mean for mean, _ in itertools.islice(evolve(np.zeros(3), worth, 0.3, 1), 120)]
    assert np.abs(np.mean(means[-30:], axis=0) - top).max() < 0.3


# --- The shipped policies

DEALS = np.arange(700_000, 700_030, dtype=np.uint64)

# What the policies valued these positions at since their heads were refitted.
VALUES = {
    "student": "0.1355 0.0992 0.1912 0.2981 -0.2934 -0.3203 0.0532 -0.0604 -0.1521 -0.1791 "
    "0.1614 0.5765 0.5342 -0.5169 0.5619 0.0120 -0.1435 0.1462 0.7903 -0.4267 0.2740",
    "partners": "-0.3313 0.1785 0.3040 -0.0388 -0.2315 0.1131 0.2482 -0.0365 -0.0675 -0.4417 "
    "0.0250 0.5505 0.8309 -0.3201 0.6491 -0.7653 -0.0311 0.3264 0.4385 0.3484 0.1327",
    "family": "0.1956 0.3144 0.3661 0.2691 -0.4296 -0.0444 0.4453 0.5704 -0.1977 0.0543 0.5693 "
    "0.4412 0.9166 -0.5722 -0.2653 -0.8344 0.3208 0.1539 0.8549 -0.7732 0.2465",
}

torch.set_num_threads(1)


@pytest.mark.parametrize("name", SHIPPED)
def test_torch_plays_and_values_as_compiled_code_does(name: str) -> None:
    agent, views = TorchPolicy(name), positions()
    assert agent(views, np.random.default_rng(0)).tolist() == numbers(ACTIONS[name])
    compiled = PolicyAgent(name)
    logits = agent.logits(views), compiled.logits(views)
    assert np.allclose(*logits, rtol=1e-4, atol=1e-4)
    for player in (agent, compiled):
        assert player.values(views) == pytest.approx(numbers(VALUES[name]), abs=2e-4)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_is_small_and_beats_greedy(name: str) -> None:
    assert (SHIPPED[name] / WEIGHTS).stat().st_size <= 4e6
    agents = [make_agent(f"policy:{name}"), make_agent("greedy")]
    assert duel(agents, Rules.preset("five_up", 4), DEALS).wins.mean() > 0.8


@pytest.mark.parametrize(("preset", "players"), [*zip(FAMILY, cycle((2, 3, 4)), strict=False)])
def test_the_family_policy_beats_greedy_by_every_preset(preset: str, players: int) -> None:
    agents, rules = (
        [make_agent("policy:family"), make_agent("greedy")],
        Rules.preset(preset, players),
    )
    assert duel(agents, rules, DEALS).margin_interval()[0] > 0


def test_fitting_makes_the_true_places_of_hidden_tiles_likelier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hidden, "PLAYERS", ("partner",))
    monkeypatch.setattr(hidden, "HALVINGS", 1)
    monkeypatch.setattr(fitting, "GAMES", 24)
    seen, model = hidden.Positions(1, 20), np.array([*MODEL.values(), LAPSE])
    assert seen.unread() < seen.nats(model)
    assert seen.nats(model / 8) < seen.nats(hidden.fit(seen, model / 8))
