"""Measure the compiled functions elsewhere: `python -m benchmarks.portable`.

The same decisions in the same views in Python, by the module in node, and random moves by the C
library too. Everything is measured in every round, in turn. It needs node and a C compiler.
"""

from __future__ import annotations

import ctypes
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import fiveup_env
from agents.results import publish
from benchmarks.engine import engine_rate, new_games, play_random_hands
from benchmarks.timing import ROUNDS, measured, quiet, speed_options
from fiveup_env import Batch, Rules
from fiveup_env.engine.state import GAME, VIEW
from fiveup_env.opponents.registry import make_agent
from fiveup_env.portable.weights import pack

if TYPE_CHECKING:
    from benchmarks.timing import Round

PORTABLE: Final = Path(fiveup_env.__file__).parent / "portable"
VIEWS: Final = 500
MOVES: Final = 5_000_000
# Agents, how often they decide in all views, and in how many.
AGENTS: Final = {
    "partner": ("partner", 40, VIEWS),
    "student": ("student", 20, VIEWS),
    "pimc": ("pimc:worlds=200,aim=hand", 1, 200),
    "search": ("student+search:worlds=550", 1, 200),
}


def views_of_play() -> np.ndarray:
    """Return views of many games after as many moves in each, where the seat has a choice."""
    batch, agent, rng = Batch(VIEWS, seed=5), make_agent("greedy"), np.random.default_rng(5)
    batch.reset()
    for _ in range(37):
        batch.step(agent(batch.views(), rng))
    views = batch.views()
    return np.ascontiguousarray(views[batch.action_mask.sum(1) > 1])


def native(views: np.ndarray) -> dict[str, float]:
    """Return the moves in a second and the seconds a decision in Python."""
    speeds = {"moves": engine_rate(Rules.preset())}
    for name, (spec, rounds, count) in AGENTS.items():
        agent: Any = make_agent(spec)
        one_by_one = hasattr(agent, "search")
        groups = [views[i : i + 1] for i in range(count)] if one_by_one else [views[:count]]
        rng = np.random.default_rng(1)
        agent(groups[0], rng)
        started = time.perf_counter()
        for _ in range(rounds):
            for group in groups:
                agent(group, rng)
        speeds[name] = (time.perf_counter() - started) / rounds / min(count, len(views))
    return speeds


def library_rate(path: Path) -> float:
    """Return the random moves in a second by the C library."""
    library, game = ctypes.CDLL(str(path)), np.zeros(1, GAME)
    rules = Rules.preset().to_struct()
    place = ctypes.c_void_p(game.ctypes.data)
    library.fiveup_new_game(place, ctypes.c_void_p(rules.ctypes.data), ctypes.c_uint64(1))
    library.fiveup_play_randomly(place, 200_000, ctypes.c_uint64(1))
    started = time.perf_counter()
    library.fiveup_play_randomly(place, MOVES, ctypes.c_uint64(2))
    return MOVES / (time.perf_counter() - started)


def measure(folder: Path, views: np.ndarray) -> Round:
    """Return the figures of one round."""
    here = native(views)
    script = Path(__file__).with_name("portable.mjs")
    command = ["node", str(script), str(PORTABLE / "fiveup.mjs"), str(folder)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    there = json.loads(done.stdout)
    of = ".2f", "of Python's speed"
    moves: Round = {
        f"random moves, {name}": ((rate / 1e6, ".1f", "M moves/s"), (rate / here["moves"], *of))
        for name, rate in (
            ("the module in node", there["moves"]),
            ("the C library", library_rate(folder / "libfiveup.so")),
        )
    }
    decisions: Round = {
        f"`{spec}` in node, a decision": (
            (1e6 * there[name], ",.1f", "us"),
            (here[name] / there[name], *of),
        )
        for name, (spec, _, _) in AGENTS.items()
    }
    load = 1000 * there["load"], ".0f", "ms"
    return {**moves, **decisions, "loading the module and the binding in node": (load, None)}


def main() -> None:
    """Measure and print the table."""
    options = speed_options(__doc__).parse_args()
    module = (PORTABLE / "fiveup.wasm").read_bytes()
    views = views_of_play()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "fiveup_env.portable", "host"]
        subprocess.run([*build, "-o", str(folder / "libfiveup.so")], check=True)
        (folder / "student.weights").write_bytes(pack("student"))
        (folder / "views.bin").write_bytes(views.tobytes())
        (folder / "sizes.json").write_text(json.dumps({"size": VIEW.itemsize}))
        play_random_hands(new_games(1, Rules.preset()), np.uint64(0), 1)
        with quiet(anyway=options.anyway):
            rows = measured([measure(folder, views) for _ in range(ROUNDS)])
            small = len(gzip.compress(module, 9))
            sizes = f"{len(module) / 1000:.0f} KB; {small / 1000:.0f} KB by gzip"
            rows.append({"what": "the module", "how fast": sizes, "compared": None})
            publish("portable", keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
