"""An RLlib env runner that plays a `Batch`: each window of play becomes a lesson.

All games move together, the decisions of every seat are learnt from, and a trajectory belongs to
one seat: see `agents.learn.rollouts`. What is carried over between two windows stays in the process
of the runner; a runner that has to be restarted begins with new deals.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.env import INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    WEIGHTS_SEQ_NO,
)

from agents.learn.partners import Partners
from agents.learn.ppo import draw
from agents.learn.rivals import Rivals
from agents.learn.rollouts import Rollouts, make_batch
from agents.learn.starting import shape_of
from agents.policies.networks import masked_log_probabilities
from agents.runs.config import make_config
from fiveup_env.envs.streams import derived_seed
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    import numpy as np

    from agents.learn.rollouts import Choice, Lesson
    from agents.runs.config import Config

Spaces = dict[str, tuple[Any, Any]]


class BatchRunner(EnvRunner, Checkpointable):
    """Plays the games of one process; learning happens elsewhere."""

    def __init__(self, *, config: Any, **options: Any) -> None:
        """Build the network; the games are dealt later, once it is known how far the run is."""
        super().__init__(config=config, **options)
        torch.set_num_threads(1)  # the runners of a node share its processors
        self._play: Config = make_config(config.env_config)
        self._weights_number = 0
        self._rollouts: Rollouts | None = None
        self.make_module()

    def make_module(self) -> None:
        """Build the network that chooses actions in this process."""
        self.module = self.config.get_rl_module_spec(spaces=self.get_spaces()).build()

    def make_env(self) -> None:
        """Deal the games; no two runners play the same deals, nor does a restarted one."""
        life = [self._play.seed, self.worker_index or 0, self._weights_number]
        self._chance = keyed_rng("cluster", *life)
        self.env = make_batch(self._play, shape_of(self._play).encoder)
        self.env.reset(derived_seed(*life))
        everybody = Rivals(self._play, self.env, Path()), Partners(self._play, self.env)
        for others in everybody:
            others.begin(self._chance)
        self._rollouts = Rollouts(self._play, self.env, everybody)

    def sample(self, **_options: Any) -> Lesson:
        """Play a window, and return all that can be learnt from it, of every seat."""
        if self._rollouts is None:
            self.make_env()
        assert self._rollouts
        lesson = self._rollouts.play([self._choose], self._chance)
        log = self.metrics.log_value
        log(NUM_ENV_STEPS_SAMPLED, len(lesson), reduce="sum")
        log(NUM_ENV_STEPS_SAMPLED_LIFETIME, len(lesson), reduce="lifetime_sum")
        return lesson

    @torch.inference_mode()
    def _choose(self, rows: np.ndarray, masks: np.ndarray, _truths: np.ndarray | None) -> Choice:
        logits, values = self.module.network(torch.from_numpy(rows))
        logs = masked_log_probabilities(logits, torch.from_numpy(masks))
        return *draw(logs, self._chance), values.numpy()

    def get_spaces(self) -> Spaces:
        """Return the spaces of observations and actions."""
        spaces = self.config.observation_space, self.config.action_space
        return {INPUT_ENV_SPACES: spaces, DEFAULT_MODULE_ID: spaces}

    def get_metrics(self) -> Any:
        """Return the runner's metrics."""
        return self.metrics.reduce()

    def assert_healthy(self) -> None:
        """Raise an AssertionError unless the network was built."""
        assert self.module

    # The state of a runner that RLlib keeps: its weights, and the update that they are from.

    def get_state(
        self,
        components: Any = None,
        *,
        not_components: Any = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Return the weights, if they are asked for."""
        if not self._check_component(COMPONENT_RL_MODULE, components, not_components):
            return {}
        weights = self.module.get_state(**options)
        return {COMPONENT_RL_MODULE: weights, WEIGHTS_SEQ_NO: self._weights_number}

    def set_state(self, state: dict[str, Any]) -> None:
        """Load weights to play with, if there are any in the state."""
        if COMPONENT_RL_MODULE in state:
            weights = state[COMPONENT_RL_MODULE]
            self.module.set_state(weights.get(DEFAULT_MODULE_ID, weights))
            self._weights_number = state.get(WEIGHTS_SEQ_NO, self._weights_number)

    def get_ctor_args_and_kwargs(self) -> tuple[tuple, dict[str, Any]]:
        """Return the arguments that make a copy of this runner."""
        return (), {"config": self.config}
