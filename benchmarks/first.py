"""Measure how long a first program takes: `python -m benchmarks.first`.

Every program runs in a process of its own with an empty cache of compiled code, and again with what
the first run has kept there. Compared is the time of the first run, the start of Python included,
with that of a process which imports NumPy.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Final

from agents.results import README, publish, ranged
from benchmarks.timing import quiet, speed_options

if TYPE_CHECKING:
    from fiveup_env.files import Json

ROUNDS: Final = 3
GAME: Final = "from fiveup_env import Game, make_agent; Game(seed=7).ask(make_agent({spec!r}))"
PROGRAMS: Final = {
    "the first program of the README": re.findall(
        r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL
    )[0],
    "a step of the AEC environment": (
        "import fiveup_env; env = fiveup_env.env(); env.reset(seed=1); "
        "env.step(int(env.last()[0]['action_mask'].argmax()))"
    ),
    "a step of the Gymnasium environment": (
        "import gymnasium, fiveup_env; env = gymnasium.make('fiveup/FiveUp-v0'); "
        "env.step(int(env.reset(seed=1)[1]['action_mask'].argmax()))"
    ),
    "a step of 4,096 games in a `Batch`": (
        "from fiveup_env import Batch; batch = Batch(4096, seed=1); batch.reset(); "
        "batch.step(batch.action_mask.argmax(1))"
    ),
    "a move of `student`": GAME.format(spec="student"),
    "a move of `pimc:worlds=200`": GAME.format(spec="pimc:worlds=200"),
}


def main() -> None:
    """Measure, and print the table."""
    options = speed_options(__doc__).parse_args()
    figures: dict[str, list[tuple[float, float, float]]] = {what: [] for what in PROGRAMS}
    with quiet(anyway=options.anyway):
        for _ in range(ROUNDS):
            for what, program in PROGRAMS.items():
                with tempfile.TemporaryDirectory() as folder:
                    first, again = (_seconds(program, folder) for _ in range(2))
                    figures[what].append((first, again, first / _seconds("import numpy", folder)))
    rows: list[Json] = [
        {
            "what": what,
            "first run": ranged(firsts, ".1f", "s"),
            "again": ranged(agains, ".1f", "s"),
            "first run, in imports of NumPy": ranged(ratios, ".0f"),
        }
        for what, rounds in figures.items()
        for firsts, agains, ratios in [zip(*rounds, strict=True)]
    ]
    publish("first", keep=options.save, rows=rows)


def _seconds(program: str, folder: str) -> float:
    """Return how long a program runs in a new process, which keeps compiled code in a folder."""
    variables = os.environ | {"NUMBA_CACHE_DIR": folder}
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program], env=variables, check=True, capture_output=True, timeout=600
    )
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
