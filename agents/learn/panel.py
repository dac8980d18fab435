"""How strong a policy is: duels on deals that no run ever trains on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agents.arena.duels import duel
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules

# Below 2^40, where the deals of training begin (rollouts.first_deal).
FIRST_MEASURED = 800_000
FIRST_OF_TABLE = 900_000

# A mean, and the ends of its 95 % interval.
Rate = tuple[float, float, float]


class Result(NamedTuple):
    """What a policy did against a rival."""

    wins: Rate  # the share of its games
    points: Rate  # of its side less the mean of the others', a hand


def measure(
    policy: Agent, rivals: Sequence[str], rules: Rules, deals: int, first: int = FIRST_MEASURED
) -> dict[str, Result]:
    """What a policy does against each rival."""
    seeds = np.arange(first, first + deals)
    results = {}
    for rival in rivals:
        played = duel([policy, make_agent(rival)], rules, seeds)
        wins, points = (
            (float(values.mean()), *played.interval(values))
            for values in (played.wins, played.margins)
        )
        results[rival] = Result(wins, points)
    return results
