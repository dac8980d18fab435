"""RLCard: random legal actions, in the two ways that it documents; the faster one counts.

`step` extracts the observation of every state. `run` plays its own random agents against each
other, and collects their trajectories.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import rlcard  # type: ignore[import-not-found]
from _timing import report  # type: ignore[import-not-found]
from rlcard.agents import RandomAgent  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Callable


def stepper(name: str) -> Callable[[], int]:
    """Return a function that plays one game by `step` and returns its number of steps."""
    env, random = rlcard.make(name, {"seed": 1}), Random(1)

    def play() -> int:
        state, _ = env.reset()
        steps = 0
        while not env.is_over():
            state, _ = env.step(random.choice(list(state["legal_actions"])))
            steps += 1
        return steps

    return play


def runner(name: str) -> Callable[[], int]:
    """Return a function that plays one game by `run` and returns its number of steps."""
    env = rlcard.make(name, {"seed": 1})
    env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(env.num_players)])

    def play() -> int:
        before = env.timestep
        env.run()
        return int(env.timestep - before)

    return play


if __name__ == "__main__":
    for name in ("leduc-holdem", "uno"):
        report("rlcard", name, [stepper(name), runner(name)])
