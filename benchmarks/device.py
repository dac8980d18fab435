"""Measure the games in JAX on the accelerator that JAX finds: `python -m benchmarks.device`.

A step is a random legal action, the move, the next mask and the next row. All steps of a timing are
one program, which is compiled beforehand. Deals to the games in need and deals to all are measured
in turn in every round.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any, Final

import jax
import jax.numpy as jnp

from benchmarks.results import add_save, publish, ranged
from benchmarks.timing import add_anyway, quiet
from fiveup_env.jax import FiveUp
from fiveup_env.jax.episodes import PARTS

if TYPE_CHECKING:
    from fiveup_env.files import Json

SIZES: Final = (4_096, 16_384, 65_536, 262_144, 1_048_576)


class Measured:
    """The games of one size, played by one compiled program."""

    def __init__(self, games: int, steps: int, parts: int) -> None:
        env = FiveUp(restart=True, deal_parts=parts)

        def advance(state: Any, key: Any) -> tuple[Any, None]:
            ranks = jax.random.uniform(key, state.legal_action_mask.shape)
            actions = jnp.argmax(jnp.where(state.legal_action_mask, ranks, -1.0), axis=1)
            return jax.vmap(env.step)(state, actions), None

        def play(state: Any, key: Any) -> Any:
            return jax.lax.scan(advance, state, jax.random.split(key, steps))[0]

        self._made, self._key = games * steps, jax.random.key(0)
        start = jax.jit(jax.vmap(env.init_stream, (None, 0)))
        self._state = start(0, jnp.arange(games, dtype=jnp.uint32))
        self.bytes = sum(x.nbytes for x in jax.tree.leaves(self._state)) / games
        self.game_bytes = sum(x.nbytes for x in self._state.game) / games
        started = time.perf_counter()
        lowered = jax.jit(play, donate_argnums=0).lower(self._state, self._key)
        self._play = lowered.compile()
        self.compile_seconds = time.perf_counter() - started
        self.rate()  # the first steps all play first hands

    def rate(self) -> float:
        """Return the steps a second of one run."""
        self._key, key = jax.random.split(self._key)
        started = time.perf_counter()
        self._state = jax.block_until_ready(self._play(self._state, key))
        return self._made / (time.perf_counter() - started)


def measure(games: int, steps: int, rounds: int) -> Json:
    """Return the figures of one size."""
    in_need, to_all = Measured(games, steps, PARTS), Measured(games, steps, 0)
    pairs = [(in_need.rate(), to_all.rate()) for _ in range(rounds)]

    return {
        "games": {"value": games, "format": ",.0f"},
        "deals to those in need": ranged([a / 1e6 for a, _ in pairs], ".2f", "M steps/s"),
        "deals to all": ranged([b / 1e6 for _, b in pairs], ".2f", "M steps/s"),
        "compile": {"value": in_need.compile_seconds, "format": ".1f", "unit": "s"},
        "game": {"value": in_need.game_bytes, "format": ".0f", "unit": "bytes"},
        "state": {"value": in_need.bytes, "format": ".0f", "unit": "bytes"},
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    }


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="games in a batch")
    parser.add_argument("--steps", type=int, default=100, help="steps of every game in a timing")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=600, help="no size begins after these")
    add_anyway(parser)
    add_save(parser)
    options = parser.parse_args()
    rows: list[Json] = []
    started = time.monotonic()
    with quiet(anyway=options.anyway):
        for games in options.sizes:
            if time.monotonic() - started < options.seconds:
                rows.append(measure(games, options.steps, options.rounds))  # noqa: PERF401
        publish("device", keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
