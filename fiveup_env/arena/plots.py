"""The plots of reports and runs, drawn by matplotlib in one style."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fiveup_env.arena.tables import duration, short_names
from fiveup_env.errors import MissingExtraError

try:
    from cycler import cycler
    from matplotlib import rc_context
    from matplotlib.colors import LinearSegmentedColormap, to_rgba
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtraError(
        "plots need matplotlib: pip install 'fiveup-env[plots]'", error
    ) from None

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from matplotlib.axes import Axes

COLOURS: Final = (
    *("#1f6f8b", "#cf6a32", "#5b8c2a", "#8d4fa3"),
    *("#b8860b", "#c23b5a", "#4a63c4", "#767676"),
)
STYLE: Final[Any] = {
    "axes.edgecolor": "#c8c8c8",
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "fiveup",
}
# On a page whose style sheet decides about the paper and about black text.
INLINE: Final[Any] = STYLE | {
    **{f"{part}.facecolor": "none" for part in ("axes", "figure", "savefig")},
    "font.size": 9,
    "grid.alpha": 0.25,
    "grid.color": "#808080",
}
WIDTH: Final = 8.0  # inches
LONGEST_NAME: Final = 26


class Interval(NamedTuple):
    """The value of an agent; None is an end without a bound."""

    name: str
    value: float
    low: float | None
    high: float | None


def name_curves(figure: Figure) -> None:
    """Name the curves of the first axes below the plots, where they cover nothing."""
    curves = figure.axes[0].get_legend_handles_labels()
    if curves[0]:
        figure.legend(*curves, loc="outside lower center", ncols=3, fontsize="small")


def save_svg(figure: Figure, file: IO[Any]) -> None:
    """Write a figure as SVG; the same figure has the same bytes."""
    figure.savefig(file, format="svg", metadata={"Date": None})


def _inline(figure: Figure) -> str:
    """Return a figure as SVG within a page."""
    file = io.StringIO()
    save_svg(figure, file)
    svg = file.getvalue()
    return re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)


def _rows_of(names: Sequence[str], unit: str) -> tuple[Figure, Axes]:
    """Return axes with a row for each name, the first at the top."""
    figure = Figure(figsize=(WIDTH, 0.8 + 0.3 * len(names)))
    axes, shorts = figure.subplots(), short_names(names, LONGEST_NAME)
    axes.set_yticks(range(len(names)), [shorts[name] for name in names])
    axes.set(xlabel=unit, ylim=(len(names) - 0.5, -0.5))
    axes.grid(axis="y", visible=False)
    return figure, axes


@rc_context(INLINE)
def intervals(rows: Sequence[Interval], unit: str) -> str:
    """Return values with their intervals, one below the other."""
    figure, axes = _rows_of([row.name for row in rows], unit)
    places = range(len(rows))
    axes.plot([row.value for row in rows], places, "o")
    left, right = axes.get_xlim()
    known = [end for row in rows for end in row[1:] if end is not None]
    left, right = min(left, *known), max(right, *known)
    for place, row in zip(places, rows, strict=True):
        low = left if row.low is None else row.low
        axes.plot([low, right if row.high is None else row.high], [place, place], color=COLOURS[0])
    return _inline(figure)


@rc_context(INLINE)
def times(rows: Sequence[tuple[str, float]]) -> str:
    """Return times in microseconds on a logarithmic scale."""
    figure, axes = _rows_of([name for name, _ in rows], "")
    axes.plot([time for _, time in rows], range(len(rows)), "o")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda time, _place: duration(time))
    return _inline(figure)


@rc_context(INLINE)
def heat_map(names: Sequence[str], rates: np.ndarray) -> str:
    """Return a grid of win rates: those of the agents in the rows against those in the columns."""
    rates = np.where(np.eye(len(names)) == 1, np.nan, rates)
    figure, axes = _rows_of([f"{k}  {name}" for k, name in enumerate(names, 1)], "")
    axes.set_xticks(range(len(names)), [str(k) for k in range(1, len(names) + 1)])
    axes.xaxis.tick_top()
    axes.grid(visible=False)
    colours = [to_rgba(COLOURS[1], 0.9), to_rgba("grey", 0.1), to_rgba(COLOURS[0], 0.9)]
    places, colour_map = range(len(names)), LinearSegmentedColormap.from_list("", colours)
    axes.pcolormesh(places, places, rates, cmap=colour_map, vmin=0, vmax=1)
    for i, j in np.argwhere(~np.isnan(rates)).tolist():
        axes.text(j, i, f"{100 * rates[i, j]:.0f}", ha="center", va="center")
    return _inline(figure)


@rc_context(INLINE)
def curves(rows: Sequence[tuple[str, np.ndarray]], across: str, up: str) -> str:
    """Return curves over 1, 2, 3 ...; NaN values are skipped."""
    figure = Figure(figsize=(WIDTH, 4.5))
    axes = figure.subplots()
    shorts = short_names((name for name, _ in rows), LONGEST_NAME)
    for k, (name, values) in enumerate(rows):
        style = "--" if k >= len(COLOURS) else "-"
        axes.plot(range(1, len(values) + 1), values, style, label=shorts[name])
    axes.set(xlabel=across, ylabel=up, ylim=(0, None))
    name_curves(figure)
    return _inline(figure)


@rc_context(INLINE)
def histograms(rows: Sequence[tuple[str, np.ndarray]], values: np.ndarray, unit: str) -> str:
    """Return small histograms side by side, on the same scales; a line marks each mean."""
    shares = [counts / max(1, counts.sum()) for _, counts in rows]
    seen = np.flatnonzero(np.max(shares, axis=0) > 0.001)
    shown = slice(seen[0], seen[-1] + 1)
    lines = -(-len(rows) // 3)
    figure = Figure(figsize=(WIDTH, 0.4 + 1.7 * lines))
    panels = [*figure.subplots(lines, 3, sharex=True, sharey=True, squeeze=False).flat]
    shorts = short_names((name for name, _ in rows), LONGEST_NAME)
    for axes, (name, _), share in zip(panels, rows, shares, strict=False):
        mean = float((share * values).sum())
        axes.bar(values[shown], share[shown], width=0.9 * (values[1] - values[0]))
        axes.axvline(mean, color=COLOURS[1])
        axes.set_title(f"{shorts[name]}: {mean:+.2f}", fontsize="medium")
        axes.set(yticks=[])
    for axes in panels[len(rows) :]:
        axes.remove()
    figure.supxlabel(unit, fontsize="medium")
    return _inline(figure)
