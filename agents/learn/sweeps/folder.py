"""What is kept of a sweep: its folder in `runs/`, and the folders of its trials.

    runs/NAME/            sweep.json (the sweep and its results), table.md, plot.svg
    runs/NAME-000/ ...    the runs

All that a sweep needs to go on is the list of its results, and the runs that were interrupted.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from agents.learn.runs import folder as runs
from agents.learn.runs.folder import Run, RunError, command
from agents.learn.sweeps.report import Trial
from agents.learn.sweeps.spec import FIELDS, possible
from fiveup_env.checks import finite, whole
from fiveup_env.errors import shown
from fiveup_env.files import atomic_file, clear_drafts, file_path

if TYPE_CHECKING:
    from agents.learn.sweeps.spec import Sweep

FORMAT: Final = "fiveup-sweep"
VERSION: Final = 1


class SweepFolder:
    """What is kept of a sweep."""

    def __init__(self, name: str) -> None:
        if not name or file_path(name).name != name:
            raise RunError(f"the name of a sweep must be a plain folder name, not {name!r}")
        self.name, self.folder = name, runs.RUNS / name
        self.file = self.folder / "sweep.json"
        self.table = self.folder / "table.md"
        self.plot = self.folder / "plot.svg"

    def run(self, number: int) -> Run:
        """Return the run of a trial."""
        return Run(runs.RUNS / f"{self.name}-{number:03}")

    def begin(self, sweep: Sweep) -> None:
        """Make the folder, unless it is there already, with this sweep."""
        if self.file.is_file():
            return
        clear_drafts(self.folder, self.file.name)
        with suppress(OSError):
            self.folder.rmdir()  # if it is empty: its beginning was killed
        for taken in (self.folder, self.run(0).folder):
            if taken.exists():
                raise RunError(f"{taken} is taken: choose another --name for the sweep")
        self.folder.mkdir(parents=True)
        self.keep(sweep, [])

    def keep(self, sweep: Sweep, trials: list[Trial]) -> None:
        """Write the trials that have ended."""
        about = {
            "format": FORMAT,
            "version": VERSION,
            "command": command(),
            "sweep": sweep.written,
            "trials": [asdict(trial) for trial in trials],
        }
        with atomic_file(self.file) as file:
            json.dump(about, file, indent=1)
            file.write("\n")

    def trials(self, sweep: Sweep) -> list[Trial]:
        """Return the trials that have ended; refuse those of another sweep.

        Trials may be added to a sweep, but anything else would make it another one.
        """
        try:
            about = json.loads(self.file.read_bytes())
            known = (about["format"], about["version"]) == (FORMAT, VERSION)
            before, trials = dict(about["sweep"]), [_read(trial) for trial in about["trials"]]
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            known, before, trials = False, {}, []
        if not known:
            raise RunError(
                f"{self.file} is damaged or of another version: choose another --name for the "
                "sweep; its runs are kept"
            )
        for name in FIELDS:
            was, now = before.get(name), sweep.written.get(name)
            if name != "trials" and was != now:
                raise RunError(
                    f"{self.folder} is a sweep with {name} {shown(was)}, not {shown(now)}: choose "
                    "another --name"
                )
        for trial in trials:
            if list(trial.chosen) != list(sweep.search) or not all(
                possible(space, trial.chosen[name]) for name, space in sweep.search.items()
            ):
                raise RunError(
                    f"{self.file} holds trials that are not of this sweep: choose another --name; "
                    "its runs are kept"
                )
        return trials


def _read(written: dict[str, Any]) -> Trial:
    """Return a trial that was kept, or raise ValueError or TypeError."""
    trial, result = Trial(**written), written["result"]
    if result is not None and (
        not isinstance(result, list) or len(result) != 3 or None in map(finite, result)
    ):
        raise ValueError("a result is a value with its interval")
    if not (
        isinstance(written["chosen"], dict)
        and all(isinstance(text, str) for text in (trial.run, trial.code, trial.failure or ""))
        and whole(trial.decisions, 0, 2**63) is not None
        and finite(trial.minutes) is not None
    ):
        raise ValueError("what a trial says about itself has other types")
    return trial
