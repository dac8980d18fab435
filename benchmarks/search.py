"""Measure the strength of searches against their time: `python -m benchmarks.search`.

python -m benchmarks.search --results search.jsonl --output docs/search.svg

Every search of `SEARCHES` plays at each of its budgets against one fixed agent, on duplicate deals.
Budgets are worlds, so that results do not depend on the machine; only the time does. The results
file keeps what was played: the same command continues after an interruption, and with more
`--deals` (best a multiple of 50) it adds to it. The time is measured anew each time, on one core,
over decisions with a choice of greedy games: all together, as in the arena, where a network is
faster, and one at a time, as at a table. `--deals 0` measures nothing else.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

import agents as laboratory  # noqa: F401 - registers its agents
from benchmarks.results import add_save, named, publish
from benchmarks.timing import ROUNDS, add_anyway, quiet, spread
from fiveup_env import Batch, Rules
from fiveup_env.arena.charts import Point, trade_off
from fiveup_env.arena.duels import duel_of
from fiveup_env.arena.games import Terms
from fiveup_env.arena.tables import percent, points
from fiveup_env.arena.tournament import Outcome, Tournament, play_tournament
from fiveup_env.errors import FiveUpError
from fiveup_env.files import atomic_file
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

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
SEED: Final = 3_100_000_000
CHUNK: Final = 50  # deals of one task
GAMES: Final = 4
POSITIONS: Final = 200  # decisions that are timed
WAYS: Final = ("together", "alone")


def budgets(name: str) -> dict[int, str]:
    """Return the specs of a search, by the number of worlds."""
    spec, worlds, most = SEARCHES[name]
    found = {} if worlds else {0: spec}
    while 0 < worlds <= most:
        found[worlds] = f"{spec}{',' if ':' in spec else ':'}worlds={worlds}"
        worlds *= 4
    return found


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
    """Return the milliseconds per decision, given `size` at a time."""
    rng, started = np.random.default_rng(1), time.perf_counter()
    for k in range(0, len(views), size):
        agent(views[k : k + size], rng)
    return 1000 * (time.perf_counter() - started) / len(views)


def strengths(outcome: Outcome) -> dict[str, tuple[Point, Point]]:
    """Return win rate and points a hand of every agent that has played; `across` is deals."""
    tournament, found = outcome.tournament, {}
    for meeting in tournament.meetings:
        if chunks := outcome.chunks_of(meeting):
            played = duel_of(chunks, tournament.terms.rules)
            spec, against = meeting
            if spec == tournament.against:
                spec, played = against, played.turned
            found[spec] = (
                Point(len(played.wins), played.wins.mean(), *played.win_interval()),
                Point(len(played.wins), played.margins.mean(), *played.margin_interval()),
            )
    return found


def report(
    taken: dict[str, dict[str, list[float]]], won: dict[str, tuple[Point, Point]]
) -> list[Sequence[str]]:
    """Return the table of all searches."""
    rows: list[Sequence[str]] = [
        ("search", "worlds", "ms together", "ms alone", "deals", "win rate (%)", "points a hand")
    ]
    for name in SEARCHES:
        for worlds, spec in budgets(name).items():
            row = [name, str(worlds), *(spread(each, ".3f") for each in taken[spec].values())]
            if spec in won:
                wins, margins = won[spec]
                row += [
                    f"{wins.across:.0f}",
                    percent(wins.value, wins[2:]),
                    points(margins.value, margins[2:]),
                ]
            rows.append([*row, *[""] * (len(rows[0]) - len(row))])
    return rows


def plot(taken: dict[str, float], won: dict[str, tuple[Point, Point]], against: str) -> str:
    """Return the plot as an SVG file of its own, in the colours of the arena's report."""
    curves = [
        (
            name,
            [
                Point(taken[spec], *(100 * share for share in won[spec][0][1:]))
                for spec in budgets(name).values()
            ],
        )
        for name in SEARCHES
    ]
    chart = trade_off(curves, "milliseconds a decision", f"win rate (%) against {against}")
    page = files("fiveup_env.arena").joinpath("page.html").read_text("utf-8")
    style = re.search("<style>.*?</style>", page, re.DOTALL)
    paper = '<rect width="100%" height="100%" fill="var(--paper)"/>'
    opening, rest = chart.split("\n", 1)
    opening = opening.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    return "\n".join((opening, style[0] if style else "", paper, rest, ""))


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is missing, measure the times, print the table and draw the plot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--deals", type=int, default=400, help=f"deals for every budget, best a multiple of {CHUNK}"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="first deal")
    parser.add_argument("--against", default="policy:partners", help="the agent they all play")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("search.jsonl"), metavar="FILE")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the SVG file")
    parser.add_argument(
        "--time", choices=("together", "alone"), default="together", help="the plot's times"
    )
    add_anyway(parser)
    add_save(parser)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    specs = [spec for name in SEARCHES for spec in budgets(name).values()]
    won: dict[str, tuple[Point, Point]] = {}
    try:
        if options.deals:
            terms = Terms(Rules.preset(players=4))
            agents, against = (*specs, options.against), options.against
            tournament = Tournament(agents, terms, options.deals, options.seed, against, CHUNK)
            won = strengths(play_tournament(tournament, options.cores, options.results))
    except FiveUpError as error:
        print(f"benchmarks.search: {error}", file=sys.stderr)
        return 2
    with quiet(anyway=options.anyway):
        taken = times(specs)
        publish("search", keep=options.save, rows=named(report(taken, won)))
    if options.output and won:
        with atomic_file(options.output) as file:
            across = {spec: statistics.median(each[options.time]) for spec, each in taken.items()}
            file.write(plot(across, won, options.against))
    return 0


if __name__ == "__main__":
    sys.exit(main())
