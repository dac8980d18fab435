"""Measure how many deals error rates save: `python -m benchmarks.judging`.

Neighbours on the ladder meet on duplicate deals, and every decision is judged. What a side's
decisions lose together, in chances to win, says as much about its win rate as the outcome does, in
the same unit: without losses on either side, the win rate is a half. The saving is the ratio of the
variances of the two estimates by deal: how many times fewer deals give an interval of the same
width. `--game` measures instead how long the judgement of a whole game takes.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import Final

import numpy as np

from benchmarks.timing import ROUNDS, add_anyway, quiet, spread
from fiveup_env import Game, Move
from fiveup_env.analysis import REFERENCE, judge
from fiveup_env.arena.duels import duel_of
from fiveup_env.arena.games import Terms, play_chunk
from fiveup_env.arena.statistics import interval, resampled_means
from fiveup_env.arena.tables import columns, percent
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress
from fiveup_env.rules.fields import Rules

LADDER: Final = ("random", "greedy", "defensive", "positional", "counter", "partner")
FIRST_SEED: Final = 970_000_000
GAME_SEED: Final = 7


def main() -> None:
    """Play, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deals", type=int, default=48)
    parser.add_argument("--judge", default="pimc:worlds=128,playout=partner", metavar="SPEC")
    parser.add_argument("--game", action="store_true", help="time the judgement of a whole game")
    add_anyway(parser)
    options = parser.parse_args()
    if options.game:
        with quiet(anyway=options.anyway):
            time_a_game()
    else:
        compare(options.deals, options.judge)


def time_a_game() -> None:
    """Print how long it takes to judge a game between `partner` in all seats."""
    agent, chance = make_agent("partner"), np.random.default_rng(GAME_SEED)
    game = Game(seed=GAME_SEED)
    while game.outcome() is None:
        game.push(Move(int(agent(game.view(), game.action_mask()[None], chance)[0])))
    short = Game(seed=GAME_SEED)
    short.push(game.moves[0])
    judge(short)  # compiles
    seconds, decisions = [], 0
    for _ in progress(range(ROUNDS), ROUNDS, "rounds"):
        began = time.process_time()
        decisions = len(judge(game).decisions)
        seconds.append(time.process_time() - began)
    print(f"{REFERENCE}: {decisions} decisions judged in {spread(seconds)} s of one core")


def compare(deals: int, reference: str) -> None:
    """Print what outcomes and losses say about the win rates of neighbours."""
    terms = Terms(Rules.preset(), judge=reference, judge_every=1)
    seeds = np.arange(FIRST_SEED, FIRST_SEED + deals, dtype=np.uint64)
    rows: list[tuple[str, ...]] = [("a", "b", "win rate of b (%)", "by losses (%)", "fewer deals")]
    pairs = list(itertools.pairwise(LADDER))
    for a, b in progress(pairs, len(pairs), "pairs"):
        played = play_chunk([make_agent(a), make_agent(b)], (a, b), terms, seeds)
        wins = 1 - duel_of([played], terms.rules).wins
        lost = played.judged[:, :, 1] / terms.rules.sides  # by deal and agent, a game
        estimates = np.stack([wins, 0.5 + lost[:, 0] - lost[:, 1]], 1)
        low, high = interval(resampled_means(estimates))
        means, variances = estimates.mean(0), estimates.var(0, ddof=1)
        rates = [percent(means[k], (low[k], high[k])) for k in range(2)]
        rows.append((a, b, *rates, f"x {variances[0] / variances[1]:.0f}"))
    print(f"{deals} deals, judged by {reference}")
    print(columns(rows, right={4}))


if __name__ == "__main__":
    main()
