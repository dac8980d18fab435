"""What all measurements of speed share: rounds, medians with their ranges, and the machine's load.

The sides of a ratio take turns in every round, and a ratio is taken within its round, so that it
holds on a machine whose speed drifts. A machine that is busy with other work is refused, because
work that leaves one side alone does not always leave the other: memory and caches are shared.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agents.results import add_save, machine, ranged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fiveup_env.files import Json

    Figure = tuple[float, str, str]  # its value, how it is written, and its unit
    Round = Mapping[str, tuple[Figure | None, Figure | None]]  # what: how fast, and compared

ROUNDS: Final = 5
MOST_LOAD: Final = 0.1  # cores that other work may keep busy
SECONDS_OF_LOOKING: Final = 5.0
STAT: Final = Path("/proc/stat")
BUSY: Final = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, steal; in a line of STAT


@contextmanager
def quiet(*, anyway: bool, daemons: bool = False) -> Iterator[None]:
    """Measure compiled code on a machine that does nothing else, and print its load at the end.

    Exits with a sentence if other work keeps more than MOST_LOAD cores busy, before or meanwhile.
    With `daemons`, part of what is measured runs outside this process and its children, and so
    only the load before counts.
    """
    looking = _Load()
    time.sleep(SECONDS_OF_LOOKING)
    load = looking.of_others()
    _refuse(load, anyway=anyway)
    meanwhile = _Load()
    yield
    if not daemons:
        load = meanwhile.of_others()
    print(f"\n{machine()}; other work kept {load:.2f} cores busy")
    _refuse(load, anyway=anyway)


class _Load:
    """The load of the machine since this was made."""

    def __init__(self) -> None:
        self._started, self._busy, self._own = time.monotonic(), _busy_seconds(), _own_seconds()

    def of_others(self) -> float:
        """Return how many cores other work has kept busy.

        Where the system does not count that, it is the number of processes that wanted to run in
        the last minute, ours included.
        """
        now = _busy_seconds()
        if now is None or self._busy is None:
            return os.getloadavg()[0]
        others = now - self._busy - (_own_seconds() - self._own)
        return max(0.0, others / (time.monotonic() - self._started))


def _busy_seconds() -> float | None:
    """Return how long all cores of the machine have been busy, taken together."""
    if not STAT.is_file():
        return None
    ticks = STAT.read_text().splitlines()[0].split()[1:]
    return sum(int(ticks[k]) for k in BUSY) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Return how long this process and its children that have ended have kept cores busy."""
    return sum(os.times()[:4])


def _refuse(load: float, *, anyway: bool) -> None:
    if load > MOST_LOAD and not anyway:
        sys.exit(
            f"other work keeps {load:.2f} cores of this machine busy, and figures to publish allow "
            f"{MOST_LOAD}; stop it, or add --anyway"
        )


def speed_options(doc: str | None) -> ArgumentParser:
    """Return a parser with the options of a benchmark of speed."""
    parser = ArgumentParser(description=doc)
    anyway = "measure even if other work keeps the machine busy"
    parser.add_argument("--anyway", action="store_true", help=anyway)
    add_save(parser)
    return parser


def measured(rounds: Sequence[Round]) -> list[Json]:
    """Return a row for all that was measured: how fast it is, and how that compares."""

    def over(figures: Sequence[Figure | None]) -> Json | None:
        values = [figure[0] for figure in figures if figure]
        return ranged(values, *figures[0][1:]) if figures[0] else None

    return [
        {"what": what, "how fast": over(speeds), "compared": over(ratios)}
        for what in next(iter(rounds), {})
        for speeds, ratios in [zip(*(figures[what] for figures in rounds), strict=True)]
    ]
