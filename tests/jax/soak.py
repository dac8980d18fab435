"""The games in JAX and `Batch`, side by side over millions of random moves.

    python -m tests.jax.soak --moves 100000000 --seed 0

Masks, rows, the hidden tiles, turns, rewards and ends are compared after every move, under every
rule field and all options of episodes. The first difference is printed and ends the soak.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.jax.compare import Compared, comparisons


def soak(moves: int, seed: int, each: int = 12, *, report: bool = False) -> Compared:
    """Compare at least this many moves; return their sum, up to the first difference."""
    made = ends = cut_off = 0
    started = time.monotonic()
    for part in comparisons(seed, each):
        made, ends, cut_off = made + part.moves, ends + part.ends, cut_off + part.cut_off
        if part.difference or made >= moves:
            return Compared(made, ends, cut_off, part.difference)
        if report:
            print(f"{made:,} moves, {made / (time.monotonic() - started):,.0f}/s", flush=True)
    raise AssertionError


def main() -> int:
    """Soak as long as it is asked for; exit with status 1 at a difference."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--moves", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=12, help="games by every set of rules at once")
    options = parser.parse_args()
    total = soak(options.moves, options.seed, options.each, report=True)
    print(
        f"{total.moves:,} moves, {total.ends:,} ends, {total.cut_off:,} cut off: "
        f"{total.difference or 'no difference'}"
    )
    return 1 if total.difference else 0


if __name__ == "__main__":
    sys.exit(main())
