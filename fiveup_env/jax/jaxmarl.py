"""The games with the interface of JaxMARL: all seats act at once, and one of them counts.

    from fiveup_env.jax.jaxmarl import FiveUpMARL

    env = FiveUpMARL("five_up", players=4)
    observations, state = env.reset(jax.random.key(0))

An agent whose turn it is not has one action, PASS, which does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp

from fiveup_env.errors import MissingExtraError
from fiveup_env.jax.env import FiveUp
from fiveup_env.rules.actions import ACTION_COUNT, PASS

try:
    from jaxmarl.environments import spaces
    from jaxmarl.environments.multi_agent_env import MultiAgentEnv
except ModuleNotFoundError as error:
    raise MissingExtraError("this interface needs JaxMARL: pip install jaxmarl", error) from None

if TYPE_CHECKING:
    from jax import Array
    from typing_extensions import Unpack

    from fiveup_env.jax.env import Options, State
    from fiveup_env.rules.fields import Rules

_PASSES: Final = jnp.arange(ACTION_COUNT) == PASS


class FiveUpMARL(MultiAgentEnv):  # type: ignore[misc]
    """A game for several learners; the arguments are those of `fiveup_env.jax.FiveUp`.

    `step` starts the next episode where one ends, without a reset in every step; so `restart` is
    True, whatever is given.
    """

    def __init__(
        self, rules: str | Rules = "five_up", players: int | None = None, **options: Unpack[Options]
    ) -> None:
        self._env = FiveUp(rules, players, **(options | {"restart": True}))
        super().__init__(self._env.num_players)
        row = spaces.Box(-128, 127, self._env.observation_shape, jnp.int8)
        self.observation_spaces = dict.fromkeys(self.agents, row)
        self.action_spaces = dict.fromkeys(self.agents, spaces.Discrete(ACTION_COUNT))

    def reset(self, key: Array) -> tuple[dict[str, Array], State]:
        """Start the game that a key names."""
        state = self._env.init(key)
        return self.get_obs(state), state

    def step(
        self, key: Array, state: State, actions: dict[str, Array], reset_state: State | None = None
    ) -> tuple[Any, State, dict[str, Array], dict[str, Array], dict[str, Array]]:
        """Make the move of the seat to move.

        Args:
            key: Not used.
            state: The state.
            actions: An action for every agent.
            reset_state: The state after an episode that ends, in place of the next of its stream.
        """
        del key
        chosen = jnp.stack([actions[agent] for agent in self.agents])
        after = self._env.step(state, chosen[state.current_player])
        over = after.terminated | after.truncated
        rewards = dict(zip(self.agents, after.rewards, strict=True))
        dones = dict.fromkeys([*self.agents, "__all__"], over)
        infos = {"truncated": after.truncated}
        if reset_state is not None:
            after = jax.tree.map(lambda new, old: jnp.where(over, new, old), reset_state, after)
        return self.get_obs(after), after, rewards, dones, infos

    step_env = step

    def get_obs(self, state: State) -> dict[str, Array]:
        """Return every agent's row."""
        seats = jnp.arange(self.num_agents)
        rows = jax.vmap(self._env.observe, (None, 0))(state, seats)
        return dict(zip(self.agents, rows, strict=True))

    def get_avail_actions(self, state: State) -> dict[str, Array]:
        """Return every agent's legal actions."""
        return {
            agent: jnp.where(state.current_player == seat, state.legal_action_mask, _PASSES)
            for seat, agent in enumerate(self.agents)
        }
