"""The play loop for PettingZoo's games, which also plays ours: the loop of its documentation."""

from __future__ import annotations

from typing import Any


def play_game(env: Any) -> int:
    """Play one game with random actions under the mask, and return the number of steps.

    The interface makes an agent whose game is over step once more with no action; the time counts,
    the steps do not.
    """
    env.reset()
    steps = 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
        else:
            env.step(env.action_space(agent).sample(observation["action_mask"]))
            steps += 1
    return steps
