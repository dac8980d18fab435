"""Draw the learning curves of runs that differ only in their seed: `python -m benchmarks.curves`.

for seed in 0 1 2 3 4; do python train.py selfplay seed=$seed --name seed-$seed; done
python -m benchmarks.curves runs/seed-* --output docs/selfplay.svg
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from agents.learn.runs.metrics import read_metrics
from fiveup_env.files import atomic_file

if TYPE_CHECKING:
    from collections.abc import Sequence

POINTS = 50  # on a curve


def curves(folders: Sequence[Path], rival: str) -> tuple[np.ndarray, np.ndarray]:
    """Return decisions, in millions, that all runs reached, and the win rate (%) there, by run."""
    runs = [
        [line for line in read_metrics(folder / "metrics.jsonl") if "panel" in line]
        for folder in folders
    ]
    at = [np.array([line["decisions"] / 1e6 for line in run]) for run in runs]
    won = [np.array([100 * line["panel"][rival][0] for line in run]) for run in runs]
    shared = np.linspace(max(one[0] for one in at), min(one[-1] for one in at), POINTS)
    return shared, np.array([np.interp(shared, *pair) for pair in zip(at, won, strict=True)])


def main() -> None:
    """Draw the curves, and print where they end."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs")
    parser.add_argument("--rivals", nargs="+", default=["greedy", "defensive"])
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="the SVG file")
    options = parser.parse_args()
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    for rival in options.rivals:
        at, won = curves(options.runs, rival)
        (line,) = axes.plot(at, won.mean(0), label=f"against {rival}")
        axes.fill_between(at, won.min(0), won.max(0), alpha=0.2, color=line.get_color())
        ends = ", ".join(f"{share:.1f}" for share in won[:, -1])
        print(f"win rate (%) against {rival} after {at[-1]:.2f} million decisions: {ends}")
    axes.axhline(50, color="grey", linewidth=0.8)
    axes.set(
        xlabel="decisions learnt from (millions)",
        ylabel=f"win rate (%): mean and range of {len(options.runs)} seeds",
        ylim=(0, 100),
    )
    axes.legend(loc="lower right")
    with atomic_file(options.output) as file:
        figure.savefig(file, format="svg")


if __name__ == "__main__":
    main()
