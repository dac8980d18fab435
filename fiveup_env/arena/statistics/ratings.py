"""Ratings from win rates: Elo for the ladder, Nash averaging for what no ladder can show."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

ELO_SCALE: Final = 400 / np.log(10)  # odds of ten to one are 400 points
LONGEST_STEP: Final = 2.0
STEPS: Final = 200
PRECISION: Final = 1e-10
COOLEST: Final = 1e-7
COOLING: Final = 0.7
SMALLEST_LOG: Final = -40.0  # a share below exp(-40) counts as none
ALL_DEALS: Final = 10**6  # beside which the even deal that is added counts for nothing


def elo(alone: np.ndarray, deals: int, sides: int = 2) -> np.ndarray:
    """Return Elo ratings, fitted by maximum likelihood to who wins; their mean is 0.

    `alone[..., i, j]` is the share of games that i won with one side against j on all others (sides
    that tie share the game), NaN where they did not meet. By the model of Plackett and Luce, that
    of Bradley and Terry for two sides, a side wins in proportion to its player's strength. One even
    deal is added to each pair and direction, so that an agent that never won has a rating too.
    Resamples take `ALL_DEALS`, because that deal would move the ends of their interval.
    """
    met = ~np.isnan(alone)
    shares = np.where(met, (np.nan_to_num(alone) * deals + 1 / sides) / (deals + 1), 0)
    strengths = np.zeros(alone.shape[:-1])
    agents = alone.shape[-1]
    for _ in range(STEPS):
        others = (sides - 1) * np.exp(strengths[..., None, :] - strengths[..., :, None])
        expected = met / (1 + others)
        surplus = shares - expected
        slope = surplus.sum(-1) - surplus.sum(-2)
        weights = expected * (1 - expected)
        weights = weights + np.swapaxes(weights, -1, -2)
        # The sum of the ratings is free: adding 1 / agents fixes it, so the matrix is not singular.
        curvature = np.eye(agents) * weights.sum(-1)[..., None] - weights + 1 / agents
        step = np.linalg.solve(curvature, slope[..., None])[..., 0]
        largest = np.abs(step).max(-1, keepdims=True)
        strengths += step * np.minimum(1, LONGEST_STEP / np.maximum(largest, LONGEST_STEP))
        if largest.max() < PRECISION:
            break
    return ELO_SCALE * (strengths - strengths.mean(-1, keepdims=True))


def unbounded(rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which agents may be weaker by any amount than they are rated, and which stronger.

    `rates[i, j]` is the win rate of i against j. Nothing bounds how far an agent is below another
    unless it won against it, or against one that won, and so on.
    """
    won = np.eye(len(rates), dtype=bool) | (rates > 0)  # NaN, where they did not meet, is not a win
    apart = ~np.linalg.matrix_power(won, len(rates))
    return np.logical_or.reduce(apart, 1), np.logical_or.reduce(apart, 0)


def elo_against(
    shares: np.ndarray, known: np.ndarray, alone: np.ndarray, deals: int, sides: int = 2
) -> np.ndarray:
    """Return the rating of an agent that met others whose ratings are known, as `elo` fits it.

    `shares[..., k]` is the share of games that the side which is alone won in the k-th meeting: the
    agent's where `alone[k]`, else that of the other, whose rating is `known[k]`.
    """
    shares = (shares * deals + 1 / sides) / (deals + 1)
    ahead = np.where(alone, 1, -1)
    others = np.asarray(known) / ELO_SCALE
    strengths = np.zeros(shares.shape[:-1])
    for _ in range(STEPS):
        lead = ahead * (strengths[..., None] - others)
        expected = 1 / (1 + (sides - 1) * np.exp(-lead))
        slope = (ahead * (shares - expected)).sum(-1)
        step = slope / (expected * (1 - expected)).sum(-1)
        strengths = strengths + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max() < PRECISION:
            break
    return ELO_SCALE * strengths


def win_rate(lead: float, sides: int = 2) -> float:
    """Return the win rate by the model of `elo` of an agent that leads another by some Elo.

    With more than two sides it is the rate over both directions, alone and on all other sides.
    """
    odds, others = lead / ELO_SCALE, math.log(sides - 1)
    return 0.5 + (math.tanh((odds - others) / 2) + math.tanh((odds + others) / 2)) / 4


def lead_of(rate: float, sides: int = 2) -> float:
    """Return the lead in Elo that gives a win rate between 0 and 1: the inverse of `win_rate`."""
    # With x = exp(lead / ELO_SCALE), the rate is that of a quadratic equation in x.
    others = sides - 1
    surplus = (1 + others**2) * (2 * rate - 1)
    root = math.sqrt(surplus**2 + 16 * others**2 * rate * (1 - rate))
    return float(ELO_SCALE * math.log((surplus + root) / (4 * others * (1 - rate))))


def nash(rates: np.ndarray) -> np.ndarray:
    """Return each agent's probability in the equilibrium of choosing an agent to win with.

    This is Nash averaging (Balduzzi and others, 2018): of all equilibria of the game whose payoff
    is the win rate minus a half, the one of maximum entropy. Copies of an agent divide its share;
    agents that lose to the chosen ones get nothing.

    With a reward of `heat` for entropy the equilibrium is unique, and it approaches the wanted one
    as the heat goes to 0; Newton's method follows it there.
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
    """Return the logarithms of the shares, starting from those at a slightly greater heat."""
    agents = len(payoffs)
    for _ in range(STEPS):
        shares = np.exp(logs)
        # Each share must be proportional to exp(payoff / heat), and all must sum to 1.
        unknown = np.zeros((agents + 1, agents + 1))
        unknown[:agents, :agents] = np.eye(agents) - payoffs * shares / heat
        unknown[:agents, agents] = 1
        unknown[agents, :agents] = shares
        gap = np.append(payoffs @ shares / heat - logs, 1 - shares.sum())
        step = np.linalg.solve(unknown, gap)[:agents]
        counts = np.maximum(logs, logs + step) > SMALLEST_LOG
        largest = np.abs(step[counts]).max()
        logs = logs + step * min(1, LONGEST_STEP / max(largest, LONGEST_STEP))
        if largest < PRECISION:
            break
    return logs
