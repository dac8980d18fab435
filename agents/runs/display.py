"""The display of a run in progress: a live panel on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from itertools import starmap
from typing import TYPE_CHECKING, Final

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fiveup_env.arena.tables import percent, points

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from agents.runs.metrics import Line
    from agents.runs.panel import Result

SECONDS_BETWEEN_LINES: Final = 10.0
# Of these, what the learner reports is shown: the first ones also where there is no terminal.
FIGURES: Final = ("entropy", "explained_variance", "kl", "student_loss", "accepted", "labelled")
MORE_FIGURES: Final = ("clip_fraction", "policy_loss", "gate", "value_loss")


class Display:
    """The progress of a run and its latest figures."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._live = Live(console=self.console, auto_refresh=False)
        self._panel: dict[str, Result] = {}
        self._shown = 0.0

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def say(self, sentence: str) -> None:
        """Print a sentence that stays on the screen."""
        self.console.print(sentence, soft_wrap=True)

    def show(self, line: Line, progress: float) -> None:
        """Show the metrics of an update; `progress` is the share of the run that is done."""
        self._panel = line.get("panel", self._panel)
        left = line["seconds"] * max(0.0, 1 - progress) / max(progress, 1e-9)
        if self.console.is_terminal:
            self._live.update(self._picture(line, progress, left), refresh=True)
            return
        now = time.monotonic()
        if "panel" in line or now - self._shown > SECONDS_BETWEEN_LINES:
            self._shown = now
            self.say(
                f"{100 * progress:3.0f} %  {clock(left)} left  update {line['update']}  "
                f"{line['decisions_per_second']:,.0f} decisions/s  "
                + "  ".join(
                    [
                        *(f"{_words(name)} {line[name]:.4g}" for name in FIGURES if name in line),
                        *starmap(against, line.get("panel", {}).items()),
                    ]
                )
            )

    def _picture(self, line: Line, progress: float, left: float) -> Group:
        table = Table.grid(padding=(0, 2))
        table.add_row("time left", clock(left))
        table.add_row("update", f"{line['update']:,}")
        table.add_row("decisions", f"{line['decisions']:,}")
        table.add_row("decisions/s", f"{line['decisions_per_second']:,.0f}")
        for name in (*FIGURES, *MORE_FIGURES):
            if name in line:
                table.add_row(_words(name), f"{line[name]:.4g}")
        results = map(Text, starmap(against, self._panel.items()))
        return Group(ProgressBar(total=1, completed=min(1.0, progress), width=60), table, *results)


def _words(name: str) -> str:
    return name.replace("_", " ")


def clock(seconds: float) -> str:
    """Return a duration as text, `h:mm:ss` or `m:ss`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def against(rival: str, result: Result) -> str:
    """Return a result against a rival, with its intervals, as text."""
    (rate, *rates), (margin, *margins) = result
    return f"against {rival} {percent(rate, rates)} %, {points(margin, margins)} points a hand"
