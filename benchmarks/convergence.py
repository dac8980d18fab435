"""Measure how fast learners converge on solved games, for docs/understand/convergence.md.

    python -m benchmarks.convergence mini-2 --decisions 400000

This plots NashConv, as a share of that of random play, against the decisions visited for every
method: our learner, plain and with options that may help it, MCCFR, CFR+, and OpenSpiel's NFSP if
`--methods` names it. Agents that never saw the game are drawn as lines across. Measurements are
kept in a file beside the plot and are not repeated; delete a line there to measure it again.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from matplotlib import rc_context
from matplotlib.figure import Figure

from agents.learn.selfplay import SelfPlay
from agents.policies.agent import NetworkAgent
from agents.runs.config import make_config
from agents.runs.plots import STYLE, name_curves, save_svg
from benchmarks.results import add_save, named, publish
from fiveup_env.exact.form import form_of
from fiveup_env.exact.profiles import profile_of
from fiveup_env.exact.regret import CfrPlus
from fiveup_env.exact.sampling import ExternalSampling
from fiveup_env.exact.solutions import value_range
from fiveup_env.exact.values import exploitability, nash_conv_of_random
from fiveup_env.files import atomic_file
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.fields import Rules
from fiveup_env.rules.presets import MINIS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.exact.form import Form

DOCS: Final = Path(__file__).parents[1] / "docs"
POINTS: Final = 12  # on a curve
TIMES: Final = {"mini-2": 100, "mini-2-draw": 20}  # how often agents are asked; elsewhere FEW
FEW: Final = 4

# One network and one schedule for all minis.
BASE: Final = {
    "players": 2,
    "episode": "hand",
    "threads": 1,
    "width": 64,
    "games": 256,
    "n_steps": 32,
    "batch_size": 512,
    "n_epochs": 4,
    "learning_rate_end": 1e-4,
    "ent_coef": 1.0,
    "ent_coef_end": 2e-3,
}
LEARNERS: Final[dict[str, dict[str, Any]]] = {
    "learner": {},
    "learner, ent_coef=0.2": {"ent_coef": 0.2},
    "learner, ent_coef=0.03": {"ent_coef": 0.03},
    "learner, kl_coef": {"kl_coef": 0.1, "kl_every": 20},
    "learner, oracle": {"oracle": True},
}

COLUMNS: Final = ("NashConv", "of the range", "of random play's")
LEAST: Final = 1e-4  # of NashConv that is printed
LEAST_SHARE: Final = 1e-3  # in percent

# Agents that never saw the game, to compare with.
UNTRAINED: Final = ("greedy", "partner", "pimc:aim=hand,worlds=20")

ONCE: Final = ("CFR+", "NFSP")  # with one seed: CFR+ is deterministic, and NFSP is slow
METHODS: Final = (*LEARNERS, "MCCFR", *ONCE)

Curve = list[tuple[int, float]]


def learner_curve(form: Form, seed: int, decisions: int, keys: dict[str, Any]) -> Curve:
    """Return the curve of our learner, whose policy samples its actions as in training."""
    config = make_config(
        {"rules": form.rules.name, "seed": seed, "decisions": decisions, **BASE, **keys}
    )
    curve: Curve = []
    with tempfile.TemporaryDirectory() as folder:
        learner = SelfPlay(config, Path(folder))
        for mark in np.geomspace(decisions / 100, decisions, POINTS):
            while learner.decisions < mark:
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
        found = exploitability(form, cfr.average)
        curve.append((cfr.rounds * in_a_round, found.nash_conv))
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


def nfsp_curve(form: Form, seed: int, decisions: int) -> Curve:
    """Return the curve of the average policy of OpenSpiel's NFSP."""
    from benchmarks.nfsp import train

    curve: Curve = []
    marks = list(np.geomspace(decisions / 100, decisions, POINTS))
    for made, agent in train(form.rules.name or "", seed, decisions):
        if made >= marks[0]:
            marks.pop(0)
            curve.append((made, exploitability(form, profile_of(form, agent)).nash_conv))
    return curve


def untrained(form: Form) -> Iterator[dict[str, Any]]:
    """Measure the untrained agents that are missing, and yield a line for each."""
    known = {one["agent"] for one in read_lines(form, "agent")}
    times = TIMES.get(form.rules.name or "", FEW)
    for spec in UNTRAINED:
        if spec not in known:
            profile = profile_of(form, make_agent(spec), times)
            nash_conv = exploitability(form, profile).nash_conv
            yield {"agent": spec, "times": times, "nash_conv": nash_conv}


def measured(form: Form, options: argparse.Namespace) -> Iterator[tuple[str, int, Curve]]:
    """Measure the curves that are missing, and yield the method, seed and curve of each."""
    known = {(one["method"], one["seed"]) for one in read_lines(form, "method")}
    for method in options.methods:
        for seed in range(1 if method in ONCE else options.seeds):
            if (method, seed) not in known:
                yield method, seed, measure(form, method, seed, options)


