"""Sweeps by Ray Tune: trials side by side, on any node with free CPUs, a lost one begun again.

What a trial is, what is kept of it, and how an interrupted sweep goes on are the same as one after
the other (`agents.learn.sweeps`). Where Optuna is installed it chooses the keys here, too.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agents.cluster.connection import (
    INSTALL,
    ClusterError,
    connect,
    describe,
    largest_node,
    processors,
)
from agents.learn.sweeps.spec import Choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.learn.sweeps.spec import Sweep
    from agents.learn.sweeps.trials import Choose, Engine, Train, Trials


def on_cluster(sweep: Sweep) -> Engine:
    """Return the engine that runs a sweep on the cluster, if its trials fit there."""
    connect()
    try:
        from agents.cluster import tuning
    except ImportError:
        raise ClusterError(f"Ray Tune is not installed: {INSTALL}") from None
    parts = parts_of(sweep)
    if sum(parts) > processors():
        raise ClusterError(f"a trial of this sweep needs {sum(parts)} CPUs; {describe()}")

    def run(trials: Trials, train: Train) -> int:
        return tuning.run_by_tune(trials, train, chooser(trials), parts, processors() // sum(parts))

    return run


def chooser(trials: Trials) -> Choose:
    """Return what chooses the keys: Optuna, or chance where it is not installed."""
    if find_spec("optuna"):
        from agents.learn.sweeps.choices import choose

        return choose
    from agents.cluster.tuning import draw

    trials.say("Optuna is not installed: keys are drawn at random, whatever was measured before.")
    return draw


def parts_of(sweep: Sweep) -> list[int]:
    """Return the CPUs of a trial's processes, its trainer first.

    A trainer without `threads` uses all cores of its machine; one whose processes play or learn
    elsewhere needs none, as in a run by itself. Of a key that is searched, the most counts.
    """
    processes = sum(max(_values(sweep, name)) for name in ("env_runners", "learners"))
    if processes:
        return [0, *[1] * processes]
    return [max(threads or largest_node() for threads in _values(sweep, "threads"))]


def _values(sweep: Sweep, name: str) -> Sequence[Any]:
    """Return all values of a key, or the highest of a range."""
    space = sweep.search.get(name)
    if isinstance(space, Choices):
        return space.values
    return [space.high if space else sweep.base.as_dict()[name]]
