"""Games dealt again from their seeds, in which the actions of their rows are played again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agents.data.games import MOST_HANDS
from agents.data.plan import DataError
from fiveup_env.envs.aec import raw_env
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents.data.games import Columns
    from agents.data.plan import Plan
    from fiveup_env.envs.episodes import RewardName


class Turn(NamedTuple):
    """A move of a game: what its seat saw, what it did, and what that brought each seat."""

    view: np.ndarray
    observation: np.ndarray
    mask: np.ndarray
    action: int
    rewards: np.ndarray


class Replay:
    """A game that is played again, through the PettingZoo environment."""

    def __init__(self, plan: Plan, rows: Columns, reward: RewardName) -> None:
        """Deal the game of some rows, all of the same one."""
        self.seed, self._actions = int(rows["seed"][0]), rows["action"].tolist()
        self.rules = Rules.preset(str(rows["preset"][0]), int(rows["players"][0]))
        self.env = raw_env(self.rules, encoder=plan.encoder, reward=reward, max_hands=MOST_HANDS)
        self.env.reset(self.seed)

    @property
    def truncated(self) -> bool:
        """Whether the game was cut off."""
        return any(self.env.truncations.values())

    def turns(self) -> Iterator[Turn]:
        """Yield every move; raise DataError if the rows are not all decisions of the game."""
        env, left = self.env, iter(self._actions)
        while not (any(env.terminations.values()) or self.truncated):
            name = env.agent_selection
            seen, view = env.observe(name), env.view(name)
            mask = seen["action_mask"].copy()
            action = int(mask.argmax()) if mask.sum() == 1 else next(left, -1)
            if action < 0 or not mask[action]:
                raise DataError(f"game {self.seed}: a decision has no row with a legal action")
            observation = seen["observation"].copy()
            env.step(action)
            rewards = np.array([env.rewards[agent] for agent in env.possible_agents])
            yield Turn(view, observation, mask, action, rewards)
        if more := len(list(left)):
            raise DataError(f"game {self.seed}: it ends before the last {more} of its rows")
