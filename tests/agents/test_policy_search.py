"""A policy that looks ahead: what its values mean, when it follows the policy, and what it gains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.policies.agent import TorchPolicy, TorchSearch
from agents.policies.files import save_policy
from agents.policies.networks import PolicyNetwork, Shape, build
from fiveup_env import Game
from fiveup_env.errors import AgentError
from fiveup_env.opponents.networks.files import PolicyError
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.search.network_search import PolicySearch
from fiveup_env.opponents.search.pimc import Pimc
from tests.support import game_of, push_all, random_views

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained policy that has likes and dislikes, and expects something."""
    torch.manual_seed(3)
    network = build(Shape(width=16, depth=1))
    with torch.no_grad():
        network.policy_head.weight.mul_(200)
    return saved(tmp_path_factory.mktemp("lively"), network)


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy to which all actions are alike, and that always expects 3."""
    return saved(tmp_path_factory.mktemp("blank"), blank_network(3))


def blank_network(expects: float) -> PolicyNetwork:
    network = build(Shape(width=1, depth=1))
    with torch.no_grad():
        for weight in network.parameters():
            weight.zero_()
        network.value_head.bias.fill_(expects)
    return network


def saved(folder: Path, network: PolicyNetwork, **about: Any) -> Path:
    save_policy(folder / "policy", network, about)
    return folder / "policy"


def values(agent: PolicySearch, game: Game, seed: int = 0) -> dict[str, float]:
    """What the agent thinks of every allowed move."""
    row = agent.values(game.view(), np.random.default_rng(seed))[0]
    return {str(move): float(row[move.action]) for move in game.legal_moves}


# --- What is chosen


def test_a_single_action_is_not_thought_about(lively: Path) -> None:
    agent = TorchSearch(str(lively))
    game = push_all(game_of("6-5 1-0", "5-4 2-2"), "6-5")
    expected = TorchPolicy(str(lively)).values(game.view())[0]
    assert values(agent, game) == pytest.approx({"5-4@5": 5 * expected})


# --- What its values mean


def test_by_outlook_a_move_that_wins_is_worth_the_whole_chance(tmp_path: Path) -> None:
    folder = saved(tmp_path, blank_network(0), config={"reward": "outlook", "horizon": "hand"})
    # One point wins. 5-0 makes 5 for sure; 4-3 scores nothing.
    game = game_of("5-0 6-6 6-4 4-3", "2-1 3-3 2-2 1-1", target=1, game_end="immediate")
    thought = values(TorchSearch(str(folder), 32, trust=0), game)
    assert thought["5-0"] == pytest.approx(1)
    assert thought["4-3"] < 1


def test_a_policy_is_searched_in_the_units_that_it_was_trained_in(tmp_path: Path) -> None:
    for reward, aim in (("outlook", "game"), ("margin", "hand")):
        assert TorchSearch(str(saved(tmp_path, blank_network(0), reward=reward))).aim == aim


# --- Whom it trusts


def test_with_a_policy_that_prefers_nothing_it_is_pimc(blank: Path) -> None:
    views = random_views(20, 7)
    search = TorchSearch(str(blank), worlds=70, playout="greedy", trust=5, weighed=1)
    pimc = Pimc(worlds=70, aim="hand")
    assert search.aim == pimc.aim
    for seed in range(3):
        one, other = (agent(views, np.random.default_rng(seed)) for agent in (search, pimc))
        assert (one == other).all()


def test_trust_moves_choices_from_those_of_the_worlds_to_those_of_the_policy(lively: Path) -> None:
    views = random_views(60, 7)
    preferred = TorchPolicy(str(lively))(views, np.random.default_rng(0))
    followed = [
        (
            TorchSearch(str(lively), 32, playout="greedy", trust=trust)(
                views, np.random.default_rng(0)
            )
            == preferred
        ).mean()
        for trust in (0, 3, 1000)
    ]
    assert followed == sorted(followed)
    assert followed[0] < followed[1] < followed[2] == 1


# --- What is refused


def test_options_that_cannot_be_are_refused(lively: Path) -> None:
    for wrong, why in [
        ("worlds=1", "worlds=2 or more"),
        ("trust=-1", "no option below 0"),
        ("trust=none", "trust must be a float, not 'none'"),
        ("least=1", "a probability from 0 to below 1, not 1.0"),
        ("playout=gredy", "did you mean 'greedy'"),
        ("weighted=1", "did you mean 'weighed'"),
    ]:
        with pytest.raises(AgentError, match=why):
            make_agent(f"torch+search:{lively},{wrong}")


@pytest.mark.parametrize("config", [{"horizon": "game"}, {"reward": "win", "horizon": "game"}])
def test_values_of_whole_games_are_refused(config: dict[str, str], tmp_path: Path) -> None:
    folder = saved(tmp_path, blank_network(0), config=config)
    with pytest.raises(PolicyError, match="needs a policy with values of the hand"):
        make_agent(f"torch+search:{folder}")
