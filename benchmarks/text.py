"""Measure the environment for language models: `python -m benchmarks.text`.

How many prompts a core makes, with and without the judge; how much memory 64 sessions take; and
what agents of the library would be paid by `reward="loss"` if they were models, so that the figure
of a model can be read.
"""

from __future__ import annotations

import resource
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from agents.results import cell, publish
from benchmarks.timing import ROUNDS, measured, quiet, speed_options
from fiveup_env import make_agent
from fiveup_env.arena.statistics.bootstrap import interval, resampled_ratios
from fiveup_env.doors.text import TextEnv
from fiveup_env.game import move_words

if TYPE_CHECKING:
    from benchmarks.timing import Round
    from fiveup_env.files import Json

OPTIONS: Final[dict[str, Any]] = {"players": 2, "opponents": "greedy", "episode": "hand"}
SESSIONS: Final = 64
PROMPTS: Final = 400  # in a sample
HANDS: Final = 500
AGENTS: Final = ("random", "greedy", "defensive", "partner", "policy:partners")
MOST_LOST: Final = 30.0  # points a move


def rate(**options: Any) -> float:
    """Return how many prompts a second an environment makes, each answered by the first move."""
    env, done, seed = TextEnv(**OPTIONS, **options), 0, 0
    started = time.perf_counter()
    while done < PROMPTS:
        (_, info), over = env.reset(seed=seed), False
        while not over:
            _, _, over, _, info = env.step(info["legal"][0])
            done += 1
        seed += 1
    return done / (time.perf_counter() - started)


def speeds() -> list[Json]:
    """Return how fast prompts are made."""
    kinds: dict[str, dict[str, Any]] = {
        "`bare`": {},
        "`deductions`": {"prompt": "deductions"},
        '`reward="loss"`, 500 worlds': {"reward": "loss"},
        '`reward="loss"`, `worlds=50`': {"reward": "loss", "worlds": 50},
    }
    for options in kinds.values():
        rate(**options)
    rounds: list[Round] = []
    for _ in range(ROUNDS):
        found = {what: rate(**options) for what, options in kinds.items()}
        plain = found["`bare`"]
        rounds.append(
            {
                what: ((each, ",.0f", "prompts/s"), (each / plain, ".2f", "of `bare`"))
                for what, each in found.items()
            }
        )
    return measured(rounds)


def memory() -> list[Json]:
    """Return how much memory sessions take that are in the middle of their games."""
    before, held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
    for seed in range(SESSIONS):
        env = TextEnv(**OPTIONS, reward="loss")
        _, info = env.reset(seed=seed)
        env.step(info["legal"][0])
        held.append(env)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return [{"sessions": len(held), "megabytes": cell(grown / 1024, (), ".0f")}]


def costs(spec: str) -> Json:
    """Return what the moves of an agent cost, if it were a model, in points a decision."""
    agent, env = make_agent(spec), TextEnv(**OPTIONS, reward="loss", seat=0)
    rng, hands = np.random.default_rng(0), np.zeros((HANDS, 2))
    for hand in range(HANDS):
        (_, info), over = env.reset(options={"deal": 700_000 + hand}), False
        while not over:
            hands[hand, 0] += len(info["legal"]) > 1
            move = move_words(env.game.ask(agent, rng))
            _, reward, over, _, info = env.step(move)
            hands[hand, 1] -= reward
    totals, resamples = resampled_ratios(hands, [MOST_LOST])
    low, high = interval(resamples, totals)
    return {
        "agent": spec,
        "hands": HANDS,
        "points lost a decision": cell(totals[0], (low[0], high[0]), ".3f"),
    }


if __name__ == "__main__":
    options = speed_options(__doc__).parse_args()
    with quiet(anyway=options.anyway):
        grown = memory()
        fast = speeds()
    publish("text", keep=options.save, rows=fast, memory=grown, costs=list(map(costs, AGENTS)))
