"""Measure the strength of searches against their time: `python -m benchmarks.search`.

Every search of `SEARCHES` plays at each of its budgets against one fixed agent, on duplicate deals.
Budgets are worlds, so that results do not depend on the machine; only the time does. The results
file keeps what was played: the same command continues after an interruption, and with more
`--deals` (best a multiple of 50) it adds to it. The time is measured anew each time, on one core,
over decisions with a choice of greedy games: all together, as in the arena, where a network is
faster, and one at a time, as at a table. `--save` draws docs/search.svg, too.
"""

from __future__ import annotations

import sys
import time
from itertools import groupby
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.figure import Figure

import agents as laboratory  # noqa: F401 - registers its agents
from agents.results import FOLDER, cell, publish, ranged
from benchmarks.duels import duels_with
from benchmarks.timing import ROUNDS, quiet, speed_options
from fiveup_env import Batch, Rules
from fiveup_env.arena.plots import STYLE, name_curves, save_svg
from fiveup_env.cli.shared import answer
from fiveup_env.files import atomic_file
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fiveup_env.arena.statistics.duels import Duel
    from fiveup_env.files import Json
    from fiveup_env.opponents.agent import Agent

# The spec of each search without its worlds, and the worlds of its smallest and largest budget:
# from about 0.05 to 20 ms a decision. Every budget is four times the one before. Some need none.
SEARCHES: Final = {
    "policy+search:partners": ("policy+search:partners", 8, 8_192),
    "student+search": ("student+search", 8, 2_048),
    "pimc, weighed": ("pimc:weighed=8", 8, 2_048),
    "pimc": ("pimc", 25, 25_600),
    "student": ("student", 0, 0),
    "partner": ("partner", 0, 0),
}
RIVAL: Final = "policy:partners"
RULES: Final = Rules.preset(players=4)
SEED: Final = 3_100_000_000
GAMES: Final = 4
POSITIONS: Final = 200  # decisions that are timed
WAYS: Final = ("together", "alone")
PLOT: Final = FOLDER.parent / "docs" / "search.svg"


def budgets(name: str) -> dict[int, str]:
    """Return the specs of a search, by the number of worlds."""
    spec, worlds, most = SEARCHES[name]
    specs = {} if worlds else {0: spec}
    while 0 < worlds <= most:
        specs[worlds] = f"{spec}{',' if ':' in spec else ':'}worlds={worlds}"
        worlds *= 4
    return specs


def decisions() -> np.ndarray:
    """Return views of decisions with a choice, from all over some games."""
    greedy, rng = make_agent("greedy"), np.random.default_rng(0)
    views = []
    for seed in range(GAMES):
        batch = Batch(1, players=4, seed=seed)
        batch.reset()
        while not batch.terminated[0]:
            if batch.action_mask[0].sum() > 1:
                views.append(batch.views())
            batch.step(greedy(batch.views(), rng))
    chosen = np.linspace(0, len(views) - 1, POSITIONS).astype(int)
    return np.concatenate(views)[chosen]


def times(specs: Sequence[str]) -> dict[str, dict[str, list[float]]]:
    """Return the milliseconds per decision of every agent, for each way to ask, by round."""
    views = decisions()
    agents = {spec: make_agent(spec) for spec in specs}
    for agent in agents.values():
        agent(views[:1], np.random.default_rng(0))  # compiles it
    taken: dict[str, dict[str, list[float]]] = {spec: {way: [] for way in WAYS} for spec in specs}
    turns = [(spec, way) for _ in range(ROUNDS) for spec in specs for way in WAYS]
    for spec, way in progress(turns, len(turns), "times taken"):
        size = len(views) if way == "together" else 1
        taken[spec][way].append(milliseconds(agents[spec], views, size))
    return taken


def milliseconds(agent: Agent, views: np.ndarray, size: int) -> float:
    """Return the mean time of a decision when an agent is asked for `size` views at a time."""
    rng, started = np.random.default_rng(1), time.perf_counter()
    for k in range(0, len(views), size):
        agent(views[k : k + size], rng)
    return 1000 * (time.perf_counter() - started) / len(views)


def row(name: str, worlds: int, taken: Mapping[str, list[float]], duel: Duel) -> Json:
    """Return the row of a search at one of its budgets."""
    return {
        "search": name,
        "worlds": worlds,
        **{f"ms {way}": ranged(taken[way], ",.3f") for way in WAYS},
        "deals": len(duel.wins),
        "win rate (%)": cell(duel.wins.mean(), duel.win_interval(), ".1%"),
        "points a hand": cell(duel.margins.mean(), duel.margin_interval(), "+,.2f"),
    }


@rc_context(STYLE)
def draw(rows: Sequence[Json]) -> None:
    """Draw the win rates with their intervals over the time of a decision among many."""
    figure = Figure(figsize=(8, 5))
    axes = figure.subplots()
    for name, own in groupby(rows, lambda row: row["search"]):
        same = list(own)
        at = [row["ms together"]["value"] for row in same]
        wins = [row["win rate (%)"] for row in same]
        rates = 100 * np.array([[rate["value"], *rate["ci"]] for rate in wins])
        errors = abs(rates[:, 1:] - rates[:, :1]).T
        axes.errorbar(at, rates[:, 0], errors, marker="o", markersize=4, label=name)
    axes.set(xscale="log", xlabel="milliseconds a decision", ylabel=f"win rate (%) against {RIVAL}")
    name_curves(figure)
    with atomic_file(PLOT) as file:
        save_svg(figure, file)


def main() -> int:
    """Play what is missing, measure the times, print the table and draw the plot."""
    parser = speed_options(__doc__)
    parser.add_argument("--deals", type=int, default=400, help="for every budget (default: 400)")
    parser.add_argument("--cores", type=int, default=1, help="processes that play (default: 1)")
    parser.add_argument("--results", default="search.jsonl", metavar="FILE", help="what was played")
    options = parser.parse_args()
    torch.set_num_threads(1)
    specs = {(name, worlds): spec for name in SEARCHES for worlds, spec in budgets(name).items()}
    cores, file, deals = options.cores, options.results, options.deals
    duels = duels_with(RIVAL, specs.values(), RULES, deals, SEED, cores=cores, results=file)
    with quiet(anyway=options.anyway):
        taken = times(list(specs.values()))
        rows = [row(*place, taken[spec], duels[spec]) for place, spec in specs.items()]
        publish("search", keep=options.save, rows=rows)
    if options.save:
        draw(rows)
    return 0


if __name__ == "__main__":
    sys.exit(answer("search", main))
