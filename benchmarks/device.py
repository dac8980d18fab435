"""Measure the games in JAX on whatever device there is: `python -m benchmarks.device`.

Random legal moves, with masks and rows, in one program of many steps; by the number of games, and
by whether every step deals to all games or to those in need.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from statistics import median
from typing import Any, Final

import jax
import jax.numpy as jnp

from benchmarks.results import add_save, publish
from fiveup_env.jax import FiveUp

SIZES: Final = (4096, 65_536, 262_144, 1_048_576)
STEPS: Final = 64  # in one program
ROUNDS: Final = 5
DEALS: Final = {"those in need": 8, "all": 0}  # deal_parts


def random_moves(env: FiveUp, state: Any, key: Any) -> Any:
    """Return the states after STEPS random legal moves in every game."""

    def move(state: Any, key: Any) -> tuple[Any, None]:
        draws = jax.random.bits(key, state.legal_action_mask.shape, "uint16")
        action = jnp.where(state.legal_action_mask, draws.astype(jnp.int32), -1).argmax(-1)
        return jax.vmap(env.step)(state, action.astype(jnp.int32)), None

    return jax.lax.scan(move, state, jax.random.split(key, STEPS))[0]


def measure(size: int, parts: int) -> dict[str, float]:
    """Return the seconds of compiling, and of a step of all games."""
    env = FiveUp("five_up", players=4, restart=True, deal_parts=parts)
    start = jax.jit(jax.vmap(env.init_stream, (None, 0)))
    state = jax.block_until_ready(start(0, jnp.arange(size, dtype=jnp.uint32)))
    play = jax.jit(partial(random_moves, env), donate_argnums=0)
    began = time.perf_counter()
    compiled = play.lower(state, jax.random.key(0)).compile()
    compiling = time.perf_counter() - began
    seconds = []
    for k in range(ROUNDS + 1):
        began = time.perf_counter()
        state = jax.block_until_ready(compiled(state, jax.random.key(k)))
        seconds.append((time.perf_counter() - began) / STEPS)
    held = sum(leaf.nbytes for leaf in jax.tree.leaves(state)) / size
    game = sum(leaf.nbytes for leaf in jax.tree.leaves(state.game)) / size
    return {"compiling": compiling, "step": median(seconds[1:]), "bytes": held, "game": game}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of games")
    add_save(parser)
    options = parser.parse_args()
    (device, *others) = jax.devices()
    rows = []
    for size in options.sizes:
        for deals, parts in DEALS.items():
            found = measure(size, parts)
            rows.append(
                {
                    "device": f"{device.device_kind}, {1 + len(others)} in all",
                    "games": {"value": size, "format": ","},
                    "deals to": deals,
                    "million steps/s": {"value": size / found["step"] / 1e6, "format": ".1f"},
                    "compiling (s)": {"value": found["compiling"], "format": ".1f"},
                    "bytes a game": {"value": found["game"], "format": ".0f"},
                    "with masks and rows": {"value": found["bytes"], "format": ".0f"},
                }
            )
    publish("device", keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
