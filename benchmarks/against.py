"""Measure the speed of this code next to that of a commit: `python -m benchmarks.against main`.

Both sides take turns in every round, each in a process of its own, and a ratio is taken within its
round. The table is Markdown, for a comment. The exit status is 1 if anything is much slower: a
machine that others use as well does not tell small differences, so the threshold is wide.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agents.results import ROOT, ranged, shown
from benchmarks.timing import ROUNDS, quiet, speed_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.files import Json

LEAST: Final = 0.7  # of the other commit's speed

# Only names that old versions have, too. Everything runs once before it is timed, to be compiled.
MEASURE: Final = """
import json, time
import numpy as np
from fiveup_env import Batch, Game, make_agent

def game(seed):
    game, choice = Game(seed=seed), np.random.default_rng(seed)
    for _ in range(150):
        moves = list(game.legal_moves)
        if not moves:
            break
        game.push(moves[choice.integers(len(moves))])
    return len(game.moves)

def batch(seed):
    batch, random = Batch(4096, seed=seed), np.random.default_rng(seed)
    batch.reset()
    for _ in range(40):
        batch.step(batch.random_actions(random))
    return 40 * 4096

def agent(spec, games, steps):
    def play(seed):
        batch, random, chosen = Batch(games, seed=seed), np.random.default_rng(0), make_agent(spec)
        batch.reset()
        for _ in range(steps):
            batch.step(chosen(batch.views(), random))
        return games * steps
    return play

speeds = {}
for name, work in {
    "`Game`, moves": game,
    "`Batch`, steps": batch,
    "`partner`, decisions": agent("partner", 512, 20),
    "`pimc:worlds=50`, decisions": agent("pimc:worlds=50", 8, 10),
}.items():
    work(0)
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < 1:
        done += work(done + 1)
    speeds[name] = done / (time.perf_counter() - began)
print(json.dumps(speeds))
"""


def main() -> int:
    """Measure, print the table, and return the exit status."""
    parser = speed_options(__doc__)
    parser.add_argument("commit", help="what to compare with, such as main")
    options = parser.parse_args()
    with _checked_out(options.commit) as other, quiet(anyway=options.anyway):
        rounds = [(_speeds(other), _speeds(ROOT)) for _ in range(ROUNDS)]
        slow = _print_table(options.commit, rounds)
    if slow:
        print(f"less than {LEAST:.0%} of the speed at {options.commit}: {', '.join(slow)}")
    return 1 if slow else 0


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """Yield a folder with the files of a commit."""
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(other), commit], check=True)
        library = [sys.executable, "-m", "fiveup_env.portable", "native", "--here"]
        subprocess.run(library, cwd=other, env=os.environ | {"PYTHONPATH": str(other)}, check=False)
        try:
            yield other
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)


def _speeds(folder: Path) -> dict[str, float]:
    """Return how fast the code in a folder is."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return dict(json.loads(done.stdout))


def _print_table(commit: str, rounds: list[tuple[dict[str, float], dict[str, float]]]) -> list[str]:
    """Print the speeds and their ratios; return what is much slower."""
    rows: list[Json] = []
    for name in rounds[0][0]:
        before, here = ([speeds[side][name] for speeds in rounds] for side in (0, 1))
        ratios = [now / then for then, now in zip(before, here, strict=True)]
        speeds = {commit: ranged(before, ",.0f"), "here": ranged(here, ",.0f")}
        rows.append({"a second": name} | speeds | {f"here / {commit}": ranged(ratios, ".2f")})
    print(shown(rows))
    return [row["a second"] for row in rows if row[f"here / {commit}"]["value"] < LEAST]


if __name__ == "__main__":
    sys.exit(main())
