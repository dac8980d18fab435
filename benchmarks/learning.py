"""Measure self-play that learns: `python -m benchmarks.learning`.

Decisions in a second, games and rows included, on one core: in compiled code, in the module in
node, in PyTorch, in JAX, and by stock MaskablePPO in the seat of one player. Each learner has the
same network and the same epochs, and all are measured in every round, in turn. It needs node.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jax
import torch

import fiveup_env
from agents.learn import jax_ppo
from agents.learn.baseline import Baseline
from agents.learn.selfplay import SelfPlay as TorchSelfPlay
from agents.results import publish
from agents.runs.config import Config
from benchmarks.timing import ROUNDS, measured, quiet, speed_options
from fiveup_env import Rules
from fiveup_env.learning.selfplay import SelfPlay

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.timing import Figure, Round

MODULE: Final = Path(fiveup_env.__file__).parent / "portable" / "learning.mjs"
SECONDS: Final = 3.0  # at least, of each learner in a round
GAMES: Final = 1024
JAX_GAMES, JAX_PARTS = 256, 16  # so that minibatches are those of the others
# Networks by what they are called.
NETWORKS: Final[dict[str, dict[str, Any]]] = {
    "`plain`, 2 x 128": {"network": "plain", "width": 128, "depth": 2},
    "`guided`, 128, depth 2": {"network": "guided", "width": 128, "depth": 2},
    "`guided`, 64, depth 1": {"network": "guided", "width": 64, "depth": 1},
}


def compiled(shape: dict[str, Any], threads: int) -> Callable[[], int]:
    """Return an update in compiled code."""
    run = SelfPlay.begin([Rules.preset("five_up", 4)], threads, games=GAMES, **shape)

    def update() -> int:
        before = run.decisions
        run.update()
        return run.decisions - before

    return update


def laboratory(learner: Any) -> Callable[[], int]:
    """Return an update of a learner of the laboratory."""

    def update() -> int:
        before = learner.decisions
        learner.update(0.0)
        return int(learner.decisions - before)

    return update


def in_jax() -> Callable[[], int]:
    """Return an update of the learner in JAX, in as many games as it has by itself."""
    held = [jax_ppo.first_carry(0, JAX_GAMES)]

    def update() -> int:
        held[0] = jax.block_until_ready(jax_ppo.learn(held[0], jax_ppo.RATE, JAX_PARTS))
        return jax_ppo.UPDATES * JAX_GAMES * jax_ppo.STEPS

    return update


def rate_of(update: Callable[[], int]) -> float:
    """Return the decisions in a second."""
    started, decisions = time.perf_counter(), 0
    while time.perf_counter() - started < SECONDS:
        decisions += update()
    return decisions / (time.perf_counter() - started)


def rate_in_node(shape: dict[str, Any]) -> float:
    """Return the decisions in a second by the module in node."""
    script = Path(__file__).with_name("learning.mjs")
    asked = json.dumps({**shape, "games": GAMES})
    command = ["node", str(script), str(MODULE), asked, str(SECONDS)]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def learners(folder: Path) -> dict[str, dict[str, Callable[[], float]]]:
    """Return what measures every learner, by network; the first is what others are compared to."""
    sides: dict[str, dict[str, Callable[[], float]]] = {}
    for name, shape in NETWORKS.items():
        own = Config(engine="torch", shared=True, games=GAMES, threads=1, **shape)
        updates = {
            "compiled": compiled(shape, 1),
            "compiled, two threads": compiled(shape, 2),
            "PyTorch": laboratory(TorchSelfPlay(own, folder)),
        }
        if shape["network"] == "plain":
            stock = Config(
                learner="plain", rivals=("greedy",), games=256, batch_size=1024, threads=1, **shape
            )
            updates["stock MaskablePPO in one seat"] = laboratory(Baseline(stock, folder))
        if shape["depth"] == 1:
            updates["JAX, two epochs"] = in_jax()
        for update in updates.values():
            update()
        sides[name] = {each: partial(rate_of, update) for each, update in updates.items()}
        sides[name]["compiled, in node"] = partial(rate_in_node, shape)
    return sides


def measure(sides: dict[str, dict[str, Callable[[], float]]]) -> Round:
    """Return the figures of one round."""
    figures: dict[str, tuple[Figure | None, Figure | None]] = {}
    for name, rates in sides.items():
        each = {side: rate() for side, rate in rates.items()}
        figures |= {
            f"{name}: {side}": (
                (rate / 1000, ",.0f", "k decisions/s"),
                None if side == "compiled" else (rate / each["compiled"], ".2f", "of compiled"),
            )
            for side, rate in each.items()
        }
    return figures


def main() -> None:
    """Measure and print the table."""
    options = speed_options(__doc__).parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        sides = learners(Path(name))
        with quiet(anyway=options.anyway):
            rows = measured([measure(sides) for _ in range(ROUNDS)])
            publish("learning", keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
