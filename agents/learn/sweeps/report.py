"""The table and the plot of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from agents.learn.sweeps.spec import BANK, PANEL, Choices
from fiveup_env.arena.tables import percent, regret_text
from fiveup_env.files import atomic_file

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.sweeps.spec import Sweep


@dataclass(frozen=True)
class Trial:
    """A trial that has ended."""

    run: str
    chosen: dict[str, Any]
    result: list[float] | None  # the metric with its interval; None if the run failed
    failure: str | None
    decisions: int
    minutes: float
    code: str


def ranked(sweep: Sweep, trials: list[Trial]) -> list[tuple[Trial, list[float]]]:
    """Return the trials that did not fail with their results, the best first."""
    good = [(trial, trial.result) for trial in trials if trial.result]
    return sorted(good, key=lambda one: one[1][0], reverse=not sweep.lower_is_better)


def table_of(sweep: Sweep, trials: list[Trial]) -> str:
    """Return the trials as a table in Markdown, the best first and those that failed last."""
    head = ("run", _name_of(sweep.metric), *sweep.search, "decisions", "minutes")
    rows = [(trial, result_of(sweep, trial)) for trial, _ in ranked(sweep, trials)]
    rows += [(trial, str(trial.failure)) for trial in trials if not trial.result]
    lines = [
        (trial.run, result, *map(_shown, trial.chosen.values()), *_size_of(trial))
        for trial, result in rows
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in [head, ["---"] * len(head), *lines])


def result_of(sweep: Sweep, trial: Trial) -> str:
    """Return what a trial that did not fail measured, with its interval."""
    assert trial.result
    text = regret_text if sweep.metric == BANK else percent
    return text(trial.result[0], trial.result[1:])


def draw(sweep: Sweep, trials: list[Trial], path: Path) -> None:
    """Draw the metric over every key that was searched."""
    good = ranked(sweep, trials)
    figure = Figure(figsize=(4 * len(sweep.search), 4), layout="constrained")
    for axes, (name, space) in zip(
        figure.subplots(1, len(sweep.search), sharey=True, squeeze=False)[0],
        sweep.search.items(),
        strict=True,
    ):
        axes.set(xlabel=name)
        if isinstance(space, Choices):
            axes.set_xticks(range(len(space.values)), [_shown(value) for value in space.values])
        elif space.log:
            axes.set_xscale("log")
        for place, (trial, (middle, low, high)) in enumerate(good):
            value = trial.chosen[name]
            axes.errorbar(
                space.values.index(value) if isinstance(space, Choices) else value,
                100 * middle,
                [[100 * (middle - low)], [100 * (high - middle)]],
                fmt="o",
                color="grey" if place else "tab:red",  # the best stands out
            )
    figure.axes[0].set(ylabel=_name_of(sweep.metric))
    with atomic_file(path) as file:
        figure.savefig(file, format="svg")


def _name_of(metric: str) -> str:
    """Return what a metric is called in a table."""
    if metric == BANK:
        return "regret on the bank (%)"
    return f"win rate (%) against {metric.removeprefix(PANEL)}"


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _size_of(trial: Trial) -> tuple[str, str]:
    return f"{trial.decisions:,}", f"{trial.minutes:.1f}"
