"""A native Stable-Baselines3 `VecEnv` over `Batch`: one process, no pickling, batched opponents.

    env = FiveUpVecEnv(256, opponents="random")
    scaling = {"features_extractor_class": ScalingExtractor}
    MaskablePPO("MlpPolicy", env, policy_kwargs=scaling).learn(1_000_000)

The learner has one seat in each game. A step is its move and everything up to its next turn. The
entries of a row are of very different sizes. Either the games scale them for a network, with
`FiveUpVecEnv(scaled=True)`, or the model does, with `ScalingExtractor`: then it plays on the rows
of any interface, and its buffer holds int8 (with Stable-Baselines3 2.7.1 or later).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.spaces import Dict

from fiveup_env.encoders import factors_of, get_encoder
from fiveup_env.envs.episodes import Results
from fiveup_env.envs.rows import Rows
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.errors import MissingExtraError, OptionError, UnexpectedOptionError
from fiveup_env.opponents.networks.statistics import Statistics, write_statistics

try:
    import torch
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from stable_baselines3.common.vec_env import VecEnv, unwrap_vec_normalize
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "Stable-Baselines3 is needed: pip install 'fiveup-env[sb3]'",
        error,
    ) from None

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from gymnasium import Space
    from stable_baselines3.common.vec_env.base_vec_env import (
        VecEnvIndices,
        VecEnvObs,
        VecEnvStepReturn,
    )
    from typing_extensions import Unpack

    from fiveup_env.encoders import Encoder
    from fiveup_env.envs.batch import Batch
    from fiveup_env.envs.opponents import OpponentChoice
    from fiveup_env.envs.vector import VectorOptions
    from fiveup_env.rules.fields import Rules


class OneProcess(VecEnv):
    """What Stable-Baselines3 requires of games that all live in this process."""

    render_mode = None

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def has_attr(self, attr_name: str) -> bool:
        """Return whether the games have an attribute."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute, which all games share, once for each game."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of all games."""
        del indices
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Call a method that returns an entry for each game, and return those of some games."""
        entries = getattr(self, method_name)(*args, **kwargs)
        return [entries[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each game: none is wrapped in anything."""
        del wrapper_class
        return [False for _ in self._get_indices(indices)]


class FiveUpVecEnv(OneProcess):
    """Games with one learner each: observations, float32 rewards, and bool masks in arrays.

    Observations are int8, or float32 with `scaled=True`. Where an episode ended, the next one has
    started, and `infos` has its `terminal_observation`, in `TimeLimit.truncated` whether it was cut
    off, and how it ended: `winner` (a side, or -1), `scores` and `ended`. Wrap it in
    Stable-Baselines3's `VecMonitor` for statistics of episodes.

    Args:
        num_envs: The number of games.
        rules: By which rules, as `FiveUpVectorEnv` takes them.
        players: How many play, likewise.
        **options: Those of `FiveUpVectorEnv`.

    Attributes:
        batch: the games.

    Raises:
        FiveUpError: As `FiveUpVectorEnv` does.
    """

    def __init__(
        self,
        num_envs: int = 256,
        rules: str | Rules | Sequence[str | Rules] = "five_up",
        players: int | Sequence[int] | None = None,
        **options: Unpack[VectorOptions],
    ) -> None:
        """Make the games; `reset` deals them."""
        if "mask" in options:
            raise UnexpectedOptionError(
                "FiveUpVecEnv has no option 'mask': MaskablePPO asks for action_masks()"
            )
        self._envs = FiveUpVectorEnv(num_envs, rules, players, autoreset_mode="SameStep", **options)
        super().__init__(
            self._envs.num_envs, self._envs.single_observation_space, self._envs.single_action_space
        )
        self._actions = np.zeros(self.num_envs, np.int64)

    @property
    def batch(self) -> Batch:
        """The games."""
        return self._envs.batch

    def action_masks(self) -> np.ndarray:
        """Return the legal actions of every learner: bool, [num_envs, 121]."""
        return self._envs.action_masks()

    def reset(self) -> VecEnvObs:
        """Start an episode in every game; return what the learners observe at their first turns.

        After `seed(s)` the games start anew from that seed; otherwise they start from the seed that
        they were made with, and later go on. The options `deal` and `game` of `set_options` name
        the deal of a game, or a `Game` to continue, for all games or for none.
        """
        seed = self._seeds[0] if self._seeds else None
        given = {
            f"{name}s": [options.get(name) for options in self._options]
            for name in ("deal", "game")
            if any(name in options for options in self._options)
        }
        self._reset_seeds()
        self._reset_options()
        return self._envs.reset(seed=seed, options=given)[0]

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the learners' moves for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Make the learners' moves, and let the others move up to the learners' next turns.

        Raises IllegalMoveError if a learner's action is illegal, and then changes nothing.
        """
        observations, rewards, terminated, truncated, info = self._envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        over = terminated | truncated
        for game in np.flatnonzero(over).tolist():
            results = Results(*(info["final_info"][name] for name in Results._fields))
            infos[game] = {
                "terminal_observation": info["final_obs"][game],
                "TimeLimit.truncated": bool(truncated[game]),
                **results.of(game),
            }
        return observations, rewards.astype(np.float32), over, infos

    def set_opponents(self, opponents: OpponentChoice) -> None:
        """Play against other opponents, as `FiveUpVectorEnv.set_opponents` does."""
        self._envs.set_opponents(opponents)

    def save(self) -> bytes:
        """Return the whole state of the games, but for the opponents, for `load`."""
        return self._envs.save()

    def load(self, state: bytes) -> None:
        """Continue from a state that games with the same options have saved.

        Raises as `FiveUpVectorEnv.load` does.
        """
        self._envs.load(state)


class ScalingExtractor(BaseFeaturesExtractor):
    """Scales rows of int8 for a network, by the factors that the project's own networks use.

    The factors are saved with the model, so it plays on rows as the environments write them.
    """

    factors: torch.Tensor

    def __init__(self, observation_space: Space[Any], encoder: str | Encoder = "flat") -> None:
        """Take the factors of an encoder; raise OptionError if the observations are not its rows.

        Another encoder than `flat` is named in `features_extractor_kwargs`.
        """
        chosen = get_encoder(encoder)
        rows = Rows(chosen, scaled=False).space()
        if observation_space != rows:
            raise OptionError(
                f"ScalingExtractor takes rows of {chosen.name} as int8, not {observation_space}: "
                f"name their encoder in features_extractor_kwargs, and leave out scaled=True"
            )
        super().__init__(observation_space, rows.shape[0])
        self.register_buffer("factors", torch.from_numpy(factors_of(chosen.pieces)))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the scaled rows."""
        return observations * self.factors


def save_statistics(env: VecEnv, path: str | os.PathLike[str]) -> None:
    """Write the statistics of `VecNormalize` beside the zip file of a model, as plain numbers.

    `sb3:PATH` needs them to play the model; `VecNormalize.save` writes a pickle, which nobody else
    should load. Call this after each `model.save`, before anything is learnt.

    Args:
        env: The `VecNormalize` in which the model was trained, or what wraps it.
        path: The zip file that `model.save` has written.

    Raises:
        OptionError: If there is no `VecNormalize`, or its observations are not rows.
        PolicyError: If there is no such file.
    """
    normalize = unwrap_vec_normalize(env)
    if normalize is None or isinstance(normalize.observation_space, Dict):
        raise OptionError(f"statistics are those of a VecNormalize of rows, not of {env}")
    if normalize.norm_obs:
        rms: Any = normalize.obs_rms
        deviation = np.sqrt(rms.var + normalize.epsilon)
        statistics = Statistics(rms.mean, deviation, float(normalize.clip_obs))
    else:
        zeros = np.zeros(normalize.observation_space.shape or ())
        statistics = Statistics(zeros, zeros + 1, float(np.finfo(np.float32).max))
    write_statistics(statistics, path)
