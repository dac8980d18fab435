"""Measure how fast decision data are made: `python -m benchmarks.data`.

First the pieces, one by one on one core, in microseconds a position; then whole data sets on all
cores, from an empty folder to the complete card, the start of the workers included.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from agents.data.card import begin
from agents.data.games import (
    decisions_of_group,
    marginals_of,
    observations_of,
    rows_of_shard,
    values_of,
)
from agents.data.making import make_data
from agents.data.plan import Plan
from agents.data.shards import write_shard
from benchmarks.results import add_save, named, publish
from benchmarks.timing import ROUNDS, add_anyway, quiet, spread
from fiveup_env.arena.tables import columns
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    from collections.abc import Callable

AGENTS: Final = (("partner",), ("partner", "policy:partners"))
PIECES: Final = 2_000  # positions in a round of the pieces


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=50_000, help="in each data set")
    parser.add_argument("--values", default=Plan.values)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    add_anyway(parser)
    add_save(parser)
    options = parser.parse_args()
    plans = [
        Plan(agents=agents, positions=options.positions, values=options.values, shards=20)
        for agents in AGENTS
    ]
    for plan in plans:  # compile
        rows_of_shard(plan, 0)
    with quiet(anyway=options.anyway), tempfile.TemporaryDirectory() as folder:
        print(columns([("piece", "us a position"), *_pieces(plans[0], Path(folder))], right={1}))
        print(f"\n{options.positions:,} positions with {options.values}, {options.cores} cores:")
        rows = [("agents", "positions/s", "bytes a position")]
        for plan in plans:
            rates, sizes = [], []
            for one in range(ROUNDS):
                made = Path(folder) / f"{len(plan.agents)}-{one}"
                began = time.perf_counter()
                card = make_data(made, plan, cores=options.cores)
                count = card.about["counts"]["positions"]
                rates.append(count / (time.perf_counter() - began))
                sizes.append(sum(path.stat().st_size for path in card.shards) / count)
            names = ", ".join(f"`{spec}`" for spec in plan.agents)
            rows.append((names, spread(rates, ",.0f"), f"{sizes[0]:.0f}"))
        publish("data", keep=options.save, rows=named(rows))


def _pieces(plan: Plan, folder: Path) -> list[tuple[str, str]]:
    """Return the time that each piece takes for a position, in microseconds."""
    agents, searcher = [make_agent(spec) for spec in plan.agents], plan.searcher()
    games = list(decisions_of_group(plan, agents, 0, 0))
    played = sum(len(game["action"]) for game in games)
    views = np.concatenate([game["view"] for game in games])[:PIECES]
    rows, card = rows_of_shard(plan, 0), begin(folder / "pieces", plan, "benchmarks.data")
    pieces: dict[str, tuple[int, Callable[[], object]]] = {
        "play by partner": (played, lambda: list(decisions_of_group(plan, agents, 0, 0))),
        plan.values: (len(views), lambda: values_of(plan, searcher, 0, views)),
        "exact marginals": (len(views), lambda: marginals_of(views)),
        f"observations, {plan.encoder}": (len(views), lambda: observations_of(plan, views)),
        "write Parquet": (len(rows["action"]), lambda: write_shard(card, 0, rows)),
    }
    found = []
    for name, (count, work) in pieces.items():
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            work()
            times.append(1e6 * (time.perf_counter() - began) / count)
        found.append((name, spread(times)))
    return found


if __name__ == "__main__":
    main()
