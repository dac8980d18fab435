"""Measure how fast the arena plays: `python -m benchmarks.arena`.

The two sides of a ratio take turns within one run, so that it holds on a machine whose speed
drifts.
"""

from __future__ import annotations

import itertools
import statistics
import time

import numpy as np

from agents.arena.duels import CHUNK
from agents.arena.games import Task, Terms, play_chunk
from agents.arena.workers import play_tasks
from fiveup_env import Rules
from fiveup_env.opponents.registry import make_agent

ROUNDS = 5
CHUNKS = 40
SECONDS = 10.0  # about how long one core plays when it is compared with two
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
    for spec, episode in itertools.product(("greedy", "defensive"), ("hand", "game")):
        hand_rate(spec, episode)
        rate = statistics.median(hand_rate(spec, episode) for _ in range(ROUNDS))
        print(f"{f'{spec} against itself, {episode}s, one core':<50}{rate:>12,.0f} hands/s")
    for a, b, episode in MEETINGS:
        ratio = statistics.median(cores_ratio((a, b), episode) for _ in range(ROUNDS))
        print(f"{f'{a} against {b}, {episode}s, two cores':<50}{ratio:>12.2f} times one core")


if __name__ == "__main__":
    main()
