"""The baseline: stock MaskablePPO in one seat of each game, with a fixed opponent in the others.

It learns through `FiveUpVecEnv`, as any user of Stable-Baselines3 would, and scales its inputs by
the factors of our networks (`ScalingExtractor`). An episode is a single hand where the
configuration's `episode` or its `horizon` is `hand` (`horizon` is by default), and a whole game
only where both are `game`. Stock MaskablePPO cannot end trajectories inside an episode, so with
`horizon=hand` it plays only first hands at 0 : 0, where self-play plays games to the end.

Its weights are copied into a network of the same shape, so that its policies are saved and measured
like those of self-play.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecNormalize

from agents.learn.rewards import BATCH_REWARDS
from agents.learn.starting import shape_of
from agents.policies.networks import PolicyNetwork, build
from agents.policies.weights import arrays_of, put_back
from fiveup_env.envs.sb3 import FiveUpVecEnv, ScalingExtractor
from fiveup_env.learning.adam import scheduled

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.ppo import Figures
    from agents.runs.checkpoints import State
    from agents.runs.config import Config


class Baseline:
    """A run of stock MaskablePPO, one update at a time."""

    def __init__(self, config: Config, _folder: Path) -> None:
        shape = shape_of(config)
        self.config = config
        self.updates = 0
        self._network = build(shape)
        self._games = FiveUpVecEnv(
            config.games,
            config.rules,
            config.players,
            opponents=config.rivals[0],
            seed=config.seed,
            reward=BATCH_REWARDS[config.reward],
            episode="hand" if "hand" in {config.episode, config.horizon} else "game",
            encoder=shape.encoder,
        )
        self._scale = VecNormalize(self._games, norm_obs=False, gamma=config.gamma)
        layers = [config.width] * config.depth
        self._stock = MaskablePPO(
            "MlpPolicy",
            self._scale,
            learning_rate=config.learning_rate,
            n_steps=config.n_steps,
            batch_size=config.batch_size,
            n_epochs=config.n_epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            normalize_advantage=config.normalize_advantage,
            ent_coef=config.ent_coef,
            vf_coef=config.vf_coef,
            max_grad_norm=config.max_grad_norm,
            policy_kwargs={
                "net_arch": {"pi": layers, "vf": layers},
                "activation_fn": torch.nn.ReLU,
                "features_extractor_class": ScalingExtractor,
                "features_extractor_kwargs": {"encoder": shape.encoder},
            },
            seed=config.seed,
            device="cpu",
        )
        self._stock.set_logger(Logger(None, []))
        # Not `learn`, which would make all updates at once.
        _, self._callback = self._stock._setup_learn(0)  # noqa: SLF001

    @property
    def decisions(self) -> int:
        """The number of decisions learnt from so far."""
        return int(self._stock.num_timesteps)

    @property
    def network(self) -> PolicyNetwork:
        """The current policy, copied into a network of the same shape."""
        stock, ours = self._stock.policy, self._network
        assert ours.value_trunk
        for theirs, trunk in (
            (stock.mlp_extractor.policy_net, ours.policy_trunk),
            (stock.mlp_extractor.value_net, ours.value_trunk),
            (stock.action_net, ours.policy_head),
            (stock.value_net, ours.value_head),
        ):
            for source, target in zip(_linears(theirs), _linears(trunk), strict=True):
                target.load_state_dict(source.state_dict())
        return ours

    @property
    def networks(self) -> list[PolicyNetwork]:
        """The current policy alone, which plays all seats."""
        return [self.network]

    def update(self, progress: float) -> Figures:
        """Collect a rollout and learn from it, as `MaskablePPO.learn` does.

        Its own schedules count decisions, which a run that is limited by time does not know before
        its end; so rate and entropy bonus are set for each update, as self-play does.
        """
        stock, config = self._stock, self.config
        rate = scheduled(config.learning_rate, config.learning_rate_end, progress)
        stock.lr_schedule = lambda _remaining: rate
        stock.ent_coef = scheduled(config.ent_coef, config.ent_coef_end, progress)
        set_random_seed(_update_seed(config.seed, self.updates))
        assert stock.env
        stock.collect_rollouts(
            stock.env, self._callback, stock.rollout_buffer, config.n_steps, use_masking=True
        )
        stock.train()
        self.updates += 1
        logged = {name: float(value) for name, value in stock.logger.name_to_value.items()}
        return {
            "policy_loss": logged["train/policy_gradient_loss"],
            "value_loss": logged["train/value_loss"],
            "entropy": -logged["train/entropy_loss"],
            "kl": logged["train/approx_kl"],
            "clip_fraction": logged["train/clip_fraction"],
            "explained_variance": logged["train/explained_variance"],
            "learning_rate": rate,
        }

    def state(self) -> State:
        """Return everything that the next update depends on."""
        stock, scale = self._stock, self._scale
        arrays = arrays_of({"policy": stock.policy}, stock.policy.optimizer)
        arrays["games"] = np.frombuffer(self._games.save(), np.uint8)
        arrays["scale"] = np.array([scale.ret_rms.mean, scale.ret_rms.var, scale.ret_rms.count])
        arrays["discounted"] = scale.returns
        assert isinstance(stock._last_obs, np.ndarray)  # noqa: SLF001
        assert stock._last_episode_starts is not None  # noqa: SLF001
        arrays["seen"] = stock._last_obs  # noqa: SLF001
        arrays["begun"] = stock._last_episode_starts  # noqa: SLF001
        return arrays, {"updates": self.updates, "decisions": self.decisions}

    def close(self) -> None:
        """Do nothing: a baseline holds nothing outside this process."""

    def restore(self, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        """Continue from a saved state."""
        stock, scale = self._stock, self._scale
        put_back(arrays, {"policy": stock.policy}, stock.policy.optimizer)
        self._games.load(arrays["games"].tobytes())
        scale.ret_rms.mean, scale.ret_rms.var, scale.ret_rms.count = arrays["scale"]
        scale.returns = arrays["discounted"]
        stock._last_obs = arrays["seen"]  # noqa: SLF001
        stock._last_episode_starts = arrays["begun"]  # noqa: SLF001
        self.updates, stock.num_timesteps = about["updates"], about["decisions"]


def _update_seed(seed: int, updates: int) -> int:
    """Return the seed of an update; with one for each, no generator's state has to be saved."""
    return int(np.random.SeedSequence([seed, updates]).generate_state(1)[0])


def _linears(module: torch.nn.Module) -> list[torch.nn.Linear]:
    return [part for part in module.modules() if isinstance(part, torch.nn.Linear)]
