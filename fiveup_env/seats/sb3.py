"""All seats learn in Stable-Baselines3: games in which one policy moves every seat, and a buffer.

    games = SelfPlayVecEnv(Batch(256, players=4, reward="margin", scaled=True))
    model = MaskablePPO("MlpPolicy", games, rollout_buffer_class=SeatsRolloutBuffer)
    model.learn(1_000_000)

A step of the games is a move in each, so observations, rewards and ends of a step are of different
seats. The buffer puts them together seat by seat; without it, a stock learner takes the next seat's
position for what the mover's action has led to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.spaces import Discrete

from fiveup_env.envs.sb3 import OneProcess
from fiveup_env.errors import MissingExtraError, OptionError
from fiveup_env.rules.actions import ACTION_COUNT
from fiveup_env.seats.advantages import NOBODY
from fiveup_env.seats.trajectories import SeatTrajectories

try:
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
except ImportError as error:
    raise MissingExtraError(
        "sb3-contrib 2.7 or later is needed: pip install 'fiveup-env[sb3]'", error
    ) from None

if TYPE_CHECKING:
    from collections.abc import Generator

    import torch
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBufferSamples
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn

    from fiveup_env.envs.batch import Batch


class Moved(NamedTuple):
    """What the moves of a step brought.

    Attributes:
        seats: who moved [games].
        rewards: what the move brought each seat [games, players].
        terminated: whether it ended the episode [games].
        truncated: whether the episode was cut off after it [games].
    """

    seats: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


class MoversRewards(np.ndarray):
    """What each move brought whoever made it [games], and in `moved` all that the moves brought.

    It is how the rewards of all seats come to a buffer: a learner hands it on as it is.
    """

    moved: Moved


class SelfPlayVecEnv(OneProcess):
    """Games in which each step is a move of the seat whose turn it is, in every game.

    Where an episode ended, the next one has started, and `infos` says how it ended: `winner` (a
    side, or -1), `scores` and `ended`. The rewards are `MoversRewards`.

    Args:
        batch: The games.

    Attributes:
        batch: the games.
    """

    def __init__(self, batch: Batch) -> None:
        """Take the games; `reset` deals them."""
        super().__init__(len(batch), batch.observation_space(), Discrete(ACTION_COUNT))
        self.batch, self._actions = batch, np.zeros(len(batch), np.int64)

    def action_masks(self) -> np.ndarray:
        """Return the legal actions of the seats to move: bool, [num_envs, 121]."""
        return self.batch.action_mask.astype(np.bool_)

    def reset(self) -> VecEnvObs:
        """Start an episode in every game; after `seed(s)` from that seed."""
        self.batch.reset(self._seeds[0] if self._seeds else None)
        self._reset_seeds()
        self._reset_options()
        return self.batch.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the moves for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Make the moves.

        Raises IllegalMoveError if one is illegal, and then changes nothing.
        """
        batch, seats = self.batch, self.batch.turn.copy()
        batch.step(self._actions)
        kept = batch.reward.copy(), batch.terminated.copy(), batch.truncated.copy()
        rewards = kept[0][range(len(batch)), seats].view(MoversRewards)
        rewards.moved = Moved(seats, *kept)
        over = kept[1] | kept[2]
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        ended = np.flatnonzero(over)
        results = batch.final_results_of(ended)
        for k, game in enumerate(ended.tolist()):
            infos[game] = {"TimeLimit.truncated": bool(kept[2][game]), **results.of(k)}
        return batch.observation.copy(), rewards, over, infos


class SeatsRolloutBuffer(MaskableRolloutBuffer):
    """A buffer of decisions, each with the advantage from the trajectory of its own seat.

    It takes steps of games that give `MoversRewards`, such as `SelfPlayVecEnv`. Moves that were the
    only one allowed are not learnt from. Decisions that wait for their seat's next one are learnt
    from in the next rollout.
    """

    _window: SeatTrajectories | None = None

    def reset(self) -> None:
        """Begin a rollout; what an unfinished one has left is dropped."""
        if not self.full:
            self._window = None
        self.pos, self.full = 0, False

    def add(  # type: ignore[override]
        self,
        obs: np.ndarray,
        action: np.ndarray,
        reward: np.ndarray,
        episode_start: np.ndarray,
        value: torch.Tensor,
        log_prob: torch.Tensor,
        action_masks: np.ndarray | None = None,
    ) -> None:
        """Add a step of all games.

        Raises OptionError if the rewards are not those of all seats.
        """
        moved: Moved | None = getattr(reward, "moved", None)
        if moved is None or action_masks is None:
            raise OptionError(
                "SeatsRolloutBuffer needs masks and the rewards of all seats: those of "
                "SelfPlayVecEnv, in no wrapper that changes rewards"
            )
        if self._window is None:
            players = moved.rewards.shape[1]
            self._window = SeatTrajectories(self.buffer_size, self.n_envs, players)
        self.mask_dims = action_masks.shape[1]
        self._window.cut(np.asarray(episode_start, np.bool_))
        self._window.decide(
            np.where(action_masks.sum(1) > 1, moved.seats, NOBODY),
            observations=obs,
            actions=action,
            values=value.flatten().cpu().numpy(),
            log_probs=log_prob.cpu().numpy(),
            action_masks=action_masks,
        )
        self._window.reward(moved.rewards, moved.terminated, moved.truncated)
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: np.ndarray) -> None:
        """Put the decisions together seat by seat; no seat's value is taken for another's."""
        del last_values, dones
        assert self._window
        decisions = self._window.take()
        advantages = decisions.advantages(decisions["values"], self.gamma, self.gae_lambda)
        known = decisions.known
        if known.sum() < 2:
            raise OptionError(
                f"n_steps={self.buffer_size} moves complete no two decisions, so they must be more"
            )
        for name, column in decisions.columns.items():
            setattr(self, name, column[known])
        self.advantages, self.returns = advantages[known], (advantages + decisions["values"])[known]

    def get(  # type: ignore[override]  # as it is in the class above
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Yield the decisions in a random order, in minibatches of about this size."""
        indices = np.random.permutation(len(self.actions))  # noqa: NPY002  as SB3 does, by its seed
        parts = max(1, round(len(indices) / (batch_size or len(indices))))
        yield from map(self._get_samples, np.array_split(indices, parts))
