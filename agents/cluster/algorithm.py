"""RLlib's PPO on the lessons of batch runners.

RLlib learns from episodes that its own runners collect step by step. These runners return lessons,
in which each decision already has the advantage of its seat, so the lessons only have to be
concatenated between sampling and learning.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import ALL_MODULES, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.execution.rollout_ops import synchronous_parallel_sample
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
)

from agents.cluster.module import MASKS, ROWS, MaskedModule, action_space, observation_space
from agents.cluster.runner import BatchRunner
from agents.learn.starting import shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.learn.rollouts import Lesson
    from agents.runs.config import Config

SAMPLED: Final = (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME)
KL, CLIP_FRACTION = "kl", "clip_fraction"
WINDOW_TIMEOUT: Final = 600.0  # seconds, while it is not known how long a window takes
LEAST_TIMEOUT: Final = 60.0
TIMEOUT_FACTOR: Final = 10.0  # no runner that still plays takes this many times the last window
PING_TIMEOUT: Final = 1.0  # seconds for a lost runner to respond, if it has come back


class SeatPPO(PPO):
    """PPO whose runners return lessons.

    Ray may never report on a runner whose node was lost, so each window has a time limit that
    follows from how long the last one took.
    """

    _patience = WINDOW_TIMEOUT

    @property
    def decisions(self) -> int:
        """The number of decisions that were played and learnt from."""
        return int(self.metrics.peek(SAMPLED, default=0))

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the weights of the network by its own names, without RLlib's prefix."""
        state = self.learner_group.get_weights()[DEFAULT_MODULE_ID]
        return {name.removeprefix("network."): torch.tensor(w) for name, w in state.items()}

    def training_step(self) -> None:
        """Play a window in every runner, learn from all of them, and send out the weights."""
        began = time.monotonic()
        lessons, sampled = synchronous_parallel_sample(
            worker_set=self.env_runner_group,
            concat=False,
            sample_timeout_s=self._patience,
            _return_metrics=True,
        )
        complete = len(lessons) >= self.config.num_env_runners
        self._patience = patience_after(time.monotonic() - began, complete=complete)
        if not lessons:  # all runners were lost and are being restarted
            return
        self.metrics.aggregate(sampled, key=ENV_RUNNER_RESULTS)
        learnt = self.learner_group.update(
            batch=batch_of(lessons, self.config),
            timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: self.decisions},
            num_epochs=self.config.num_epochs,
            minibatch_size=self.config.minibatch_size,
            shuffle_batch_per_epoch=self.config.shuffle_batch_per_epoch,
        )
        self.metrics.aggregate(learnt, key=LEARNER_RESULTS)
        self.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.learner_group,
            policies=set(learnt[0]) - {ALL_MODULES},
            inference_only=True,
        )


def patience_after(seconds: float, *, complete: bool) -> float:
    """Return how many seconds to wait for the next window, after one that took `seconds`.

    `complete` says whether all runners returned a lesson. A runner that did not may only be slow,
    so the next window has the full timeout: no runner is given up early twice in a row.
    """
    if not complete:
        return WINDOW_TIMEOUT
    return min(WINDOW_TIMEOUT, max(LEAST_TIMEOUT, TIMEOUT_FACTOR * seconds))


class SeatLearner(PPOTorchLearner):
    """PPO's loss without the old distributions, which lessons lack; also logs two more figures."""

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Any:
        """Return RLlib's loss, and log the KL divergence and the clip fraction.

        Of the old distribution the loss uses only the probability of the action taken.
        """
        logits = fwd_out[Columns.ACTION_DIST_INPUTS].detach()
        batch[Columns.ACTION_DIST_INPUTS] = logits
        logs = torch.log_softmax(logits, -1).gather(1, batch[Columns.ACTIONS][:, None])[:, 0]
        change = logs - batch[Columns.ACTION_LOGP]
        beyond = (change.exp() - 1).abs() > config.clip_param
        figures = {KL: (change.exp() - 1 - change).mean(), CLIP_FRACTION: beyond.float().mean()}
        self.metrics.log_dict(figures, key=module_id, window=1)
        return super().compute_loss_for_module(
            module_id=module_id, config=config, batch=batch, fwd_out=fwd_out
        )


def batch_of(lessons: Sequence[Lesson], config: Any) -> MultiAgentBatch:
    """Return all lessons as one batch, in a random order, with as many rows for every learner."""
    learners = max(1, config.num_learners)
    count = sum(map(len, lessons))
    order = np.random.default_rng([config.seed, count]).permutation(count // learners * learners)

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(lesson, name) for lesson in lessons])[order]

    advantages = joined("advantages")
    if config.env_config["normalize_advantage"]:
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    columns = {
        Columns.OBS: {ROWS: joined("rows"), MASKS: joined("masks")},
        Columns.ACTIONS: joined("actions"),
        Columns.ACTION_LOGP: joined("log_probabilities"),
        Postprocessing.ADVANTAGES: advantages,
        Postprocessing.VALUE_TARGETS: joined("returns"),
    }
    return MultiAgentBatch({DEFAULT_MODULE_ID: SampleBatch(columns)}, env_steps=len(order))


def algorithm_config(config: Config) -> PPOConfig:
    """Return RLlib's configuration of a run."""
    shape = shape_of(config)
    window = config.games * config.n_steps * max(1, config.env_runners)
    return (
        PPOConfig(algo_class=SeatPPO)
        .environment(
            observation_space=observation_space(shape),
            action_space=action_space(),
            env_config=config.as_dict(),
        )
        .rl_module(rl_module_spec=RLModuleSpec(MaskedModule, model_config={"shape": vars(shape)}))
        .env_runners(
            env_runner_cls=BatchRunner,
            num_env_runners=config.env_runners,
            num_envs_per_env_runner=config.games,
            rollout_fragment_length=config.n_steps,
            create_local_env_runner=False,
            # Runners share no state: they observe exactly what the encoder writes.
            merge_env_runner_states=False,
            broadcast_env_runner_states=False,
        )
        .fault_tolerance(
            restart_failed_env_runners=True,
            env_runner_health_probe_timeout_s=PING_TIMEOUT,
        )
        .learners(learner_class=SeatLearner, num_learners=config.learners)
        .debugging(seed=config.seed, log_level="ERROR")
        .training(
            train_batch_size_per_learner=window // max(1, config.learners),
            lr=_schedule(config, config.learning_rate, config.learning_rate_end),
            gamma=config.gamma,
            lambda_=config.gae_lambda,
            clip_param=config.clip_range,
            entropy_coeff=_schedule(config, config.ent_coef, config.ent_coef_end),
            vf_loss_coeff=config.vf_coef,
            vf_clip_param=float("inf"),
            use_kl_loss=False,
            grad_clip=config.max_grad_norm,
            grad_clip_by="global_norm",
            num_epochs=config.n_epochs,
            minibatch_size=max(1, config.batch_size // max(1, config.learners)),  # for each learner
            shuffle_batch_per_epoch=True,
        )
    )


def _schedule(config: Config, first: float, last: float | None) -> Any:
    """Return a constant rate, or RLlib's schedule of one that goes linearly from first to last."""
    return first if last is None else [[0, first], [config.decisions, last]]
