"""How much narrower intervals become without luck: `python -m benchmarks.luck`.

Every pair plays the same deals once; the intervals with and without its luck are of the same games.
The last column is a run of so many more deals that its interval says where the truth lies.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Final

from fiveup_env import Rules
from fiveup_env.arena.duels import Duel, duel_of
from fiveup_env.arena.games import Task, Terms
from fiveup_env.arena.workers import play_tasks

if TYPE_CHECKING:
    import numpy as np

SEED: Final = 5_000_000
LONG: Final = 1_000_000  # where the deals of the long runs begin
PAIRS: Final = (
    ("counter", "partner"),
    ("partner", "greedy"),
    ("greedy", "partner"),
    ("student", "greedy"),
    ("student", "partner"),
    ("pimc:worlds=50", "greedy"),
    ("pimc:worlds=50", "partner"),
    ("pimc:worlds=50", "student"),
)
HEADER: Final = f"{'agents':32}{'deals':>6}  {'plain (%)':22}{'without luck (%)':22}width  s a game"


def played(pair: tuple[str, str], first: int, deals: int, cores: int, *, luck: bool) -> Duel:
    """Return the duel of a pair on some deals."""
    rules = Rules.preset("five_up", 4)
    starts = range(first, first + deals, 50)
    tasks = [Task(pair, start, min(50, first + deals - start)) for start in starts]
    chunks = dict(play_tasks(tasks, Terms(rules, luck=luck), cores))
    return duel_of([chunks[task] for task in tasks], rules)


def row(duel: Duel, values: np.ndarray) -> str:
    """Return a mean with its interval."""
    low, high = duel.interval(values)
    return f"{100 * values.mean():.1f} ({100 * low:.1f} .. {100 * high:.1f})"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deals", type=int, default=400)
    parser.add_argument("--long", type=int, default=20_000, help="deals of the long runs")
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    sys.stdout.write(f"{HEADER}  {options.long:,} deals (%)\n")
    for pair in PAIRS:
        before = time.perf_counter()
        duel = played(pair, SEED, options.deals, options.cores, luck=True)
        seconds = (time.perf_counter() - before) * options.cores / duel.game_wins.size
        plain, reduced = duel.game_wins.mean(1), duel.wins
        truth = ""
        if "pimc" not in pair[0]:
            long = played(pair, LONG, options.long, options.cores, luck=False)
            truth = row(long, long.wins)
        sys.stdout.write(
            f"{' v '.join(pair):32}{options.deals:>6}  {row(duel, plain):22}"
            f"{row(duel, reduced):22}{reduced.std() / plain.std():.2f}   {seconds:.2f}    {truth}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
