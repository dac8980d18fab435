"""Plots as inline SVG, whose colours are classes that the page's style sheet defines."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.arena.statistics import with_bounds
from fiveup_env.arena.tables import short_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH = 760
LABELS = 190  # the width of the names on the left
ROW = 30
COLOURS = 8  # the classes c0, c1 ... of the style sheet
LONGEST_NAME = 26


class Whisker(NamedTuple):
    """The value of an agent, with its interval; None is an end without a bound."""

    name: str
    value: float
    low: float | None
    high: float | None


class Axis(NamedTuple):
    """A range of values, and the range of coordinates that shows it."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        part = (value - self.low) / ((self.high - self.low) or 1)
        return round(self.start + part * (self.end - self.start), 1)

    def ticks(self, about: int = 6) -> list[float]:
        """Return about this many round values within the range."""
        raw = (self.high - self.low) / about or 1
        size = 10 ** math.floor(math.log10(raw))
        step = next(step * size for step in (1, 2, 5, 10) if step * size >= raw)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [round(k * step, 10) for k in range(first, last + 1)]


def heat_map(names: Sequence[str], rates: np.ndarray) -> str:
    """Return a grid of win rates: those of the agents in the rows against those in the columns."""
    size, top = min(72, (WIDTH - LABELS) // len(names)), 34
    parts = []
    shorts = short_names(names, LONGEST_NAME)
    for i, name in enumerate(names):
        y = top + i * size * 0.62
        short = f"{i + 1}  {shorts[name]}"
        parts.append(_name(name, short, LABELS - 12, y + size * 0.31 + 4))
        parts.append(_text(LABELS + (i + 0.5) * size, top - 10, str(i + 1), "middle", "faint"))
        for j, rate in enumerate(rates[i].tolist()):
            x = LABELS + j * size
            parts.append(_cell(x, y, size, rate, f"{name} against {names[j]}", own=i == j))
    return _svg(top + len(names) * size * 0.62 + 6, parts, "Win rates of all pairs")


def _cell(x: float, y: float, size: float, rate: float, title: str, *, own: bool) -> str:
    if own or math.isnan(rate):
        return _rect(x + 1, y + 1, size - 2, size * 0.62 - 2, "void")
    kind, strength = ("good" if rate >= 0.5 else "bad"), 0.08 + 0.72 * min(1, 2 * abs(rate - 0.5))
    inside = f"<title>{escape(title)}: {100 * rate:.1f} %</title>"
    return _rect(
        x + 1, y + 1, size - 2, size * 0.62 - 2, kind, f' fill-opacity="{strength:.2f}"', inside
    ) + _text(x + size / 2, y + size * 0.31 + 4, f"{100 * rate:.0f}", "middle")


def whiskers(rows: Sequence[Whisker], unit: str) -> str:
    """Return values with their intervals, one below the other."""
    known = [end for row in rows for end in row[1:] if end is not None]
    low, high = min(known), max(known)
    margin = 0.04 * (high - low) or 1
    axis = Axis(low - margin, high + margin, LABELS, WIDTH - 20)
    bottom = len(rows) * ROW + 10
    parts = _grid(axis, bottom, unit)
    shorts = short_names((row.name for row in rows), LONGEST_NAME)
    for k, row in enumerate(rows):
        y = k * ROW + 22
        title = f"{row.name}: {with_bounds(row.value, (row.low, row.high), '+.0f')}"
        left = axis.start if row.low is None else axis.at(row.low)
        right = axis.end if row.high is None else axis.at(row.high)
        parts += [
            _name(row.name, shorts[row.name], LABELS - 12, y + 4),
            _line(left, y, right, y, "whisker"),
            (
                f'<circle class="dot" cx="{axis.at(row.value)}" cy="{y}" r="5">'
                f"<title>{escape(title)}</title></circle>"
            ),
        ]
    return _svg(bottom + 34, parts, unit)


def dots(rows: Sequence[tuple[str, float]], unit: str, label: Callable[[float], str]) -> str:
    """Return values of very different size as dots on a logarithmic scale."""
    logs = [math.log10(value) for _, value in rows]
    axis = Axis(math.floor(min(logs)), math.floor(max(logs)) + 1, LABELS, WIDTH - 40)
    bottom = len(rows) * ROW + 10
    parts = []
    for power in range(int(axis.low), int(axis.high) + 1):
        x = axis.at(power)
        parts += [_line(x, 4, x, bottom, "grid")]
        parts += [_text(x, bottom + 18, label(10.0**power), "middle", "faint")]
    shorts = short_names((name for name, _ in rows), LONGEST_NAME)
    for k, ((name, value), log) in enumerate(zip(rows, logs, strict=True)):
        y = k * ROW + 22
        parts += [
            _name(name, shorts[name], LABELS - 12, y + 4),
            _line(LABELS, y, axis.at(log), y, "stem"),
            (
                f'<circle class="dot" cx="{axis.at(log)}" cy="{y}" r="5">'
                f"<title>{escape(name)}: {label(value)}</title></circle>"
            ),
        ]
    return _svg(bottom + 28, parts, unit)


def lines(curves: Sequence[tuple[str, np.ndarray]], across: str, up: str) -> str:
    """Return curves over 1, 2, 3 ...; NaN values are skipped."""
    longest = max(len(values) for _, values in curves)
    known = np.concatenate([values for _, values in curves])
    height, legend = 300, 20 * ((len(curves) + 2) // 3)
    flat = Axis(1, max(2, longest), 46, WIDTH - 16)
    steep = Axis(min(0, float(np.nanmin(known))), float(np.nanmax(known)) * 1.05, height, 12)
    parts = []
    for tick in steep.ticks():
        parts += [_line(flat.start, steep.at(tick), flat.end, steep.at(tick), "grid")]
        parts += [_text(flat.start - 8, steep.at(tick) + 4, f"{tick:g}", "end", "faint")]
    for k in range(1, longest + 1, 2 if longest > 14 else 1):
        parts.append(_text(flat.at(k), height + 18, str(k), "middle", "faint"))
    caption = f"across: {across}; up: {up}"
    parts.append(_text((flat.start + flat.end) / 2, height + 38, caption, "middle"))
    shorts = short_names((name for name, _ in curves), LONGEST_NAME)
    for k, (name, values) in enumerate(curves):
        colour = f"line c{k % COLOURS}{' dashed' if k >= COLOURS else ''}"
        known_at = np.flatnonzero(~np.isnan(values))
        way = " ".join(f"{flat.at(i + 1)},{steep.at(float(values[i]))}" for i in known_at.tolist())
        parts += _curve(name, shorts[name], k, colour, way, height)
    return _svg(height + 50 + legend, parts, across)


def _curve(name: str, short: str, k: int, colour: str, way: str, height: float) -> list[str]:
    """Return the k-th curve through some points, and its name below the plot."""
    x, y = 46 + k % 3 * 236, height + 62 + k // 3 * 20
    return [
        f'<polyline class="{colour}" points="{way}"><title>{escape(name)}</title></polyline>',
        _line(x, y - 4, x + 22, y - 4, colour),
        _text(x + 28, y, short, "start"),
    ]


def histograms(rows: Sequence[tuple[str, np.ndarray]], values: np.ndarray, unit: str) -> str:
    """Return small histograms side by side, on the same scales; a line marks each mean."""
    shares = [(name, counts / max(1, counts.sum())) for name, counts in rows]
    seen = np.flatnonzero(np.max([share for _, share in shares], axis=0) > 0.001)
    shown = slice(seen[0], seen[-1] + 1)
    most = max(float(share.max()) for _, share in shares)
    across, height, wide = 3, 130, WIDTH / 3
    shorts = short_names((name for name, _ in rows), LONGEST_NAME)
    parts = []
    for k, (name, share) in enumerate(shares):
        left, top = k % across * wide, k // across * (height + 50)
        flat = Axis(
            float(values[shown][0]) - 0.5,
            float(values[shown][-1]) + 0.5,
            left + 14,
            left + wide - 14,
        )
        steep = Axis(0, most, top + height, top + 26)
        mean = float((share * values).sum())
        parts.append(
            f'<text class="strong" x="{left + 14:.0f}" y="{top + 16}">'
            f"{escape(shorts[name])}<title>{escape(name)}</title></text>"
        )
        bar = flat.at(1) - flat.at(0)
        for value, part in zip(values[shown].tolist(), share[shown].tolist(), strict=True):
            y = steep.at(part)
            parts.append(
                _rect(flat.at(value - 0.5) + 0.5, y, max(0.8, bar - 1), steep.start - y, "bar")
            )
        parts += [_line(flat.start, steep.start, flat.end, steep.start, "grid")]
        parts += [_line(flat.at(mean), top + 24, flat.at(mean), steep.start, "mean")]
        parts += [_text(flat.at(mean) + 5, top + 34, f"{mean:+.2f}", "start", "faint")]
        for tick in flat.ticks(5):
            parts.append(_text(flat.at(tick), steep.start + 16, f"{tick:g}", "middle", "faint"))
    return _svg(math.ceil(len(rows) / across) * (height + 50), parts, unit)


def _grid(axis: Axis, bottom: float, unit: str) -> list[str]:
    """Return vertical grid lines with their values below them."""
    parts = []
    for tick in axis.ticks():
        x = axis.at(tick)
        parts += [_line(x, 4, x, bottom, "zero" if tick == 0 else "grid")]
        parts += [_text(x, bottom + 18, f"{tick:g}", "middle", "faint")]
    return [*parts, _text(LABELS - 12, bottom + 18, unit, "end", "faint")]


def _svg(height: float, parts: Sequence[str], title: str) -> str:
    inside = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">\n'
        f"{inside}\n</svg>"
    )


def _name(name: str, short: str, x: float, y: float) -> str:
    """Return a shortened name that ends at a point; pointing at it shows all of it."""
    text = f"{escape(short)}<title>{escape(name)}</title>"
    return f'<text x="{x}" y="{y:.1f}" text-anchor="end">{text}</text>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def _rect(
    x: float, y: float, wide: float, high: float, kind: str, more: str = "", inside: str = ""
) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'rx="2"{more}>{inside}</rect>'
    )
