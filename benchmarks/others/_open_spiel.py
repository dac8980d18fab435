"""The play loop for OpenSpiel's games, which also plays ours through the adapter."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random


def play_episode(game: Any, random: Random) -> int:
    """Play one episode with random legal actions and return the number of decisions.

    Every decision takes the observation tensor and the mask of legal actions. Chance is sampled
    here, as OpenSpiel requires, and is not counted.
    """
    state, steps = game.new_initial_state(), 0
    actions = range(game.num_distinct_actions())
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(random.choices(outcomes, chances)[0])
        else:
            state.observation_tensor()
            legal = list(compress(actions, state.legal_actions_mask()))
            state.apply_action(random.choice(legal))
            steps += 1
    return steps
