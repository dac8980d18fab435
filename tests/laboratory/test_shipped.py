"""The shipped policies play every game that their card names, and better than `greedy`."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from agents.arena.duels import duel
from agents.policies.files import SHIPPED, WEIGHTS
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.presets import PRESETS

DEALS = np.arange(700_000, 700_030, dtype=np.uint64)

torch.set_num_threads(1)


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
