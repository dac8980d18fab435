"""The play loop for OpenSpiel's games, which also plays ours through the adapter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random


def play_episode(game: Any, random: Random) -> int:
    """Play one episode with random legal actions and return the number of decisions.

    Every decision takes the observation tensor and the legal actions. Chance is sampled here, as
    OpenSpiel requires, and is not counted. This is the loop of OpenSpiel's own example.
    """
    state, steps = game.new_initial_state(), 0
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(random.choices(outcomes, chances)[0])
        else:
            state.observation_tensor()
            state.apply_action(random.choice(state.legal_actions()))
            steps += 1
    return steps
