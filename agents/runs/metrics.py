"""Metrics: a line of JSON for every update, the same for TensorBoard, and the learning curve."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from matplotlib import rc_context
from matplotlib.figure import Figure
from torch.utils.tensorboard.writer import SummaryWriter

from fiveup_env.arena.plots import STYLE, name_curves, save_svg
from fiveup_env.files import Appended, atomic_file

if TYPE_CHECKING:
    from pathlib import Path

    from agents.runs.folder import Run

Line = dict[str, Any]
LARGEST: Final = 2**63
NEEDED: Final = ("update", "decisions")  # to go on from a line, and to draw it
DRAWN: Final = ("entropy", "labelled", "student_loss")  # the first that is reported is drawn


class Metrics:
    """The metrics of a run, written as it proceeds."""

    def __init__(self, run: Run, updates: int = 0) -> None:
        """Continue after this many updates; lines written for later updates are dropped."""
        lines = [line for line in read_metrics(run.metrics_file) if line["update"] <= updates]
        with atomic_file(run.metrics_file) as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        self._file = Appended(run.metrics_file)
        self._events = SummaryWriter(str(run.folder), purge_step=updates + 1)

    def write(self, line: Line) -> None:
        """Write the metrics of an update."""
        self._file.append(json.dumps(line).encode() + b"\n")
        for name, value in line.items():
            if name == "panel":
                for rival, (wins, points) in value.items():
                    self._events.add_scalar(f"panel/{rival}", wins[0], line["update"])
                    self._events.add_scalar(f"points/{rival}", points[0], line["update"])
            elif name != "update":
                self._events.add_scalar(f"train/{name}", value, line["update"])

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        self._events.close()


def read_metrics(path: Path) -> list[Line]:
    """Return the lines of a metrics file; damaged ones are left out, such as half a last line."""
    texts = path.read_bytes().splitlines() if path.is_file() else []
    return [line for line in map(_line_of, texts) if line]


def _line_of(text: bytes) -> Line | None:
    """Return the line that a text is, or None if it is damaged."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    whole = isinstance(line, dict) and all(_is_number(line.get(key)) for key in NEEDED)
    return line if whole else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and -LARGEST < value < LARGEST


@rc_context(STYLE)
def draw_curve(run: Run) -> None:
    """Draw the win rates against the panel over the decisions learnt from, and a figure below."""
    lines = read_metrics(run.metrics_file)
    figure = Figure(figsize=(8, 6))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    panels = [line for line in lines if "panel" in line]
    for rival in panels[-1]["panel"] if panels else ():
        # A resumed run may have another panel than before.
        measured = [line for line in panels if rival in line["panel"]]
        at = [line["decisions"] / 1e6 for line in measured]
        rates = [[100 * value for value in line["panel"][rival][0]] for line in measured]
        middle, low, high = zip(*rates, strict=True)
        above.plot(at, middle, marker="o", markersize=3, label=f"against {rival}")
        above.fill_between(at, low, high, alpha=0.2)
    above.axhline(50, color="grey", linewidth=0.8)
    above.set(ylabel="win rate (%)", ylim=(0, 100), title="The policy against the panel")
    reported = [name for name in DRAWN if any(_is_number(line.get(name)) for line in lines)]
    for name in reported[:1]:
        reported_lines = [line for line in lines if _is_number(line.get(name))]
        below.plot(
            [line["decisions"] / 1e6 for line in reported_lines],
            [line[name] for line in reported_lines],
        )
        below.set(ylabel=name.replace("_", " "), ylim=(0, None))
    below.set(xlabel="decisions learnt from (millions)")
    name_curves(figure)
    with atomic_file(run.curve_file) as file:
        save_svg(figure, file)
