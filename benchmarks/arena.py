"""Measure how fast the arena plays: `python -m benchmarks.arena`.

Everything is measured in every round, the sides of a ratio in turn. Printed are the medians of the
rounds and their ranges.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from benchmarks.results import add_save, measured, publish
from benchmarks.timing import ROUNDS, add_anyway, quiet
from fiveup_env import Rules
from fiveup_env.arena.duels import CHUNK
from fiveup_env.arena.games import Task, Terms, play_chunk
from fiveup_env.arena.workers import play_tasks
from fiveup_env.opponents.registry import make_agent

CHUNKS = 40
SECONDS = 10.0  # about how long one core plays when it is compared with two
AGENTS = ("greedy", "defensive")
MEETINGS = [
    ("greedy", "greedy", "game"),
    ("defensive", "greedy", "game"),
    ("pimc:worlds=50", "greedy", "hand"),
]


def hand_rate(spec: str, episode: str) -> float:
    """Return the hands per second that an agent plays against itself on one core."""
    agent, terms = make_agent(spec), Terms(Rules.preset(), episode)
    hands, started = 0, time.perf_counter()
    for k in range(CHUNKS):
        seeds = np.arange(k * CHUNK, (k + 1) * CHUNK)
        hands += int(play_chunk([agent, agent], [spec, spec], terms, seeds).hands.sum())
    return hands / (time.perf_counter() - started)


def seconds(tasks: list[Task], terms: Terms, cores: int) -> float:
    """Return the seconds that some cores take per task, after the first task of each process."""
    done = play_tasks(tasks, terms, cores)
    for _ in range(cores):
        next(done)
    started = time.perf_counter()
    left = sum(1 for _ in done)
    return (time.perf_counter() - started) / left


def cores_ratio(agents: tuple[str, str], episode: str) -> float:
    """Return how many times as fast two processes play as one."""
    terms = Terms(Rules.preset(), episode)
    starts = itertools.count(0, CHUNK)
    alone = seconds([Task(agents, next(starts), CHUNK) for _ in range(4)], terms, 1)
    count = max(8, 2 * round(SECONDS / alone / 2))
    tasks = [Task(agents, next(starts), CHUNK) for _ in range(count)]
    return seconds(tasks, terms, 1) / seconds(tasks, terms, 2)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_anyway(parser)
    add_save(parser)
    options, alone = parser.parse_args(), tuple(itertools.product(AGENTS, ("hand", "game")))
    for one in alone:
        hand_rate(*one)  # compiles, and so is not counted
    own = {f"`{one[0]}` against itself, {one[1]}s, one core": one for one in alone}
    pairs = {f"`{one[0]}` against `{one[1]}`, {one[2]}s, two cores": one for one in MEETINGS}
    lines = [
        *((what, (what, ",.0f", "hands/s"), None) for what in own),
        *((what, None, (what, ".2f", "times one core")) for what in pairs),
    ]
    with quiet(anyway=options.anyway):
        rounds = [
            {what: hand_rate(*one) for what, one in own.items()}
            | {what: cores_ratio((a, b), episode) for what, (a, b, episode) in pairs.items()}
            for _ in range(ROUNDS)
        ]
        publish("arena", keep=options.save, rows=measured(lines, rounds))


if __name__ == "__main__":
    main()
