"""How strong a policy is: duels on deals that no run ever trains on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.arena.duels import duel
from agents.registry import make_agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.opponents import Policy
    from fiveup_env.rules import Rules

# Below 2^40, where the deals of training begin (rollouts.first_deal).
FIRST_MEASURED = 800_000
FIRST_OF_TABLE = 900_000

# The share of games won, and the ends of its 95 % interval.
Rate = tuple[float, float, float]


def measure(
    policy: Policy, rivals: Sequence[str], rules: Rules, deals: int, first: int = FIRST_MEASURED
) -> dict[str, Rate]:
    """How many of its games a policy wins against each rival."""
    seeds = np.arange(first, first + deals)
    rates = {}
    for rival in rivals:
        played = duel([policy, make_agent(rival)], rules, seeds)
        rates[rival] = (float(played.wins.mean()), *played.interval(played.wins))
    return rates
