"""Measure the games in JAX on the accelerator that JAX finds: `python -m benchmarks.device`.

A step is a random legal action, the move, the next mask and the next row. All steps of a timing are
one program, which is compiled beforehand. Deals to the games in need, deals to all, and with
`--pgx` games of pgx, which are reset automatically, are measured in turn in every round. Results of
a CPU are kept apart from those of an accelerator.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp

from agents.results import publish, ranged
from benchmarks.timing import ROUNDS, quiet, speed_options
from fiveup_env.jax import FiveUp
from fiveup_env.jax.episodes import PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.files import Json

SIZES: Final = (4_096, 16_384, 65_536, 262_144, 1_048_576)


class Measured:
    """The games of one size, played by one compiled program."""

    def __init__(self, games: int, steps: int, start: Any, step: Any) -> None:
        """Compile the program.

        `start` takes an array of numbers and returns a state for each; `step` takes a state, an
        action and a key.
        """

        def advance(state: Any, key: Any) -> tuple[Any, Any]:
            for_actions, for_games = jax.random.split(key)
            number = jnp.cumsum(state.legal_action_mask, axis=1, dtype=jnp.int32)
            lot = jax.random.uniform(for_actions, (games, 1)) * number[:, -1:]
            actions = jnp.argmax(number > lot, axis=1)
            state = jax.vmap(step)(state, actions, jax.random.split(for_games, games))
            return state, state.observation.sum(dtype=jnp.int32)  # a row that is read is computed

        def play(state: Any, key: Any) -> Any:
            return jax.lax.scan(advance, state, jax.random.split(key, steps))

        self._made, self._key = games * steps, jax.random.key(0)
        self._state = jax.jit(start)(jnp.arange(games, dtype=jnp.uint32))
        self.bytes = sum(x.nbytes for x in jax.tree.leaves(self._state)) / games
        started = time.perf_counter()
        lowered = jax.jit(play, donate_argnums=0).lower(self._state, self._key)
        self._play = lowered.compile()
        self.compile_seconds = time.perf_counter() - started
        self.rate()  # the first steps all play first hands

    def rate(self) -> float:
        """Return the steps a second of one run."""
        self._key, key = jax.random.split(self._key)
        started = time.perf_counter()
        self._state, _ = jax.block_until_ready(self._play(self._state, key))
        return self._made / (time.perf_counter() - started)


def ours(games: int, steps: int, parts: int) -> Measured:
    """Return games of ours."""
    env = FiveUp(restart=True, deal_parts=parts)
    start = jax.vmap(partial(env.init_stream, 0))
    return Measured(games, steps, start, lambda state, action, _: env.step(state, action))


def of_pgx(name: str, games: int, steps: int) -> Measured:
    """Return games of pgx."""
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)

    def start(numbers: Any) -> Any:
        return jax.vmap(env.init)(jax.vmap(jax.random.PRNGKey)(numbers))

    return Measured(games, steps, start, auto_reset(env.step, env.init))


def measure(games: int, steps: int, names: Sequence[str]) -> Json:
    """Return the figures of one size."""
    in_need, to_all = ours(games, steps, PARTS), ours(games, steps, 0)
    others = [of_pgx(name, games, steps) for name in names]
    rates = [[side.rate() for side in (in_need, to_all, *others)] for _ in range(ROUNDS)]
    row: Json = {
        "games": {"value": games, "format": ",.0f"},
        "deals to those in need": ranged([a / 1e6 for a, *_ in rates], ".2f", "M steps/s"),
        "deals to all": ranged([b / 1e6 for _, b, *_ in rates], ".2f", "M steps/s"),
        "compile": {"value": in_need.compile_seconds, "format": ".1f", "unit": "s"},
        "state": {"value": in_need.bytes, "format": ".0f", "unit": "bytes"},
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    }
    for k, name in enumerate(names, 2):
        row[f"times pgx's {name}"] = ranged([a[0] / a[k] for a in rates], ".2f")
    return row


def main() -> None:
    """Measure and print the table."""
    parser = speed_options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="games in a batch")
    parser.add_argument("--steps", type=int, default=100, help="steps of every game in a timing")
    parser.add_argument("--pgx", nargs="+", default=[], metavar="NAME", help="games of pgx")
    options = parser.parse_args()
    with quiet(anyway=options.anyway):
        rows = [measure(games, options.steps, options.pgx) for games in options.sizes]
        name = "jax-cpu" if jax.default_backend() == "cpu" else "device"
        publish(name, keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
