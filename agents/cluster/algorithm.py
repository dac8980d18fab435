"""RLlib's PPO on the lessons of batch runners.

RLlib learns from episodes that its own runners collect step by step. These runners hand over whole
lessons, in which each decision has its seat's advantage already; so nothing is left to do between
sampling and learning but to put the lessons together.
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
from agents.learn.selfplay import shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.learn.rollouts import Lesson
    from agents.learn.runs.config import Config

SAMPLED: Final = (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME)
KL, CLIP_FRACTION = "kl", "clip_fraction"
SECONDS_FOR_A_WINDOW: Final = 600.0  # unless it is known how long one takes
SECONDS_AT_LEAST: Final = 60.0
TIMES_AS_LONG: Final = 10.0  # as the last one takes no window of a runner that still plays
SECONDS_FOR_A_PING: Final = 1.0  # of a runner that was lost: is it back?


class SeatPPO(PPO):
    """PPO whose runners hand over lessons.

    Ray may never answer for a runner whose node was lost; its window is waited for no
    longer than there is reason to.
    """

    _patience = SECONDS_FOR_A_WINDOW

    @property
    def decisions(self) -> int:
        """How many decisions were played and learnt from."""
        return int(self.metrics.peek(SAMPLED, default=0))

    def weights(self) -> dict[str, torch.Tensor]:
        """The network's, by its own names."""
        state = self.learner_group.get_weights()[DEFAULT_MODULE_ID]
        return {name.removeprefix("network."): torch.tensor(w) for name, w in state.items()}

    def training_step(self) -> None:
        """Play a window in every runner, learn from all of them, and hand the weights out."""
        began = time.monotonic()
        lessons, told = synchronous_parallel_sample(
            worker_set=self.env_runner_group,
            concat=False,
            sample_timeout_s=self._patience,
            _return_metrics=True,
        )
        whole = len(lessons) >= self.config.num_env_runners
        self._patience = patience_after(time.monotonic() - began, whole=whole)
        if not lessons:  # all runners were lost: they are being restarted
            return
        self.metrics.aggregate(told, key=ENV_RUNNER_RESULTS)
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


def patience_after(seconds: float, *, whole: bool) -> float:
    """How long to wait for a window, after one that took so long and came from all runners or not.

    Where one was missing, perhaps it is slow: nobody is given up in haste twice running.
    """
    if not whole:
        return SECONDS_FOR_A_WINDOW
    return min(SECONDS_FOR_A_WINDOW, max(SECONDS_AT_LEAST, TIMES_AS_LONG * seconds))


class SeatLearner(PPOTorchLearner):
    """PPO's loss, without the old distributions, which nobody sends; and how far it moved."""

    def compute_loss_for_module(
        self, *, module_id: str, config: Any, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Any:
        """RLlib's loss; of the old distribution it uses but the probability of the action taken."""
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
    """All lessons in one batch, in a random order, the same number for every learner."""
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
    """RLlib's configuration of a run."""
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
            # Runners have nothing to tell each other: they see what the encoder writes.
            merge_env_runner_states=False,
            broadcast_env_runner_states=False,
        )
        .fault_tolerance(
            restart_failed_env_runners=True,
            env_runner_health_probe_timeout_s=SECONDS_FOR_A_PING,
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
            minibatch_size=max(1, config.batch_size // max(1, config.learners)),  # of a learner
            shuffle_batch_per_epoch=True,
        )
    )


def _schedule(config: Config, first: float, last: float | None) -> Any:
    """A rate that stays, or RLlib's schedule of one that goes from first to last."""
    return first if last is None else [[0, first], [config.decisions, last]]
