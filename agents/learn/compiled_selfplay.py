"""Self-play in compiled code as a whole: games, windows and learning (`fiveup_env.learning`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from agents.learn.compiled_ppo import share_weights
from agents.learn.starting import first_network, shape_of
from agents.policies.networks import build
from fiveup_env.envs.episodes import EPISODES
from fiveup_env.learning.selfplay import SelfPlay

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.ppo import Figures
    from agents.policies.networks import PolicyNetwork
    from agents.runs.checkpoints import State
    from agents.runs.config import Config

HORIZONS = ("hand", "game")
# The settings of a run that have the names of the configuration's keys.
SAME = (
    *("seed", "network", "width", "depth", "games", "batch_size", "reward", "warm_up", "gamma"),
    *("gae_lambda", "learning_rate", "ent_coef", "clip_range", "vf_coef", "max_grad_norm"),
)


class CompiledSelfPlay:
    """A run of self-play without rivals, partners and references, one update at a time."""

    def __init__(self, config: Config, folder: Path) -> None:
        del folder  # nothing but checkpoints and the policy is written
        self._threads = torch.get_num_threads()
        settings = {name: getattr(config, name) for name in SAME}
        for name in ("learning_rate", "ent_coef"):
            last = getattr(config, f"{name}_end")
            settings[f"{name}_end"] = settings[name] if last is None else last
        self._run = SelfPlay.begin(
            config.all_rules,
            self._threads,
            ticks=config.n_steps,
            epochs=config.n_epochs,
            horizon=HORIZONS.index(config.horizon),
            episode=EPISODES.index(config.episode),
            forced=int(config.forced),
            normalize_advantage=int(config.normalize_advantage),
            **settings,
        )
        self.network: PolicyNetwork = build(shape_of(config))
        if config.start is not None:
            tensors = first_network(config).state_dict()
            self._run.network.load({name: tensor.numpy() for name, tensor in tensors.items()})
        share_weights(self.network, self._run.network)

    @property
    def networks(self) -> list[PolicyNetwork]:
        """The current policy, whose tensors are the weights that learn."""
        return [self.network]

    @property
    def updates(self) -> int:
        """How often the network was updated."""
        return self._run.updates

    @property
    def decisions(self) -> int:
        """From how many decisions it has learnt."""
        return self._run.decisions

    def update(self, progress: float) -> Figures:
        """Play a window and learn from it; `progress` is the share of the run that is done."""
        figures = self._run.update(progress)
        del figures["reference_kl"]
        return figures

    def state(self) -> State:
        """Return everything that the next update depends on."""
        about = {"updates": self.updates, "decisions": self.decisions}
        return {"run": np.frombuffer(self._run.save(), np.uint8)}, about

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue from a saved state."""
        del about
        run = SelfPlay.load(arrays["run"].tobytes(), self._threads)
        if run.settings != self._run.settings:
            raise ValueError("it is of a run with other settings")
        self._run = run
        share_weights(self.network, run.network)

    def close(self) -> None:
        """Do nothing: self-play holds nothing outside this process."""
