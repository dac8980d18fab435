"""The shipped policies play every game that their card names, and better than `greedy`."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest
import torch

from agents.arena.duels import duel
from agents.policies.agent import PolicyAgent
from agents.policies.files import SHIPPED, WEIGHTS
from fiveup_env import Game
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.presets import PRESETS

DEALS = np.arange(700_000, 700_030, dtype=np.uint64)

# What the policies thought when encoders had one version, of a position by each preset with two,
# three and four players: their actions, the logits of these, and the values. Where points are
# fives, the version of the encoder that they learnt with rounds the target of 61 down.
ACTIONS = {
    "shipped": "9 28 93 20 28 94 63 43 81 27 81 39 85 30 83 30 28 28 32 34 79",
    "family": "9 28 93 20 28 94 63 43 81 25 81 39 89 30 83 30 38 86 32 34 43",
}
LOGITS = {
    "shipped": "4.4075 1.7938 1.0006 4.5478 0.8163 -0.2313 1.7875 0.9121 0.4908 3.4910 3.9524 "
    "0.8551 1.0814 0.0386 0.7299 0.5531 1.0266 -0.4517 0.4563 0.8803 0.0886",
    "family": "1.3194 2.0355 1.1574 3.2839 1.6292 -0.5245 1.4374 2.0650 0.3150 2.0619 1.7360 "
    "0.7905 0.6527 0.7408 0.9476 -0.2584 0.3956 -0.9896 -1.1293 1.2673 -0.5352",
}
VALUES = {
    "shipped": "0.1719 0.1074 0.2744 0.4318 -0.1287 0.3487 0.4489 -0.0434 -0.0839 0.1108 0.1172 "
    "0.6764 0.8253 0.3590 0.3650 -0.0690 0.1583 0.2778 0.4212 0.3865 0.3660",
    "family": "0.2992 0.5373 0.2279 0.3204 -0.6324 0.1178 0.7290 0.6833 -0.3003 0.1256 0.6033 "
    "0.6384 1.2379 -0.8259 -0.1755 -0.4971 0.3866 0.2907 1.3396 -1.0297 0.4879",
}

torch.set_num_threads(1)


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_plays_as_when_it_was_trained(name: str) -> None:
    agent, games = PolicyAgent(name), []
    assert agent.network.shape.encoder == "lookahead@1"
    for number, (preset, players) in enumerate(itertools.product(PRESETS, (2, 3, 4))):
        game, random = Game(preset, players, target=61, seed=number), Random(number)
        while len(game.legal_moves) < 3 or len(game.moves) < 6:
            game.push(random.choice(list(game.legal_moves)))
        games.append(game)
    views = np.concatenate([game.view() for game in games])
    masks = np.array([game.action_mask() for game in games])
    assert agent(views, masks, np.random.default_rng(0)).tolist() == numbers(ACTIONS[name])
    logits = agent._logits(views, masks).max(1)
    assert logits == pytest.approx(numbers(LOGITS[name]), abs=2e-4)
    assert agent.values(views) == pytest.approx(numbers(VALUES[name]), abs=2e-4)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_is_small_and_beats_greedy(name: str) -> None:
    assert (SHIPPED[name] / WEIGHTS).stat().st_size <= 4e6
    agents = [make_agent(f"policy:{name}"), make_agent("greedy")]
    assert duel(agents, Rules.preset("five_up", 4), DEALS).wins.mean() > 0.8


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("preset", PRESETS)
def test_the_family_policy_beats_greedy_by_every_preset(preset: str, players: int) -> None:
    found = duel(
        [make_agent("policy:family"), make_agent("greedy")], Rules.preset(preset, players), DEALS
    )
    assert found.interval(found.margins)[0] > 0
