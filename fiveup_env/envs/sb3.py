"""A native Stable-Baselines3 `VecEnv` over `Batch`: one process, no pickling, batched opponents.

    env = FiveUpVecEnv(games=256, opponents="random")
    MaskablePPO("MlpPolicy", env).learn(1_000_000)

The learner has one seat in each game. A step is its move and everything up to its next turn.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from gymnasium.spaces import Box, Discrete
from stable_baselines3.common.vec_env import VecEnv

from fiveup_env.encoders import bounds
from fiveup_env.envs.batch import Batch
from fiveup_env.errors import OptionError, SeatError
from fiveup_env.opponents.registry import get_agent
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stable_baselines3.common.vec_env.base_vec_env import (
        VecEnvIndices,
        VecEnvObs,
        VecEnvStepReturn,
    )

    from fiveup_env.opponents.agent import Agent


KEPT: Final = ("_seats", "_before_first_turn", "_returns", "_lengths")  # in a saved state


class FiveUpVecEnv(VecEnv):
    """Games with one learner each: int8 observations, float32 rewards, and bool masks in arrays.

    `infos` has the `episode` and the `terminal_observation` of every game whose episode ended, and
    in `TimeLimit.truncated` whether it was cut off; the next episode has started.
    """

    render_mode = None

    def __init__(
        self,
        games: int = 256,
        rules: str | Any = "five_up",
        players: int | Sequence[int] | None = None,
        *,
        opponents: str | Agent = "random",
        seat: int | None = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        """Make the games, with the learner at `seat`, or at the next seat in every episode.

        `opponents` is an agent or its spec; the other options are those of `Batch`. Raises
        SeatError if a game does not have the seat, AgentError if there is no such agent, and
        otherwise as `Batch` does.
        """
        self.batch = Batch(games, rules, players, seed=seed, **options)
        fewest = min(one.players for one in self.batch.rules)
        if seat is not None and seat not in range(fewest):
            raise SeatError(
                f"seat must be from 0 to {fewest - 1} to exist in every game, not {seat!r}"
            )
        low, high = bounds(self.batch.encoder)
        super().__init__(games, Box(low, high, dtype=np.int8), Discrete(ACTION_COUNT))
        self._opponents = get_agent(opponents)
        self._fixed_seat = seat
        self._seats = np.full(games, seat or 0)
        self._players = self.batch.states["public"]["rules"]["players"].astype(np.int64)
        self._random = np.random.default_rng(seed)
        self._actions = np.zeros(games, np.int64)
        self._before_first_turn = np.zeros(games)
        self._returns, self._lengths = np.zeros(games), np.zeros(games, np.int64)

    def action_masks(self) -> np.ndarray:
        """Return the legal actions of every learner: bool, games x 121."""
        return self.batch.mask.astype(np.bool_)

    def reset(self) -> VecEnvObs:
        """Start an episode in every game; return what the learners observe at their first turns."""
        seed = self._seeds[0] if self._seeds else None
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._reset_seeds()
        self._reset_options()
        self.batch.reset(seed)
        self._seats[:] = 0 if self._fixed_seat is None else self._fixed_seat
        if self._fixed_seat is None:
            self._seats[:] = np.arange(len(self.batch)) % self._players
        self._returns[:], self._lengths[:], self._before_first_turn[:] = 0, 0, 0
        self._others_move(np.zeros(self.num_envs), np.ones(self.num_envs, np.bool_), {})
        self.batch.observe()
        return self.batch.observation.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the learners' moves for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Make the learners' moves, and let the others move up to the learners' next turns.

        Raises IllegalMoveError if a learner's action is illegal.
        """
        everywhere = np.arange(self.num_envs)
        rewards, over = self._before_first_turn.copy(), np.zeros(self.num_envs, np.bool_)
        self._before_first_turn[:] = 0
        ends: dict[int, dict[str, Any]] = {}
        self.batch.advance(self._actions, everywhere)
        self._collect(everywhere, rewards, over, ends)
        self._others_move(rewards, over, ends)
        self.batch.observe()
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game, end in ends.items():
            episode = {"r": float(self._returns[game]), "l": int(self._lengths[game])}
            infos[game] = {**end, "episode": episode}
            self._returns[game], self._lengths[game] = 0, 0
        return self.batch.observation.copy(), rewards.astype(np.float32), over, infos

    def save(self) -> bytes:
        """Return the whole state of the games, for `load`."""
        content = io.BytesIO()
        chance = json.dumps(self._random.bit_generator.state)
        np.savez(
            content,
            chance=np.frombuffer(chance.encode(), np.uint8),
            batch=np.frombuffer(self.batch.save(), np.uint8),
            **{name: getattr(self, name) for name in KEPT},
        )
        return content.getvalue()

    def load(self, state: bytes) -> None:
        """Continue from a state that games with the same options have saved.

        Raises OptionError if the state is damaged or of other games.
        """
        try:
            with np.load(io.BytesIO(state), allow_pickle=False) as saved:
                chance, batch = json.loads(saved["chance"].tobytes()), saved["batch"].tobytes()
                kept = {name: saved[name] for name in KEPT}
        except (ValueError, KeyError, OSError, EOFError) as error:
            raise OptionError(f"not the saved state of a FiveUpVecEnv: {error}") from None
        self.batch.load(batch)
        self._random.bit_generator.state = chance
        for name, array in kept.items():
            getattr(self, name)[:] = array

    def _others_move(self, rewards: np.ndarray, over: np.ndarray, ends: dict) -> None:
        """Let the opponents move in every game until it is the learner's turn."""
        while len(waiting := np.flatnonzero(self.batch.turn != self._seats)):
            views = self.batch.views(waiting)
            chosen = self._opponents(views, self.batch.mask[waiting], self._random)
            self.batch.advance(chosen, waiting)
            self._collect(waiting, rewards, over, ends)

    def _collect(
        self, moved: np.ndarray, rewards: np.ndarray, over: np.ndarray, ends: dict
    ) -> None:
        """Add what a move brought the learners, and start the next episode where one has ended.

        Once a learner's episode is over, what the others do before its first turn in the next
        episode counts towards its first step there.
        """
        batch = self.batch
        brought = batch.reward[moved, self._seats[moved]]
        rewards[moved] += np.where(over[moved], 0, brought)
        self._before_first_turn[moved] += np.where(over[moved], brought, 0)
        ended = moved[(batch.done | batch.truncated)[moved]]
        learners_ended = ended[~over[ended]]
        if len(learners_ended):
            last = batch.observations_of(learners_ended, self._seats[learners_ended])
            for game, observation in zip(learners_ended.tolist(), last, strict=True):
                cut = bool(batch.truncated[game])
                ends[game] = {"terminal_observation": observation, "TimeLimit.truncated": cut}
        over[ended] = True
        if len(ended):
            self._before_first_turn[ended] = 0
            batch.begin(ended)
            if self._fixed_seat is None:
                self._seats[ended] = (self._seats[ended] + 1) % self._players[ended]

    # The rest of the interface that Stable-Baselines3 requires

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
