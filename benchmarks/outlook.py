"""Measure how right the outlook is: `python -m benchmarks.outlook`.

For some scores of `five_up`, this prints the chance to win of the side that leads next, by every
version of the outlook, with the standard error of the newest: the spread of grids made from the
hands of other seeds. Beside them is how often that side won games of the newest version's players
from these scores, with a 95 % interval.
"""

from __future__ import annotations

import argparse

import numpy as np

from fiveup_env import Batch, Rules
from fiveup_env.opponents.outlook import NEWEST, SEED, VERSIONS, make_outlook, outlook_of
from fiveup_env.opponents.registry import make_agent

FIRST_SEED = 920_000_000  # of the games that are played
TO_GO = ((61, 61), (40, 40), (30, 25), (20, 10), (10, 20), (10, 10), (9, 6), (4, 4))
FAR = 61  # points to go at the beginning of a game


def errors(rules: Rules, grids: int) -> np.ndarray:
    """Return the standard error of every chance of the newest version."""
    making, fields = VERSIONS[NEWEST], rules.to_struct().item()
    seeds = [SEED + (k + 1) * making.hands for k in range(grids)]
    return np.std([make_outlook(fields, making, seed) for seed in seeds], axis=0, ddof=1)


def wins(rules: Rules, to_go: tuple[int, int], games: int) -> np.ndarray:
    """Return in which games the side that leads the first hand won, from these points to go."""
    batch, rows = Batch(games, rules, episode="game"), np.arange(games)
    batch.reset(np.arange(FIRST_SEED, FIRST_SEED + games))
    scores = batch.states["public"]["scores"]
    leads = batch.states["public"]["lead"] % 2
    scores[rows, leads], scores[rows, 1 - leads] = rules.target - np.array(to_go)
    agent, random, going = make_agent(VERSIONS[NEWEST].players), np.random.default_rng(0), rows
    while len(going):
        batch.advance(agent(batch.views(going), batch.mask[going], random), going)
        going = going[~batch.terminated[going]]
    return batch.states["public"]["winner"] == leads


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--grids", type=int, default=20, help="grids of other seeds")
    parser.add_argument("--games", type=int, default=10_000, help="from each of the scores")
    options = parser.parse_args()
    rules = Rules.preset()
    error = 100 * errors(rules, options.grids)
    heads = ("to go", *(f"{version}: {one.players}" for version, one in VERSIONS.items()))
    print(f"| {' | '.join(heads)} | games of {VERSIONS[NEWEST].players} |")
    print("|" + " --- |" * (len(heads) + 1))
    for own, rival in TO_GO:
        chances = [100 * outlook_of(rules.to_struct(), version)[own, rival] for version in VERSIONS]
        text = " | ".join(f"{chance:.1f}" for chance in chances) + f" +- {error[own, rival]:.1f}"
        won = 100 * wins(rules, (own, rival), options.games)
        apart = 1.96 * won.std() / len(won) ** 0.5
        between = f"{won.mean():.1f} ({won.mean() - apart:.1f} .. {won.mean() + apart:.1f})"
        print(f"| {own}, {rival} | {text} | {between} |")
    near = error[1 : FAR + 1, 1 : FAR + 1]
    typical = np.sqrt((near**2).mean())
    print(f"standard error, up to {FAR} to go: {typical:.2f}, and at most {near.max():.2f}")
    first, newest = (outlook_of(rules.to_struct(), version) for version in (1, NEWEST))
    moved = 100 * np.abs(newest - first)[1 : FAR + 1, 1 : FAR + 1]
    print(
        f"from version 1 to {NEWEST}: {moved.mean():.2f} on average, and at most {moved.max():.2f}"
    )


if __name__ == "__main__":
    main()
