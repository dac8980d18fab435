"""A sweep as Ray Tune runs it: which trials it gets, and what each does in a process of its own.

Tune schedules trials where CPUs are free, and begins those again whose process was lost. What is
tried next, and what is kept, is for `agents.learn.sweeps` to decide; so Tune's own files are of no
use afterwards, and are dropped.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ray import tune
from ray.tune.search import Searcher

from agents.cluster.connection import ClusterError
from agents.learn.runs.folder import Run
from agents.learn.sweeps.report import Trial
from agents.learn.sweeps.spec import Choices
from agents.learn.sweeps.trials import Begun, run_trial
from fiveup_env.commands.promises import INTERRUPTED

if TYPE_CHECKING:
    from agents.learn.sweeps.spec import Range, Sweep
    from agents.learn.sweeps.trials import Choose, Known, Train, Trials

RETRIES: Final = 3  # how often a trial is resumed after its process was lost
NUMBER, CHOSEN, FOLDER, ENDED, ERROR = "number", "chosen", "folder", "ended", "error"
ROUNDING: Final = 1e-9  # 0.1 fits into 0.3 three times, though 0.3 / 0.1 is a little less than 3
# Specs may name policies by relative paths, so a trial stays in the folder of the command. And what
# is to be told about trials, the sweep tells.
SETTINGS: Final = {"RAY_CHDIR_TO_TRIAL_DIR": "0", "RAY_AIR_NEW_OUTPUT": "0"}


class Suggestions(Searcher):
    """Gives Tune the trials that are left, and keeps their results."""

    def __init__(self, trials: Trials, choose: Choose) -> None:
        super().__init__()
        self._trials, self._choose = trials, choose
        self._begun: dict[str, Begun] = {}
        self.errors: list[str] = []

    def suggest(self, trial_id: str) -> dict[str, Any] | str:
        """Return the next trial as Tune's configuration of it."""
        begun = self._trials.begin(self._choose)
        if begun is None:
            return str(Searcher.FINISHED)
        self._begun[trial_id] = begun
        return {NUMBER: begun.number, CHOSEN: begun.chosen, FOLDER: str(begun.run.folder)}

    def on_trial_complete(
        self,
        trial_id: str,
        result: dict[str, Any] | None = None,
        error: bool = False,  # noqa: FBT001, FBT002 - Tune's own
    ) -> None:
        """Keep what a trial found, unless its process was lost or stopped."""
        begun, told = self._begun.pop(trial_id), result or {}
        if told.get(ENDED) and not error:
            self._trials.end(begun, Trial(**json.loads(told[ENDED])))
        elif error or told.get(ERROR):
            why = "its process was lost too often" if error else told[ERROR]
            self.errors.append(f"{begun.run.folder.name}: {why}")

    def save(self, checkpoint_path: str) -> None:
        """Save nothing: the sweep's own folder has it all."""

    def __getstate__(self) -> dict[str, Any]:
        """Return nothing, for the same reason."""
        return {}


def run_by_tune(trials: Trials, train: Train, choose: Choose, cpus: int, together: int) -> int:
    """Run the trials that are left, with so many CPUs each; return the exit status.

    `together` is how many may run at once.
    """
    os.environ |= SETTINGS
    for name in ("ray.tune", "ray.train", "ray.air"):  # they tell how to resume Tune's own files
        logging.getLogger(name).setLevel(logging.CRITICAL)
    files, suggestions = trials.kept.folder / "ray", Suggestions(trials, choose)
    shutil.rmtree(files, ignore_errors=True)
    tuner = tune.Tuner(
        tune.with_resources(_trainable(trials.sweep, train), {"cpu": cpus}),
        tune_config=tune.TuneConfig(
            search_alg=suggestions,
            num_samples=len(trials.left),
            max_concurrent_trials=together,
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(
            name="sweep",
            storage_path=str(files.resolve()),
            checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),  # a run has its own
            failure_config=tune.FailureConfig(max_failures=RETRIES),
            verbose=0,
        ),
    )
    try:
        tuner.fit()
    finally:
        shutil.rmtree(files, ignore_errors=True)
    if errors := suggestions.errors:
        raise ClusterError(
            f"{len(errors)} trial{'s' * (len(errors) > 1)} ended with an error, the first "
            f"{errors[0]}; the same command tries again"
        )
    return INTERRUPTED if trials.left or trials.running else 0


def _trainable(sweep: Sweep, train: Train) -> type[tune.Trainable]:
    """Return what Tune runs in a process of its own: a trial, all of it in one step."""
    words, folder = sys.argv, Path.cwd()

    class RunOfSweep(tune.Trainable):
        def setup(self, config: dict[str, Any]) -> None:
            run = Run(Path(config[FOLDER]))
            self._begun = Begun(config[NUMBER], config[CHOSEN], run)

        def reset_config(self, new_config: dict[str, Any]) -> bool:
            self.setup(new_config)
            return True

        def step(self) -> dict[str, Any]:
            sys.argv = words  # a run keeps the command that began it
            os.chdir(folder)
            try:
                ended = run_trial(sweep, self._begun, train)
            except Exception as error:  # noqa: BLE001  (Tune would try it again, to no avail)
                return {ERROR: f"{type(error).__name__}: {error}", "done": True}
            # As text: Tune flattens what is nested.
            found = None if isinstance(ended, int) else json.dumps(asdict(ended))
            return {ENDED: found, "done": True}

    return RunOfSweep


def draw(sweep: Sweep, number: int, _known: Known) -> dict[str, Any]:
    """Return the values of a trial, drawn at random from Tune's search spaces."""
    seed = np.random.SeedSequence([sweep.seed, number]).generate_state(1)
    chance = np.random.RandomState(seed[0])
    return {name: _drawn(space, chance) for name, space in sweep.search.items()}


def _drawn(space: Choices | Range, chance: np.random.RandomState) -> Any:
    if isinstance(space, Choices):
        return space.values[_below(len(space.values), chance)]
    low, high, step = space.low, space.high, space.step
    if step is not None:
        return min(high, low + step * _below(int((high - low) / step + ROUNDING) + 1, chance))
    if isinstance(low, int):
        return (tune.lograndint if space.log else tune.randint)(low, int(high) + 1).sample(
            random_state=chance
        )
    return (tune.loguniform if space.log else tune.uniform)(low, high).sample(random_state=chance)


def _below(count: int, chance: np.random.RandomState) -> int:
    return int(tune.randint(0, count).sample(random_state=chance))
