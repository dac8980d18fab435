"""OpenSpiel: random play that observes and asks for the legal moves at every decision.

Chance is sampled by whoever plays, as the library has it; the time counts, the steps do not.
"""

from __future__ import annotations

from itertools import compress
from random import Random
from typing import TYPE_CHECKING

import open_spiel.python.games  # noqa: F401 - registers them
import pyspiel
from _timing import report  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Callable


def player(name: str) -> Callable[[], int]:
    """What plays one game from start to end."""
    game, random = pyspiel.load_game(name), Random(1)
    actions = range(game.num_distinct_actions())

    def play() -> int:
        state, steps = game.new_initial_state(), 0
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

    return play


if __name__ == "__main__":
    for name in ("python_block_dominoes", "leduc_poker"):
        report("open_spiel", {name: player(name)})
