"""Ratings from win rates: Elo for the ladder, Nash averaging for what a ladder cannot show."""

from __future__ import annotations

from typing import Final

import numpy as np

ELO_SCALE: Final = 400 / np.log(10)  # so that ten wins to one are 400 points
BOLDEST_STEP: Final = 2.0
STEPS: Final = 200
PRECISION: Final = 1e-10
COOLEST: Final = 1e-7
COOLING: Final = 0.7
SMALLEST_LOG: Final = -40.0  # who has less of a share than that has none


def elo(rates: np.ndarray, deals: int) -> np.ndarray:
    """Elo ratings by maximum likelihood in the model of Bradley and Terry; their mean is 0.

    `rates[..., i, j]` is the share that i won against j (a tie is half), NaN where they did not
    meet. One deal that ends even is added to each pair, so that who never won has a rating too.
    """
    met = ~np.isnan(rates)
    shares = np.where(met, (np.nan_to_num(rates) * deals + 0.5) / (deals + 1), 0)
    strengths = np.zeros(rates.shape[:-1])
    agents = rates.shape[-1]
    for _ in range(STEPS):
        expected = met / (1 + np.exp(strengths[..., None, :] - strengths[..., :, None]))
        slope = (shares - expected).sum(-1)
        weights = expected * (1 - expected)
        # The ratings' sum is free: a matrix of ones settles it, and makes the curvature regular.
        curvature = np.eye(agents) * weights.sum(-1)[..., None] - weights + 1 / agents
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        largest = np.abs(step).max(-1, keepdims=True)
        strengths += step * np.minimum(1, BOLDEST_STEP / np.maximum(largest, BOLDEST_STEP))
        if largest.max() < PRECISION:
            break
    return ELO_SCALE * (strengths - strengths.mean(-1, keepdims=True))


def nash(rates: np.ndarray) -> np.ndarray:
    """How often each agent is chosen where two players each choose an agent to win by.

    This is Nash averaging (Balduzzi and others, 2018): of all equilibria of the game whose payoff
    is the win rate less a half, the one of most entropy. Copies of an agent share its part; agents
    that lose to the chosen ones get nothing.

    With a reward of `heat` for entropy the equilibrium is unique, and moves to the one that is
    sought as the heat goes to 0; Newton's steps follow it.
    """
    payoffs = rates - 0.5
    np.fill_diagonal(payoffs, 0)
    agents = len(payoffs)
    logs, heat = np.full(agents, -np.log(agents)), 1.0
    while heat > COOLEST:
        logs = _equilibrium(payoffs, logs, heat)
        heat *= COOLING
    return np.exp(logs)


def _equilibrium(payoffs: np.ndarray, logs: np.ndarray, heat: float) -> np.ndarray:
    """The logarithms of the shares, from those at a little more heat."""
    agents = len(payoffs)
    for _ in range(STEPS):
        shares = np.exp(logs)
        # Each share is to be proportional to exp(payoff / heat), and all are to sum to 1.
        unknown = np.zeros((agents + 1, agents + 1))
        unknown[:agents, :agents] = np.eye(agents) - payoffs * shares / heat
        unknown[:agents, agents] = 1
        unknown[agents, :agents] = shares
        gap = np.append(payoffs @ shares / heat - logs, 1 - shares.sum())
        step = np.linalg.solve(unknown, gap)[:agents]
        counts = np.maximum(logs, logs + step) > SMALLEST_LOG
        largest = np.abs(step[counts]).max()
        logs = logs + step * min(1, BOLDEST_STEP / max(largest, BOLDEST_STEP))
        if largest < PRECISION:
            break
    return logs
