"""Trials one after the other, in this process; Optuna chooses their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.learn.sweeps.choices import choose
from agents.learn.sweeps.trials import run_trial

if TYPE_CHECKING:
    from agents.learn.sweeps.trials import Train, Trials


def one_by_one(trials: Trials, train: Train) -> int:
    """Run the trials that are left, and return the exit status."""
    while begun := trials.begin(choose):
        ended = run_trial(trials.sweep, begun, train)
        if isinstance(ended, int):
            return ended
        trials.end(begun, ended)
    return 0
