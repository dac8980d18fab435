"""The games with the interface of pgx, for code that is written for it.

    from fiveup_env.jax.pgx import FiveUp

    env = FiveUp("five_up", players=4, restart=True)

With `restart`, a step that ends an episode starts the next one, and deals only to the games that
need it; `pgx.experimental.auto_reset` would begin a game in every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from fiveup_env.errors import MissingExtraError
from fiveup_env.jax import env as ours

try:
    from pgx import core
except ModuleNotFoundError:
    raise MissingExtraError("this interface needs pgx: pip install pgx") from None

if TYPE_CHECKING:
    from jax import Array
    from typing_extensions import Unpack

    from fiveup_env.jax.env import Options
    from fiveup_env.rules.fields import Rules


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class State(core.State):  # type: ignore[misc]
    """A state of pgx, with ours; pgx wants an underscore before all names but its own."""

    current_player: Array
    observation: Array
    rewards: Array
    terminated: Array
    truncated: Array
    legal_action_mask: Array
    _step_count: Array
    _state: ours.State

    @property
    def env_id(self) -> str:
        """The name of the game."""
        return "five_up"

    def to_svg(self, **_: Any) -> str:
        """Raise NotImplementedError: the order of plays, which a picture shows, is not kept."""
        raise NotImplementedError("a game in JAX has no picture; play its moves in a Game")


class FiveUp(core.Env):  # type: ignore[misc]
    """A game as `pgx.core.Env`; the arguments are those of `fiveup_env.jax.FiveUp`."""

    def __init__(
        self, rules: str | Rules = "five_up", players: int | None = None, **options: Unpack[Options]
    ) -> None:
        super().__init__()
        self._env = ours.FiveUp(rules, players, **options)

    def init(self, key: Array) -> State:
        """Start the game that a key names."""
        return _wrapped(self._env.init(key), jnp.zeros((), jnp.int32))

    def step(self, state: State, action: Array, key: Array | None = None) -> State:
        """Make a move; an illegal one ends the episode. The key is not used."""
        del key
        return _wrapped(self._env.step(state._state, action), state._step_count + 1)  # noqa: SLF001

    def observe(self, state: State, player_id: Array | None = None) -> Array:
        """Return the row of a seat, or of the seat to move."""
        return self._env.observe(state._state, player_id)  # noqa: SLF001

    _init = init
    _step = step
    _observe = observe

    @property
    def id(self) -> str:
        """The name of the game."""
        return "five_up"

    @property
    def version(self) -> str:
        """The version of rules, rows and rewards."""
        return "v1"

    @property
    def num_players(self) -> int:
        """The number of players."""
        return self._env.num_players


def _wrapped(state: ours.State, steps: Array) -> State:
    return State(
        state.current_player,
        state.observation,
        state.rewards,
        state.terminated,
        state.truncated,
        state.legal_action_mask,
        steps,
        state,
    )
