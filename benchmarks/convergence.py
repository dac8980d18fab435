"""Measure which kinds of learning converge on solved games, for docs/understand/convergence.md.

    python -m benchmarks.convergence --save
    python -m benchmarks.convergence --games mini-2 --methods PPO MMD --seeds 1

Every method plays every mini game whose sequence form is built within a minute, with each of its
numbers of players. NashConv is exact, and is noted as the decisions visited double. Curves are kept
in results/convergence.jsonl and are not measured again by the same settings; delete a line there to
repeat it.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import itertools
import json
import tempfile
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.figure import Figure

from agents.learn.selfplay import SelfPlay
from agents.policies.agent import NetworkAgent
from agents.processes import workers
from agents.results import FOLDER, add_save, publish, ranged
from agents.runs.config import make_config
from fiveup_env.arena.plots import STYLE, name_curves, save_svg
from fiveup_env.exact.form import form_of
from fiveup_env.exact.profiles import profile_of
from fiveup_env.exact.regret import CfrPlus
from fiveup_env.exact.sampling import ExternalSampling
from fiveup_env.exact.values import exploitability, nash_conv_of_random
from fiveup_env.files import Appended, atomic_file
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.exact.form import Form

    Curve = list[tuple[int, float]]
    Measured = dict[tuple[str, int], dict[str, list[dict[str, Any]]]]

CURVES: Final = FOLDER / "convergence.jsonl"
PLOT: Final = FOLDER.parent / "docs" / "convergence.svg"

# With three players no tile of mini-2-draw is left to draw, so it is mini-2; the tree of
# mini-3-draw takes minutes and gigabytes for every curve.
GAMES: Final = {"mini-2": (2, 3), "mini-2-draw": (2,), "mini-3": (2, 3, 4)}
DECISIONS: Final = {"mini-2": 100_000, "mini-2-draw": 500_000, "mini-3": 150_000}  # of a learner

# The windows of some 2,000 decisions, four minibatches, four epochs, and the values of the clip
# range and of the coefficients are published: those of PPO and MMD by arXiv 2502.08938 (the
# defaults of its code), those of NashPG by OpenSpiel. Its reference is renewed every 40,000
# decisions. The network, the learning rate and the number of decisions are chosen for such small
# games, and so is the falling entropy.
BASE: Final = {
    "episode": "hand",
    "width": 64,
    "games": 128,
    "n_steps": 32,
    "batch_size": 512,
    "n_epochs": 4,
    "clip_range": 0.1,
    "learning_rate_end": 1e-4,
}
LEARNERS: Final[dict[str, dict[str, Any]]] = {
    "PPO": {"ent_coef": 0.05},
    "PPO, falling entropy": {"ent_coef": 1.0, "ent_coef_end": 2e-3},
    "MMD": {"ent_coef": 0.05, "kl_coef": 0.05, "kl_every": 1},
    "NashPG without reference": {"ent_coef": 0.1, "clip_range": 0.2},
    "NashPG": {"ent_coef": 0.1, "kl_coef": 0.2, "kl_every": 20, "clip_range": 0.2},
}
METHODS: Final = (*LEARNERS, "MCCFR", "CFR+")
DOUBLINGS: Final = 3  # of a learner's decisions, from the first point of its curve to the last
SAMPLED: Final = 10_000_000  # decisions that MCCFR visits
SWEPT: Final = 100_000_000  # decisions that CFR+ visits


class Task(NamedTuple):
    """A curve to be measured."""

    game: str
    players: int
    method: str
    seed: int


def measure(task: Task) -> dict[str, Any]:
    """Return a line of the file of curves: the task, random play's NashConv, and the curve."""
    form = _form(task.game, task.players)
    if task.method == "CFR+":
        curve = cfr_curve(form, SWEPT)
    elif task.method == "MCCFR":
        curve = sampling_curve(form, task.seed, SAMPLED)
    else:
        curve = learner_curve(form, task.seed, DECISIONS[task.game], LEARNERS[task.method])
    about = {**task._asdict(), "settings": settings_of(task)}
    return {**about, "random": nash_conv_of_random(form), "curve": curve}


