"""Measurements of a policy: duels on deals that no run ever trains on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.arena.statistics.duels import duel
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.opponents.agent import Agent
    from fiveup_env.rules.fields import Rules

# The first deals that are measured on. Training plays streams, which reach none of them.
FIRST_MEASURED = 800_000  # during a run
FIRST_OF_TABLE = 900_000  # at its end

# A mean and the bounds of its 95 % interval.
Rate = tuple[float, float, float]


class Result(NamedTuple):
    """How well a policy did against a rival."""

    wins: Rate  # the share of the games that it won
    points: Rate  # per hand, those of its side less the mean of the others'


def measure(
    policy: Agent, rivals: Sequence[str], rules: Rules, deals: int, first: int = FIRST_MEASURED
) -> dict[str, Result]:
    """Return a policy's results against each rival, on `deals` deals beginning with `first`."""
    seeds = np.arange(first, first + deals)
    results = {}
    for rival in rivals:
        played = duel([policy, make_agent(rival)], rules, seeds)
        wins = float(played.wins.mean()), *played.win_interval()
        points = float(played.margins.mean()), *played.margin_interval()
        results[rival] = Result(wins, points)
    return results
