"""The trials of a sweep: one ordinary run each, chosen by Optuna from the results before it.

    runs/NAME/            sweep.json (the sweep and its results), table.md, plot.svg
    runs/NAME-000/ ...    the runs

Optuna's choices follow from the sweep's seed and from the results so far. So all that a sweep needs
to go on is the list of its results: it is read again, and the run that was interrupted is resumed.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from agents.learn.runs import folder as runs
from agents.learn.runs.folder import Run, RunError, command
from agents.learn.runs.metrics import read_metrics
from agents.learn.sweeps.report import Trial, draw, table_of
from agents.learn.sweeps.spec import BANK, FIELDS, PANEL, Choices, Range
from agents.learn.training import TrainingError
from agents.version import code_version
from fiveup_env.checks import finite, whole
from fiveup_env.errors import InputError, MissingExtraError, shown
from fiveup_env.files import atomic_file, file_path, locked

try:
    import optuna
except ModuleNotFoundError as _error:
    raise MissingExtraError(
        f"sweeps need {_error.name}: pip install -c constraints.txt -e '.[sweep]'"
    ) from None

if TYPE_CHECKING:
    from collections.abc import Callable

    from agents.learn.runs.config import Config
    from agents.learn.sweeps.spec import Sweep

FORMAT: Final = "fiveup-sweep"
VERSION: Final = 1


class Train(Protocol):
    """What trains a run, from its beginning or resumed, and returns its exit status."""

    def __call__(self, config: Config, run: Run, *, resume: bool) -> int:
        """Train, and return the exit status."""


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
        try:
            for trial in trials:
                _frozen(sweep, trial)
        except (ValueError, TypeError):
            raise RunError(
                f"{self.file} holds trials that are not of this sweep: choose another --name; its "
                "runs are kept"
            ) from None
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


def run_sweep(sweep: Sweep, name: str, train: Train, say: Callable[[str], object] = print) -> int:
    """Run the trials that are left, write the table and the plot, and return the exit status."""
    kept = SweepFolder(name)
    kept.begin(sweep)
    with locked(kept.folder / ".lock"):  # another process that runs the sweep ends it first
        return _run(sweep, kept, train, say)


def _run(sweep: Sweep, kept: SweepFolder, train: Train, say: Callable[[str], object]) -> int:
    done = kept.trials(sweep)
    for number in range(len(done), sweep.trials):
        chosen, run = choose(sweep, done), kept.run(number)
        told = ", ".join(f"{key}={value}" for key, value in chosen.items())
        say(f"\nTrial {number + 1} of {sweep.trials}: {told}")
        try:
            status = train(sweep.config(chosen), run, resume=run.config_file.is_file())
            failure = None
        except (InputError, TrainingError) as error:
            status, failure = 0, str(error)
            say(f"The trial failed: {error}")
        if status:
            say(f"To go on: {command()}")
            return status
        done.append(_trial_of(sweep, run, chosen, failure))
        kept.keep(sweep, done)
    table = table_of(sweep, done)
    with atomic_file(kept.table) as file:
        file.write(table)
    draw(sweep, done, kept.plot)
    say(f"\n{table}\nThe table and the plot are in {os.path.relpath(kept.folder)}.")
    return 0


def choose(sweep: Sweep, done: list[Trial]) -> dict[str, Any]:
    """Return the values of the next trial, which follow from the seed and the results so far."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    seed = np.random.SeedSequence([sweep.seed, len(done)]).generate_state(1)
    study = optuna.create_study(
        direction="minimize" if sweep.lower_is_better else "maximize",
        sampler=optuna.samplers.TPESampler(seed=int(seed[0])),
    )
    for trial in done:
        study.add_trial(_frozen(sweep, trial))
    params = study.ask(_distributions(sweep)).params
    return {
        name: space.values[params[name]] if isinstance(space, Choices) else params[name]
        for name, space in sweep.search.items()
    }


def _frozen(sweep: Sweep, trial: Trial) -> optuna.trial.FrozenTrial:
    """Return a trial as Optuna has it; raise ValueError or TypeError if it is not of this sweep."""
    if list(trial.chosen) != list(sweep.search):
        raise ValueError("the trial has other keys")
    states = optuna.trial.TrialState
    return optuna.trial.create_trial(
        state=states.COMPLETE if trial.result else states.FAIL,
        params={
            name: space.values.index(value) if isinstance(space, Choices) else value
            for name, space in sweep.search.items()
            for value in [trial.chosen[name]]
        },
        distributions=_distributions(sweep),
        value=trial.result[0] if trial.result else None,
    )


def _distributions(sweep: Sweep) -> dict[str, optuna.distributions.BaseDistribution]:
    return {name: _distribution(space) for name, space in sweep.search.items()}


def _distribution(space: Choices | Range) -> optuna.distributions.BaseDistribution:
    if isinstance(space, Choices):
        return optuna.distributions.CategoricalDistribution(range(len(space.values)))
    if isinstance(space.low, int):
        step = 1 if space.step is None else int(space.step)
        return optuna.distributions.IntDistribution(space.low, int(space.high), space.log, step)
    return optuna.distributions.FloatDistribution(space.low, space.high, space.log, space.step)


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
