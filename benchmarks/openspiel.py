"""How fast the game is in OpenSpiel: `python -m benchmarks.openspiel`.

Both games are played by the same loop, which takes the observation tensor and the mask of legal
actions at every decision and samples chance as OpenSpiel has it; only decisions are counted. The
two take turns, so that the ratio holds on a machine whose speed drifts.
"""

from __future__ import annotations

import statistics
import time
from itertools import compress
from random import Random
from typing import Any

import open_spiel.python.games  # noqa: F401 - registers them
import pyspiel

import fiveup_env.adapters.openspiel  # noqa: F401 - registers ours

THEIRS = "python_block_dominoes"
OURS = ("fiveup", "fiveup(players=4)", "fiveup(players=4,draw=optional)")
ROUNDS = 9
SECONDS = 0.5


def play(game: Any, random: Random) -> int:
    """Play an episode; answer how many decisions it had."""
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


def rate(game: Any, random: Random) -> float:
    """Decisions a second."""
    steps, started = 0, time.perf_counter()
    while (seconds := time.perf_counter() - started) < SECONDS:
        steps += play(game, random)
    return steps / seconds


def main() -> None:
    """Measure and print the table."""
    games = {name: pyspiel.load_game(name) for name in (THEIRS, *OURS)}
    random = Random(1)
    for game in games.values():
        play(game, random)
    rounds = [{name: rate(game, random) for name, game in games.items()} for _ in range(ROUNDS)]
    print(f"{'game':<36}{'steps/s':>12}{'times':>8}")
    for name in games:
        speed = statistics.median(one[name] for one in rounds)
        times = statistics.median(one[name] / one[THEIRS] for one in rounds)
        print(f"{name:<36}{speed:>12,.0f}{times:>8.1f}")


if __name__ == "__main__":
    main()
