"""What a comparison shows: its tables, as rows of results, and its plot."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from agents.compare.games import EACH_OTHER
from agents.compare.statistics import difference, mean_of
from agents.compare.ways import differing_keys
from agents.runs.metrics import read_metrics
from fiveup_env.arena.plots import STYLE, name_curves, save_svg
from fiveup_env.files import atomic_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agents.compare.games import Played
    from agents.compare.ways import Way
    from fiveup_env.files import Json


def differing_rows(ways: Sequence[Way]) -> list[Json]:
    """Return a row for every key that the two ways do not share."""
    names = [_code(way.name) for way in ways]
    rows = []
    for key, values in differing_keys(ways).items():
        row: Json = {"key": _code(key)}
        rows.append(row | dict(zip(names, map(str, values), strict=True)))
    return rows


def rows_of(ways: Sequence[Way], games: Played) -> list[Json]:
    """Return a row for the games with each other and with every rival: what each way won."""
    rows = []
    for against, (first, second) in games.items():
        met, most = (
            against == EACH_OTHER,
            float(np.abs([first.margins, second.margins]).max()) or 1.0,
        )
        wins = difference(first.wins, second.wins, (-1, 1), met=met)
        points = difference(first.margins, second.margins, (-2 * most, 2 * most), met=met)
        row: Json = {"against": against if met else _code(against)}
        for k, (way, own) in enumerate(zip(ways, (first, second), strict=True)):
            won = mean_of(own.wins, (0, 1), k if met else None)
            row[f"{_code(way.name)} wins (%)"] = won.cell(".1%")
        row |= {"difference": wins.cell("+.1%"), "in points a hand": points.cell("+.2f")}
        rows.append(row)
    return rows


def runs_of(ways: Sequence[Way], games: Played, seeds: int) -> list[Json]:
    """Return a row for every run: the code that trained it, and the share of its games it won."""
    rows = []
    for (k, way), seed in product(enumerate(ways), range(seeds)):
        code = way.run(seed).about()["code"]
        row: Json = {"way": _code(way.name), "seed": str(seed), "code": code}
        for against, pair in games.items():
            row[against] = {"value": round(float(pair[k].wins[seed].mean()), 4), "format": ".1%"}
        rows.append(row)
    return rows


@rc_context(STYLE)
def draw(ways: Sequence[Way], games: Played, seeds: int, path: Path) -> None:
    """Draw the learning curves of all runs, and what each won in the end, with the means."""
    figure = Figure(figsize=(9, 4))
    curves, ends = figure.subplots(1, 2)
    rival = list(games)[-1]
    for k, (way, marker) in enumerate(zip(ways, "os", strict=True)):
        colour = f"C{k}"
        for seed in range(seeds):
            curve = _curve(read_metrics(way.run(seed).metrics_file), rival)
            curves.plot(*curve, colour, alpha=0.6, label=way.name if seed == 0 else None)
        for place, (against, pair) in enumerate(games.items()):
            won = 100 * pair[k].wins.mean(1)
            mean = mean_of(pair[k].wins, (0, 1), k if against == EACH_OTHER else None)
            across = place + 0.2 * (k - 0.5)
            ends.plot(np.full(seeds, across), won, marker, color=colour, alpha=0.4, markersize=4)
            low, high = 100 * (mean.value - mean.low), 100 * (mean.high - mean.value)
            bars = [[low], [high]]
            ends.errorbar(across + 0.07, 100 * mean.value, bars, color=colour, capsize=3)
    curves.set(xlabel="decisions (millions)", ylim=(0, 100), title="While they learnt")
    curves.set_ylabel(f"games won against {rival} (%)")
    ends.set_xticks(range(len(games)), list(games))
    ends.set(ylabel="games won (%)", title="Afterwards, on duplicate deals")
    name_curves(figure)
    with atomic_file(path) as file:
        save_svg(figure, file)


def _curve(lines: Sequence[Json], rival: str) -> tuple[list[float], list[float]]:
    """Return the decisions after which a run was measured, in millions, and what it won then."""
    measured: list[Any] = [line for line in lines if rival in line.get("panel", {})]
    return (
        [line["decisions"] / 1e6 for line in measured],
        [100 * line["panel"][rival][0][0] for line in measured],
    )


def _code(name: str) -> str:
    return f"`{name}`"
