"""PettingZoo: agents in turn, `last()`, and a random action under the mask.

`env()` has the library's standard wrappers around `raw_env()`. The interface makes an agent whose
game is over step once more with no action; the time counts, the steps do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from _timing import report  # type: ignore[import-not-found]
from pettingzoo.classic.connect_four import connect_four
from pettingzoo.classic.tictactoe import tictactoe

if TYPE_CHECKING:
    from collections.abc import Callable


def player(env: Any) -> Callable[[], int]:
    """Return a function that plays one game and returns its number of steps."""
    spaces = {agent: env.action_space(agent) for agent in env.possible_agents}
    for space in spaces.values():
        space.seed(1)

    def play() -> int:
        env.reset()
        steps = 0
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(spaces[agent].sample(observation["action_mask"]))
                steps += 1
        return steps

    return play


if __name__ == "__main__":
    for name, module in (("connect_four_v3", connect_four), ("tictactoe_v3", tictactoe)):
        report("pettingzoo", {f"{name}.env()": player(module.env())})
        report("pettingzoo", {f"{name}.raw_env()": player(module.raw_env())})
