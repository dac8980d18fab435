"""Measure what Ray costs and what it gains: `python -m benchmarks.cluster`.

RLlib plays through a `Batch` and through the AEC environment, both in this process. The arena plays
on one and on two Ray workers, and on two processes of its own. The sides of a ratio take turns in
every round. Printed are the medians of the rounds and their ranges.
"""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

import fiveup_env
from agents.cluster.algorithm import algorithm_config
from agents.cluster.arena import play_on_cluster
from agents.cluster.connection import connect
from agents.cluster.module import MaskedModule
from agents.cluster.runner import BatchRunner
from agents.learn.starting import shape_of
from agents.results import publish
from agents.runs.config import load_config
from benchmarks.timing import ROUNDS, measured, quiet, speed_options
from fiveup_env import Rules
from fiveup_env.arena.play.games import CHUNK, Task, Terms
from fiveup_env.arena.play.workers import play_tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from fiveup_env.arena.play.tournament import Engine
    from fiveup_env.files import Json

GAMES_OF_AEC = (1, 16)  # games of one runner; the faster number counts
MOVES_OF_AEC = 400  # in a sample
MEETING = ("defensive", "greedy")
SECONDS = 10.0  # about how long one worker plays


def batch_runner() -> Callable[[], float]:
    """Return a function that measures the moves per second through a `Batch`."""
    config = load_config("cluster", ["env_runners=0"])
    runner = BatchRunner(config=algorithm_config(config), worker_index=0)
    return lambda: config.games * config.n_steps / seconds_of(runner.sample)


def aec_runner(games: int) -> Callable[[], float]:
    """Return a function that measures the moves per second through RLlib's PettingZoo wrapper."""
    shape = shape_of(load_config("cluster"))
    register_env("fiveup", lambda _: PettingZooEnv(fiveup_env.env(episode="hand", reward="margin")))
    config = (
        PPOConfig()
        .environment("fiveup", disable_env_checking=True)  # RLlib's check ignores masks
        .multi_agent(policies={"everybody"}, policy_mapping_fn=lambda *_, **__: "everybody")
        .rl_module(rl_module_spec=RLModuleSpec(MaskedModule, model_config={"shape": vars(shape)}))
        .env_runners(num_env_runners=0, num_envs_per_env_runner=games)
    )
    runner: Any = MultiAgentEnvRunner(config=config)

    def rate() -> float:
        before = lifetime()
        spent = seconds_of(lambda: runner.sample(num_timesteps=MOVES_OF_AEC))
        return (lifetime() - before) / spent

    def lifetime() -> int:
        return int(runner.metrics.peek("num_env_steps_sampled_lifetime", default=0))

    return rate


def sampling() -> list[Json]:
    """Return how many times as fast RLlib samples a `Batch` as the AEC environment."""
    through_batch = batch_runner()
    through_aec = {games: aec_runner(games) for games in GAMES_OF_AEC}
    for rate in (through_batch, *through_aec.values()):
        rate()
    rounds = []
    for _ in range(ROUNDS):
        batch, aec = through_batch(), max(rate() for rate in through_aec.values())
        ratio = batch / aec, ".0f", "times RLlib's over the AEC environment"
        rounds.append({"RLlib's sampling over `Batch`": ((batch, ",.0f", "moves/s"), ratio)})
    return measured(rounds)


def seconds_of(work: Callable[[], Any]) -> float:
    """Return how many seconds some work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def seconds_a_chunk(engine: Engine, tasks: list[Task], terms: Terms, cores: int) -> float:
    """Return the seconds that some cores take per chunk, after two chunks for each core."""
    done = engine(tasks, terms, cores)
    for _ in range(2 * cores):
        next(done)
    started = time.perf_counter()
    left = sum(1 for _ in done)
    return (time.perf_counter() - started) / left


def arena() -> list[Json]:
    """Return how the arena on two Ray workers compares with one worker and with local processes."""
    terms, starts = Terms(Rules.preset()), itertools.count(0, CHUNK)

    def tasks(count: int) -> list[Task]:
        return [Task(MEETING, next(starts), CHUNK) for _ in range(count)]

    alone = seconds_a_chunk(play_on_cluster, tasks(6), terms, 1)
    count = max(12, round(SECONDS / alone))
    rounds = []
    for _ in range(ROUNDS):
        alone, two = (seconds_a_chunk(play_on_cluster, tasks(count), terms, k) for k in (1, 2))
        local = seconds_a_chunk(play_tasks, tasks(count), terms, 2)
        more, other = (alone / two, ".1f", "times one"), (local / two, ".2f", "times two processes")
        what = "the arena on two workers of Ray"
        rounds.append({what: (None, more), f"{what}, next to its own": (None, other)})
    return measured(rounds)


def main() -> None:
    """Measure and print the tables."""
    options = speed_options(__doc__).parse_args()
    torch.set_num_threads(1)
    with quiet(anyway=options.anyway, daemons=True):
        connect()
        rows = [*sampling(), *arena()]
        publish("cluster", keep=options.save, rows=rows)


if __name__ == "__main__":
    main()
