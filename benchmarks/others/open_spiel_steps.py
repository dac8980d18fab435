"""OpenSpiel: random play that observes and asks for the legal actions at every decision.

The caller samples chance, as the library requires; the time counts, the steps do not. This is the
loop of OpenSpiel's own example.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import open_spiel.python.games  # noqa: F401 - registers them
import pyspiel
from _timing import report  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Callable


def player(name: str) -> Callable[[], int]:
    """Return a function that plays one game and returns its number of steps."""
    game, random = pyspiel.load_game(name), Random(1)

    def play() -> int:
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

    return play


if __name__ == "__main__":
    for name in ("python_block_dominoes", "leduc_poker"):
        report("open_spiel", name, [player(name)])
