"""The games with the interface of gymnax 1.0: one learner, and opponents inside the step.

    from fiveup_env.jax.gymnax import FiveUpGymnax

    env = FiveUpGymnax("five_up", players=4, opponent="partner")
    row, state = env.reset(jax.random.key(0))
    row, state, reward, terminated, truncated, info = env.step(key, state, action)

`info` has the legal actions of the next decision, and the row at the end of an episode. A reward is
everything up to the learner's next turn; what happens before its first turn counts towards its
first step. An episode that ends before that turn is followed by the next, and nobody hears of it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from fiveup_env.checks import whole
from fiveup_env.errors import MissingExtraError, SeatError, shown
from fiveup_env.jax.env import FiveUp
from fiveup_env.jax.ladder import agent
from fiveup_env.jax.values import values_of
from fiveup_env.rules.actions import ACTION_COUNT

try:
    from gymnax.environments import spaces
    from gymnax.environments.environment import Environment, EnvParams
except ModuleNotFoundError as error:
    raise MissingExtraError("this interface needs gymnax 1.0: pip install gymnax", error) from None

if TYPE_CHECKING:
    from collections.abc import Callable

    from jax import Array
    from typing_extensions import Unpack

    from fiveup_env.jax.env import Options, State
    from fiveup_env.jax.state import Game
    from fiveup_env.rules.fields import Rules

    Opponent: TypeAlias = str | Callable[[Game, Array], Array]


class EnvState(NamedTuple):
    """The state of a learner's environment."""

    time: Array  # the learner's steps in this episode
    state: State
    before: Array  # what the others' moves before the learner's first turn brought it


class _Round(NamedTuple):
    """A learner's step, as far as it has come."""

    key: Array
    state: State
    reward: Array
    before: Array
    terminated: Array
    truncated: Array
    final: Array


class FiveUpGymnax(Environment):  # type: ignore[misc]
    """A game for one learner; further arguments are those of `fiveup_env.jax.FiveUp`.

    Args:
        rules: The name of a preset, or a `Rules`.
        players: 2 to 5; None means as many as the rules have.
        seat: The learner's seat.
        opponent: Who sits in the other seats: a rung of the ladder, or a function of a game and a
            key, uint32[2], that returns a legal action.
        **options: As `fiveup_env.jax.FiveUp` has them; `restart` is True, whatever is given.

    Raises:
        SeatError: If there is no such seat.
        AgentError: If there is no such rung.
    """

    def __init__(
        self,
        rules: str | Rules = "five_up",
        players: int | None = None,
        *,
        seat: int = 0,
        opponent: Opponent = "greedy",
        **options: Unpack[Options],
    ) -> None:
        self._env = FiveUp(rules, players, **(options | {"restart": True}))
        if whole(seat, 0, self._env.num_players - 1) is None:
            raise SeatError(
                f"seat must be from 0 to {self._env.num_players - 1}, not {shown(seat)}"
            )
        self._seat = seat
        values = values_of(self._env.rules)
        self._opponent = agent(opponent, values) if isinstance(opponent, str) else opponent

    @partial(jax.jit, static_argnames=("self",))
    def reset(self, key: Array, params: EnvParams | None = None) -> tuple[Array, EnvState]:
        """Start the game that a key names, and play up to the learner's first turn."""
        del params
        state = self._env.init(key)
        yes, zero = jnp.ones((), bool), jnp.zeros((), jnp.float32)
        bits = jax.random.bits(key, (2,), jnp.uint32)
        begun = _Round(bits, state, zero, zero, yes, yes, state.observation)
        turn = self._to_own_turn(begun)
        return turn.state.observation, EnvState(jnp.zeros((), jnp.int32), turn.state, turn.before)

    @partial(jax.jit, static_argnames=("self",))
    def step(
        self, key: Array, state: EnvState, action: Any, params: EnvParams | None = None
    ) -> tuple[Array, EnvState, Array, Array, Array, dict[str, Array]]:
        """Make the learner's move, and the others' up to its next turn."""
        del params
        after = self._env.step(state.state, action)
        begun = _Round(
            jax.random.bits(key, (2,), jnp.uint32),
            after,
            state.before + after.rewards[self._seat],
            jnp.zeros((), jnp.float32),
            after.terminated,
            after.truncated,
            self._env.observe_final(after, self._seat),
        )
        turn = self._to_own_turn(begun)
        over = turn.terminated | turn.truncated
        time = jnp.where(over, 0, state.time + 1)
        info = {
            "legal_action_mask": turn.state.legal_action_mask,
            "final_observation": turn.final,
            "terminated": turn.terminated,
            "truncated": turn.truncated,
        }
        upcoming = EnvState(time, turn.state, turn.before)
        row = turn.state.observation
        return row, upcoming, turn.reward, turn.terminated, turn.truncated, info

    step_env = step
    reset_env = reset

    def _to_own_turn(self, turn: _Round) -> _Round:
        """Move the others until it is the learner's turn."""

        def move(turn: _Round) -> _Round:
            key = turn.key + jnp.uint32(1)
            after = self._env.step(turn.state, self._opponent(turn.state.game, key))
            was_over = turn.terminated | turn.truncated
            ends = after.terminated | after.truncated
            brought = after.rewards[self._seat]
            before = jnp.where(was_over & ~ends, turn.before + brought, 0)
            return _Round(
                key,
                after,
                jnp.where(was_over, turn.reward, turn.reward + brought),
                before,
                jnp.where(was_over, turn.terminated, after.terminated),
                jnp.where(was_over, turn.truncated, after.truncated),
                jnp.where(was_over, turn.final, self._env.observe_final(after, self._seat)),
            )

        return lax.while_loop(lambda turn: turn.state.current_player != self._seat, move, turn)

    @property
    def num_actions(self) -> int:
        """The number of actions."""
        return ACTION_COUNT

    def action_space(self, params: EnvParams | None = None) -> spaces.Discrete:
        """Return the space of actions."""
        del params
        return spaces.Discrete(ACTION_COUNT)

    def observation_space(self, params: EnvParams | None = None) -> spaces.Box:
        """Return the space of rows."""
        del params
        return spaces.Box(-128, 127, self._env.observation_shape, jnp.int8)