def settings_of(task: Task) -> str:
    """Return a digest of the numbers above that a curve depends on."""
    settings: list[Any] = [{"CFR+": SWEPT, "MCCFR": SAMPLED}.get(task.method)]
    if task.method in LEARNERS:
        settings = [DECISIONS[task.game], DOUBLINGS, BASE | LEARNERS[task.method]]
    text = json.dumps(settings, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@functools.cache
def _form(game: str, players: int) -> Form:
    return form_of(Rules.preset(game, players))


def learner_curve(form: Form, seed: int, decisions: int, keys: dict[str, Any]) -> Curve:
    """Return the curve of our learner, whose policy samples its actions as in training."""
    torch.set_num_threads(1)
    rules = {"rules": form.rules.name, "players": form.rules.players}
    config = make_config({**rules, "seed": seed, "decisions": decisions, **BASE, **keys})
    curve: Curve = []
    with tempfile.TemporaryDirectory() as folder:
        learner = SelfPlay(config, Path(folder))
        for left in range(DOUBLINGS, -1, -1):
            while learner.decisions < decisions / 2**left:
                learner.update(learner.decisions / decisions)
            profile = profile_of(form, NetworkAgent(learner.network, sample=True))
            curve.append((learner.decisions, exploitability(form, profile).nash_conv))
    return curve


def cfr_curve(form: Form, most: int) -> Curve:
    """Return the curve of CFR+, which visits every decision once per seat in each round."""
    cfr, nodes = CfrPlus(form), form.histories.nodes
    in_a_round = form.rules.players * int((nodes["seat"] >= 0).sum())
    curve: Curve = []
    while cfr.rounds == 0 or cfr.rounds * in_a_round < most:
        cfr.run(max(1, cfr.rounds))
        result = exploitability(form, cfr.average)
        curve.append((cfr.rounds * in_a_round, result.nash_conv))
    return curve


def sampling_curve(form: Form, seed: int, most: int) -> Curve:
    """Return the curve of MCCFR with external sampling."""
    walks, made = ExternalSampling(form, seed), 100
    curve: Curve = []
    while walks.visited < most:
        walks.run(made)
        made *= 2
        curve.append((walks.visited, exploitability(form, walks.average).nash_conv))
    return curve


def read_lines() -> list[dict[str, Any]]:
    """Return what has been measured by the settings of today: a line for every curve."""
    content = CURVES.read_bytes() if CURVES.is_file() else b""
    lines = map(json.loads, content[: content.rfind(b"\n") + 1].splitlines())
    return [line for line in lines if line["settings"] == settings_of(task_in(line))]


def task_in(line: dict[str, Any]) -> Task:
    """Return the task of a line."""
    return Task(*(line[name] for name in Task._fields))


def missing(games: Sequence[str], methods: Sequence[str], seeds: int) -> list[Task]:
    """Return the curves that have not been measured; CFR+ is deterministic, so it has one."""
    known = set(map(task_in, read_lines()))
    wanted = [
        Task(game, players, method, seed)
        for seed in range(seeds)
        for game in games
        for players in GAMES[game]
        for method in methods
        if seed == 0 or method != "CFR+"
    ]
    return [task for task in wanted if task not in known]


def by_game(lines: Sequence[dict[str, Any]]) -> Measured:
    """Return the lines of all seeds, by game and method, in the order of GAMES and METHODS."""
    curves: Measured = defaultdict(dict)
    for game, counts in GAMES.items():
        for players, method in itertools.product(counts, METHODS):
            seeds = [line for line in lines if task_in(line)[:3] == (game, players, method)]
            if seeds:
                curves[game, players][method] = seeds
    return curves


def rows(curves: Measured) -> list[dict[str, Any]]:
    """Return a row for every game: the seeds, and what is left of random play's NashConv."""

    def left(seeds: list[dict[str, Any]]) -> dict[str, Any]:
        return ranged([100 * run["curve"][-1][1] / run["random"] for run in seeds], ".2f", "%")

    return [
        {"game": f"`{game}`", "players": players, "seeds": max(map(len, methods.values()))}
        | {method: left(methods[method]) if method in methods else None for method in METHODS}
        for (game, players), methods in curves.items()
    ]


@rc_context(STYLE | {"font.size": 8})
def draw(curves: Measured) -> None:
    """Draw a panel for every game: the median over seeds, and a band from lowest to highest."""
    across = min(3, len(curves))
    figure = Figure(figsize=(3 * across, 2.6 * -(-len(curves) // across) + 0.6))
    panels = figure.subplots(-(-len(curves) // across), across, sharey=True, squeeze=False).flat
    for axes, ((game, players), methods) in zip(panels, curves.items(), strict=False):
        for method, seeds in methods.items():
            colour = f"C{METHODS.index(method)}"
            steps = np.mean([[at for at, _ in run["curve"]] for run in seeds], axis=0)
            shares = np.array([[left for _, left in run["curve"]] for run in seeds])
            shares /= seeds[0]["random"]
            axes.plot(steps, np.median(shares, 0), colour, label=method)
            axes.fill_between(steps, shares.min(0), shares.max(0), color=colour, alpha=0.2)
        axes.set(xscale="log", yscale="log", ylim=(1e-4, 1.5), title=f"{game}, {players} players")
        axes.minorticks_off()
    for axes in figure.axes[-across:]:
        axes.set_xlabel("decisions visited")
    figure.supylabel("NashConv, as a share of that of random play")
    name_curves(figure)
    with atomic_file(PLOT) as file:
        save_svg(figure, file)


def main() -> None:
    """Measure what is missing, draw and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    add_save(parser)
    options = parser.parse_args()
    try:
        kept = Appended(CURVES)
    except BlockingIOError:
        parser.error(f"{CURVES} is in use by another process: wait for it")
    with closing(kept) as file, workers(options.processes) as pool:
        wanted = missing(options.games, options.methods, options.seeds)
        for line in pool.map(measure, wanted):
            file.append(json.dumps(line).encode() + b"\n")
            print(*task_in(line), *line["curve"][-1], flush=True)
    measured = by_game(read_lines())
    draw(measured)
    publish("convergence", keep=options.save, rows=rows(measured))


if __name__ == "__main__":
    main()
