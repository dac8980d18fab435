"""Measure what the ladder shows about the game: `python -m benchmarks.strategy`.

This prints the value of the lead, how much of a hand is luck of the deal, and the value of each
idea of the highest rung, which plays against itself without that idea. Hands are the first
of a game, for four players as partners, and margins are in points per hand.
"""

from __future__ import annotations

import argparse

import numpy as np

from agents.fitting.tuning import margins
from benchmarks.results import add_save, named, publish
from fiveup_env.arena.statistics import interval, resampled_means
from fiveup_env.opponents.heuristics.features import FEATURE_NAMES, FEATURES
from fiveup_env.opponents.heuristics.ladder import LADDER, weights_of
from fiveup_env.opponents.search.playouts import first_hands, play_hands
from fiveup_env.rules.fields import Rules

Row = tuple[str, ...]
FIRST_SEED = 910_000_000
REPLICAS = 8
TOP = list(LADDER)[-1]


def hand_margins(weights: np.ndarray, seeds: np.ndarray, key: int) -> tuple[np.ndarray, np.ndarray]:
    """Return side 0's margin in each hand, with the same weights in all seats, and who led."""
    rules = Rules.preset()
    games = first_hands(rules.to_struct(), seeds)
    play_hands(games, 0, weights, weights, np.uint64(key))
    public = games["public"]
    return (public["scores"][:, 0] - public["scores"][:, 1]).astype(float), public["lead"] % 2


def with_interval(values: np.ndarray) -> str:
    """Return a mean with its 95 % interval, as text."""
    low, high = (ends[0] for ends in interval(resampled_means(values[:, None])))
    return f"{values.mean():+.3f} ({low:+.3f} .. {high:+.3f})"


def lead(seeds: np.ndarray) -> list[Row]:
    """Return the margin of the side that leads, with the same agent in all seats."""
    rows: list[Row] = [("all seats", "points a hand")]
    for rung in LADDER:
        won, led = hand_margins(weights_of(rung), seeds, 1)
        rows.append((rung, with_interval(np.where(led == 0, won, -won))))
    return rows


def luck(seeds: np.ndarray) -> list[Row]:
    """Return how the variance of a hand splits into that of the deal and that of the play.

    A rung plays at random only among actions that it holds equal; `random` always does.
    """
    heads = ("all seats", "variance of a hand's margin", "by the deal", "by the play")
    rows: list[Row] = [(*heads, "share of the deal")]
    players = {"random": np.zeros(len(FEATURE_NAMES))} | {rung: weights_of(rung) for rung in LADDER}
    for rung, weights in players.items():
        won = np.array([hand_margins(weights, seeds, key)[0] for key in range(REPLICAS)])
        within = won.var(0, ddof=1).mean()
        between = won.mean(0).var(ddof=1) - within / REPLICAS
        share = 100 * between / (between + within)
        numbers = (f"{one:.2f}" for one in (between + within, between, within))
        rows.append((rung, *numbers, f"{share:.0f} %"))
    return rows


def ideas(seeds: np.ndarray) -> list[Row]:
    """Return what each idea adds to the highest rung."""
    rules, full = Rules.preset(), weights_of(TOP)
    rows: list[Row] = [("idea", "weight", "points a hand", "what it is")]
    for k, name in enumerate(FEATURE_NAMES):
        if full[k]:
            without = full.copy()
            without[k] = 0
            won = margins(rules, seeds, full, without)
            rows.append((name, f"{full[k]:+.2f}", with_interval(won), FEATURES[name]))
    return rows


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=40_000)
    add_save(parser)
    options = parser.parse_args()
    seeds = np.arange(FIRST_SEED, FIRST_SEED + options.deals, dtype=np.uint64)
    lists = {"lead": lead(seeds), "luck": luck(seeds), "ideas": ideas(seeds)}
    publish("strategy", keep=options.save, **{name: named(rows) for name, rows in lists.items()})


if __name__ == "__main__":
    main()
