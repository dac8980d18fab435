"""RLCard: random legal actions through `step`, which extracts the observation of every state."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import rlcard  # type: ignore[import-not-found]
from _timing import report  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Callable


def player(name: str) -> Callable[[], int]:
    """Return a function that plays one game and returns its number of steps."""
    env, random = rlcard.make(name, {"seed": 1}), Random(1)

    def play() -> int:
        state, _ = env.reset()
        steps = 0
        while not env.is_over():
            state, _ = env.step(random.choice(list(state["legal_actions"])))
            steps += 1
        return steps

    return play


if __name__ == "__main__":
    for name in ("leduc-holdem", "uno"):
        report("rlcard", {name: player(name)})
