"""Measure how long a first program takes: `python -m benchmarks.first`.

Every program runs in a process of its own. Compared is its time, the start of Python included, with
that of a process which imports NumPy.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Final

from agents.results import README, publish, ranged
from benchmarks.timing import quiet, speed_options

if TYPE_CHECKING:
    from fiveup_env.files import Json

ROUNDS: Final = 5
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
    figures: dict[str, list[tuple[float, float]]] = {what: [] for what in PROGRAMS}
    with quiet(anyway=options.anyway):
        for _ in range(ROUNDS):
            for what, program in PROGRAMS.items():
                seconds = _seconds(program)
                figures[what].append((seconds, seconds / _seconds("import numpy")))
    rows: list[Json] = [
        {
            "what": what,
            "seconds": ranged(seconds, ".2f", "s"),
            "in imports of NumPy": ranged(ratios, ".0f"),
        }
        for what, rounds in figures.items()
        for seconds, ratios in [zip(*rounds, strict=True)]
    ]
    publish("first", keep=options.save, rows=rows)


def _seconds(program: str) -> float:
    """Return how long a program runs in a new process."""
    began = time.perf_counter()
    command = [sys.executable, "-c", program]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
