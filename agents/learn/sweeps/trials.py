"""The trials of a sweep: one ordinary run each, whatever engine runs them.

An engine runs the trials that are left: `sequence.one_by_one`, or Ray Tune (`agents.cluster`).
What it begins and what has ended is kept here. A run that was interrupted is begun again with the
keys in its own configuration, and resumed. So any engine continues the sweep of any other.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from agents.learn.runs.folder import RunError, command
from agents.learn.runs.metrics import read_metrics
from agents.learn.sweeps.folder import SweepFolder
from agents.learn.sweeps.report import Trial, draw, result_of, table_of
from agents.learn.sweeps.spec import BANK, PANEL, possible
from agents.learn.training import TrainingError
from agents.version import code_version
from fiveup_env.errors import InputError
from fiveup_env.files import atomic_file, locked

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.learn.runs.config import Config
    from agents.learn.runs.folder import Run
    from agents.learn.sweeps.spec import Sweep

    Say: TypeAlias = Callable[[str], object]


class Train(Protocol):
    """What trains a run, from its beginning or resumed, and returns its exit status."""

    def __call__(self, config: Config, run: Run, *, resume: bool) -> int:
        """Train, and return the exit status."""


class Known(NamedTuple):
    """What is known when a trial is chosen: the trials that ended, and the keys of the others."""

    ended: list[Trial]
    running: list[dict[str, Any]]


class Choose(Protocol):
    """What chooses the values of the keys that are searched."""

    def __call__(self, sweep: Sweep, number: int, known: Known, /) -> dict[str, Any]:
        """Return the values of a trial."""


class Engine(Protocol):
    """What runs the trials that are left."""

    def __call__(self, trials: Trials, train: Train, /) -> int:
        """Run them, and return the exit status."""


class Begun(NamedTuple):
    """A trial that runs: its number, its keys, and its run."""

    number: int
    chosen: dict[str, Any]
    run: Run


class Trials:
    """The trials of a sweep: those that ended, those that run, and those that are left."""

    def __init__(self, sweep: Sweep, kept: SweepFolder, say: Say) -> None:
        self.sweep, self.kept, self.say = sweep, kept, say
        self.ended = kept.trials(sweep)
        self.running: dict[int, Begun] = {}
        self._interrupted = {
            number: chosen for number in self.left if (chosen := self._chosen_in(kept.run(number)))
        }

    @property
    def left(self) -> list[int]:
        """The numbers of the trials that have neither ended nor begun."""
        ended = {trial.run for trial in self.ended}
        numbers = [n for n in range(self.sweep.trials) if n not in self.running]
        return [n for n in numbers if self.kept.run(n).folder.name not in ended]

    def begin(self, choose: Choose) -> Begun | None:
        """Return the next trial to run, or None if none is left.

        A run that was interrupted keeps its keys.
        """
        if not self.left:
            return None
        number = self.left[0]
        run = self.kept.run(number)
        known = Known(self.ended, [begun.chosen for begun in self.running.values()])
        chosen = self._interrupted.get(number) or choose(self.sweep, number, known)
        told = ", ".join(f"{key}={value}" for key, value in chosen.items())
        self.say(f"\nTrial {number + 1} of {self.sweep.trials}: {told}")
        self.running[number] = begun = Begun(number, chosen, run)
        return begun

    def end(self, begun: Begun, trial: Trial) -> None:
        """Keep the result of a trial."""
        del self.running[begun.number]
        self.ended.append(trial)
        self.kept.keep(self.sweep, self.ended)
        told = f"failed: {trial.failure}" if trial.failure else result_of(self.sweep, trial)
        self.say(f"Trial {begun.number + 1} of {self.sweep.trials}, {trial.run}: {told}")

    def _chosen_in(self, run: Run) -> dict[str, Any] | None:
        """Return the keys of a trial whose run has begun, None if it has not."""
        if not run.config_file.is_file():
            return None
        config = run.config({}).as_dict()
        chosen = {name: config[name] for name in self.sweep.search}
        fits = all(possible(self.sweep.search[name], value) for name, value in chosen.items())
        if not fits or self.sweep.config(chosen).as_dict() != config:
            raise RunError(
                f"{run.folder} is not a run of this sweep: choose another --name for the sweep"
            )
        return chosen


def run_sweep(sweep: Sweep, name: str, train: Train, engine: Engine, say: Say = print) -> int:
    """Run the trials that are left, write the table and the plot, and return the exit status."""
    kept = SweepFolder(name)
    kept.begin(sweep)
    with locked(kept.folder / ".lock"):  # another process that runs the sweep ends it first
        trials = Trials(sweep, kept, say)
        if status := engine(trials, train):
            say(f"To go on: {command()}")
            return status
        table = table_of(sweep, trials.ended)
        with atomic_file(kept.table) as file:
            file.write(table)
        draw(sweep, trials.ended, kept.plot)
    say(f"\n{table}\nThe table and the plot are in {os.path.relpath(kept.folder)}.")
    return 0


def run_trial(sweep: Sweep, begun: Begun, train: Train) -> Trial | int:
    """Run a trial or resume it; return what it found, or the exit status if it was stopped."""
    run, failure = begun.run, None
    try:
        config = sweep.config(begun.chosen)
        if status := train(config, run, resume=run.config_file.is_file()):
            return status
    except (InputError, TrainingError) as error:
        failure = str(error)
    return _trial_of(sweep, run, begun.chosen, failure)


def _trial_of(sweep: Sweep, run: Run, chosen: dict[str, Any], failure: str | None) -> Trial:
    """Return what a run that has ended found, by its last measurement."""
    lines = read_metrics(run.metrics_file)
    measured = [found for line in lines if (found := measured_in(line, sweep.metric))]
    last = lines[-1] if lines else {"decisions": 0, "seconds": 0}
    if not failure and not measured:
        failure = f"the run measured no {sweep.metric}"
    return Trial(
        run=run.folder.name,
        chosen=chosen,
        result=None if failure else measured[-1],
        failure=failure,
        decisions=last["decisions"],
        minutes=round(last["seconds"] / 60, 2),
        code=code_version(),
    )


def measured_in(line: dict[str, Any], metric: str) -> list[float] | None:
    """Return a metric with its interval from the metrics of an update, if it was measured there."""
    if metric == BANK:
        return line.get("bank")
    return line.get("panel", {}).get(metric.removeprefix(PANEL))
