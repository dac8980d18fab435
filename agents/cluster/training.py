"""A run of RLlib on a cluster, one update at a time: to `train.py`, a learner like any other.

The checkpoints are Ray's own, with a folder for every checkpoint of the run. They hold pickled
Python, so resume a run only if you trust whoever made it; the policy is only data, as always.
"""

from __future__ import annotations

import logging
import math
import shutil
import time
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from agents.cluster.connection import PAUSE, ClusterError, check_free, connect
from agents.learn.starting import shape_of
from agents.policies.networks import build
from agents.runs.checkpoints import KEPT
from fiveup_env.files import new_folder
from fiveup_env.learning.learner import LossError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from agents.learn.ppo import Figures
    from agents.policies.networks import PolicyNetwork
    from agents.runs.checkpoints import State
    from agents.runs.config import Config

PATIENCE: Final = 300.0  # seconds without any runner, after which a run gives up

# The laboratory's names for figures, and RLlib's.
FIGURES: Final = {
    "policy_loss": "policy_loss",
    "value_loss": "vf_loss",
    "entropy": "entropy",
    "kl": "kl",
    "clip_fraction": "clip_fraction",
    "explained_variance": "vf_explained_var",
    "gradient": "gradients_default_optimizer_global_norm",
    "learning_rate": "default_optimizer_learning_rate",
}


class RLlibPlay:
    """Self-play by RLlib's PPO, in as many processes as the config asks for, on any nodes."""

    def __init__(self, config: Config, folder: Path) -> None:
        """Connect to the cluster, and start the processes there."""
        self.config = config
        self.updates = 0
        self._folder = folder / "ray"
        connect()
        what = f"env_runners={config.env_runners} and learners={config.learners} need"
        check_free(config.env_runners + config.learners, what)
        logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # it warns about its own defaults
        from agents.cluster.algorithm import algorithm_config

        self._algorithm = algorithm_config(config).build_algo()

    def close(self) -> None:
        """End the processes of the cluster."""
        self._algorithm.stop()

    @property
    def decisions(self) -> int:
        """The number of decisions that were learnt from."""
        return self._algorithm.decisions

    @property
    def network(self) -> PolicyNetwork:
        """The current policy, as a network of the laboratory."""
        network = build(shape_of(self.config))
        network.load_state_dict(self._algorithm.weights())
        return network

    @property
    def networks(self) -> list[PolicyNetwork]:
        """The current policy alone, which plays all seats."""
        return [self.network]

    def update(self, _progress: float) -> Figures:
        """Let RLlib play and learn once; if all runners are lost, wait until one has come back."""
        before, deadline = self.decisions, time.monotonic() + PATIENCE
        result = self._algorithm.train()
        while self.decisions == before:
            if time.monotonic() > deadline:
                raise ClusterError(f"no env runner has played for {PATIENCE:g} seconds")
            time.sleep(PAUSE)
            result = self._algorithm.train()
        self.updates += 1
        figures = result["learners"]["default_policy"]
        if not math.isfinite(figures["total_loss"]):
            raise LossError(f"the loss is {figures['total_loss']}")
        return {name: float(figures[theirs]) for name, theirs in FIGURES.items()}

    def state(self) -> State:
        """Write Ray's checkpoint to its own folder, and return where it is."""
        name, more = f"{self.updates:08}", count(2)
        while (self._folder / name).exists():  # a run that was resumed may come by again
            name = f"{self.updates:08}-{next(more)}"
        with new_folder(self._folder / name) as draft:
            self._algorithm.save_to_path(draft)
        for old in sorted(self._folder.iterdir())[: -KEPT - 1]:
            shutil.rmtree(old)
        return {}, {"updates": self.updates, "decisions": self.decisions, "ray": name}

    def restore(self, _arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue from Ray's checkpoint, with newly dealt games."""
        folder = self._folder / about["ray"]
        if not folder.is_dir():
            raise ClusterError(f"Ray's checkpoint {folder} is missing; start a new run")
        self._algorithm.restore_from_path(folder)
        self.updates = about["updates"]
