"""The shipped policies play every game that their card names, better than `greedy`, as expected."""

from __future__ import annotations

import hashlib
import itertools
from random import Random

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from agents.learn import calibration
from agents.policies.agent import TorchPolicy
from fiveup_env import Game
from fiveup_env.arena.duels import duel
from fiveup_env.opponents.policy_files import SHIPPED, WEIGHTS
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.presets import PRESETS

DEALS = np.arange(700_000, 700_030, dtype=np.uint64)

# What the policies thought when encoders had one version, of a position by each preset with two,
# three and four players: their actions, the logits of these, and the values since their heads were
# refitted. Where points are fives, the encoder that they learnt with rounds the target of 61 down.
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
    "shipped": "0.1966 0.1539 0.2774 0.4577 -0.0706 0.2843 0.5007 0.1024 -0.1885 0.1166 0.1487 "
    "0.4734 0.7258 0.3106 0.1042 -0.0645 0.1269 0.3665 0.1166 0.0992 0.4175",
    "family": "0.2141 0.4942 0.1852 0.2999 -0.7185 0.1467 0.7552 0.5191 -0.5458 0.0190 0.5807 "
    "0.3990 0.8545 -1.1390 -0.6573 -0.6590 0.2016 0.2479 0.8646 -1.2777 0.3253",
}

# Digests of all their tensors but the value head, which was refitted after the training.
TENSORS = {
    "shipped": "bc966cd782b16028c82c69aab0db8130a85a0279a25aa8ad004dfd390f5dc90b",
    "family": "5183b5beebd4ae9daaca0bb1c748c64df4bf33a83d4727cc2891e3ab2c637abe",
}

torch.set_num_threads(1)


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_plays_as_when_it_was_trained(name: str) -> None:
    agent, games = TorchPolicy(name), []
    assert agent.network.shape.encoder == "lookahead@1"
    for number, (preset, players) in enumerate(itertools.product(PRESETS, (2, 3, 4))):
        game, random = Game(preset, players, target=61, seed=number), Random(number)
        while len(game.legal_moves) < 3 or len(game.moves) < 6:
            game.push(random.choice(list(game.legal_moves)))
        games.append(game)
    views = np.concatenate([game.view() for game in games])
    masks = np.array([game.action_mask() for game in games])
    assert agent(views, masks, np.random.default_rng(0)).tolist() == numbers(ACTIONS[name])
    logits = agent.logits(views, masks).max(1)
    assert logits == pytest.approx(numbers(LOGITS[name]), abs=2e-4)
    assert agent.values(views) == pytest.approx(numbers(VALUES[name]), abs=2e-4)


@pytest.mark.parametrize("name", SHIPPED)
def test_all_but_the_value_head_is_as_it_was_trained_bit_for_bit(name: str) -> None:
    weights = load_file(SHIPPED[name] / WEIGHTS)
    kept = [weights[one].tobytes() for one in sorted(weights) if not one.startswith("value_head")]
    assert hashlib.sha256(b"".join(kept)).hexdigest() == TENSORS[name]


@pytest.mark.parametrize(
    ("name", "rules", "players"),
    [("shipped", ["five_up"], [4]), ("family", list(PRESETS), [2, 3, 4])],
)
def test_the_values_of_a_shipped_policy_are_what_its_play_brings(
    name: str, rules: list[str], players: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "GAMES", 126)
    monkeypatch.setattr(calibration, "MOVES", 60)
    agent = TorchPolicy(name)
    found = calibration.play(agent, "outlook@1", rules, players, 1)
    lines = calibration.calibrate([agent.network.value_head], [found])[0]
    assert abs(lines[-1].excess) < 0.03


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
