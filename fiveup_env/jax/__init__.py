"""The same games in JAX: pure functions, for learners that live on the device with their games.

    import jax
    from fiveup_env.jax import FiveUp

    env = FiveUp("five_up", players=4, restart=True)
    state = jax.vmap(env.init)(jax.random.split(jax.random.key(0), 4096))
    step = jax.jit(jax.vmap(env.step))
    state = step(state, state.legal_action_mask.argmax(-1))

Deals, masks, rows and rewards are those of the engine, bit for bit; tests/jax compares them move by
move. Beneath `FiveUp` are functions of one game that take the rules as data: Python ints, which are
compiled in, or arrays, so that every game of a batch has rules of its own.

Everything is int32, uint32 or int8, apart from rewards (float32) and flags (bool).
"""

from fiveup_env.errors import MissingExtraError

try:
    import jax as _jax  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingExtraError(
        "the games in JAX need jax: pip install 'fiveup-env[jax]'", error
    ) from None

from fiveup_env.jax.env import FiveUp, State
from fiveup_env.jax.episodes import StepResult, init, init_stream, step
from fiveup_env.jax.legality import legal
from fiveup_env.jax.rows import observe, truth
from fiveup_env.jax.state import Game
from fiveup_env.jax.values import RuleValues, stack, values_of

__all__ = [
    "FiveUp",
    "Game",
    "RuleValues",
    "State",
    "StepResult",
    "init",
    "init_stream",
    "legal",
    "observe",
    "stack",
    "step",
    "truth",
    "values_of",
]
