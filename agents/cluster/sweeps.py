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
    if "rllib" in _values(sweep, "learner"):
        raise ClusterError(
            "runs with learner=rllib have processes of their own on the cluster: run their sweep "
            "with --engine optuna"
        )
    cpus = cpus_of(sweep)
    if cpus > processors():
        raise ClusterError(f"a trial of this sweep needs {cpus} CPUs; {describe()}")

    def run(trials: Trials, train: Train) -> int:
        if not trials.left:
            return 0
        return tuning.run_by_tune(trials, train, chooser(trials), cpus, processors() // cpus)

    return run


def chooser(trials: Trials) -> Choose:
    """Return what chooses the keys: Optuna, or chance where it is not installed."""
    if find_spec("optuna"):
        from agents.learn.sweeps.choices import choose

        return choose
    from agents.cluster.tuning import draw

    trials.say("Optuna is not installed: keys are drawn at random, whatever was measured before.")
    return draw


def cpus_of(sweep: Sweep) -> int:
    """Return the CPUs that a trial needs: its `threads`, or all of a machine.

    Of threads that are searched, the most count.
    """
    return max(threads or largest_node() for threads in _values(sweep, "threads"))


def _values(sweep: Sweep, name: str) -> Sequence[Any]:
    """Return all values of a key, or the highest of a range."""
    space = sweep.search.get(name)
    if isinstance(space, Choices):
        return space.values
    return [space.high if space else sweep.base.as_dict()[name]]