def measure(form: Form, method: str, seed: int, options: argparse.Namespace) -> Curve:
    """Return the curve of a method."""
    if method == "CFR+":
        return cfr_curve(form, options.visits)
    if method == "MCCFR":
        return sampling_curve(form, seed, options.visits)
    if method == "NFSP":
        return nfsp_curve(form, seed, options.decisions)
    return learner_curve(form, seed, options.decisions, LEARNERS[method])


def curves_file(form: Form) -> Path:
    """Return the file that keeps what was measured in a game: a curve or an agent per line."""
    return DOCS / f"convergence-{form.rules.name}.jsonl"


def read_lines(form: Form, kind: str) -> list[dict[str, Any]]:
    """Return what was measured in a game: the lines that have `kind`, a method or an agent."""
    path = curves_file(form)
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return [line for line in map(json.loads, lines) if kind in line]


def write_line(form: Form, line: dict[str, Any]) -> None:
    """Add a measurement to the file of a game."""
    with curves_file(form).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


@rc_context(STYLE)
def draw(form: Form) -> None:
    """Draw all curves of a game: the mean over seeds, and a band from the lowest to the highest."""
    figure = Figure(figsize=(8, 6))
    axes, random = figure.subplots(), nash_conv_of_random(form)
    for k, (method, curves) in enumerate(by_method(form).items()):
        steps = np.mean([[at for at, _ in curve] for curve in curves], axis=0)
        found = np.array([[value for _, value in curve] for curve in curves]) / random
        axes.plot(steps, found.mean(0), f"C{k}", marker="o", markersize=3, label=method)
        axes.fill_between(steps, found.min(0), found.max(0), color=f"C{k}", alpha=0.2)
    for one, style in zip(read_lines(form, "agent"), ("dotted", "dashed", "dashdot"), strict=True):
        label = f"{one['agent']}, untrained"
        share = one["nash_conv"] / random
        axes.axhline(share, color="black", linewidth=0.8, linestyle=style, label=label)
    axes.set(
        xscale="log",
        yscale="log",
        ylim=(1e-5, 1.2),
        xlabel="decisions visited",
        ylabel="NashConv, as a share of that of random play",
        title=f"How far from an equilibrium of {form.rules.name}",
    )
    name_curves(figure)
    with atomic_file(curves_file(form).with_suffix(".svg")) as file:
        save_svg(figure, file)


def by_method(form: Form) -> dict[str, list[Curve]]:
    """Return the curves of all seeds, by method."""
    methods: dict[str, list[Curve]] = defaultdict(list)
    for one in read_lines(form, "method"):
        methods[one["method"]].append(one["curve"])
    return {method: methods[method] for method in METHODS if method in methods}


def show(form: Form, *, keep: bool) -> None:
    """Print where every method and the untrained agents ended."""
    span, random = value_range(form), nash_conv_of_random(form)
    rows: list[tuple[str, ...]] = [(f"`{form.rules.name}`", "seeds", "decisions", *COLUMNS)]
    for method, curves in by_method(form).items():
        name = re.sub(r", (.*)", r", `\1`", method)
        last = np.array([curve[-1] for curve in curves])
        visited = f"{last[:, 0].mean():,.0f}"
        rows.append((name, str(len(curves)), visited, *cells(last[:, 1], span, random)))
    known = {one["agent"]: one["nash_conv"] for one in read_lines(form, "agent")}
    for agent, nash_conv in ({"random": random} | known).items():
        rows.append((f"`{agent}`, untrained", "", "", *cells(np.array([nash_conv]), span, random)))
    publish(f"convergence-{form.rules.name}", keep=keep, rows=named(rows))


def cells(nash_convs: np.ndarray, span: float, random: float) -> list[str]:
    """Return the mean NashConv of some seeds, and its shares, the latter with their ranges."""
    found = [digits(nash_convs.mean(), 3, LEAST)]
    for whole in (span, random):
        shares = 100 * nash_convs / whole
        text = f"{digits(shares.mean(), 2, LEAST_SHARE)} %"
        if len(shares) > 1:
            text += f" ({digits(shares.min(), 2)} .. {digits(shares.max(), 2)})"
        found.append(text)
    return found


def digits(number: float, count: int, least: float = 0.0) -> str:
    """Return a number with `count` significant digits, or what it is below."""
    if number < least:
        return f"below {np.format_float_positional(least)}"
    return f"{number:.0f}" if number >= 100 else f"{number:#.{count}g}".rstrip(".")


def main() -> None:
    """Measure what is missing, draw and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mini", choices=MINIS)
    parser.add_argument(
        "--decisions", type=int, default=400_000, help="decisions that each learner plays"
    )
    parser.add_argument(
        "--visits", type=int, default=10_000_000, help="decisions that CFR+ and MCCFR visit"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS[:-1])
    add_save(parser)
    options = parser.parse_args()
    torch.set_num_threads(1)
    form = form_of(Rules.preset(options.mini, 2))
    for line in untrained(form):
        write_line(form, line)
    for method, seed, curve in measured(form, options):
        write_line(form, {"method": method, "seed": seed, "curve": curve})
        print(
            f"{method}, seed {seed}: NashConv {curve[-1][1]:.4f} after {curve[-1][0]:,} decisions",
            flush=True,
        )
    draw(form)
    show(form, keep=options.save)


if __name__ == "__main__":
    main()
