"""Measure how fast the environments are: `python -m benchmarks.environments`.

The two sides of a ratio take turns within one run, so that it holds on a machine whose speed
drifts. With `--others` the libraries of `benchmarks.others` are measured too, each in its own
virtual environment.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gymnasium.vector import SyncVectorEnv
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import fiveup_env
from benchmarks.others.__main__ import VENVS, rows
from fiveup_env import Batch
from fiveup_env.engine.chance import chance_below
from fiveup_env.engine.compiled import Array, Word, compiled
from fiveup_env.engine.legality import legal_count, nth_legal
from fiveup_env.envs.episodes import restart_ended, step_games
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
BATCH_STEPS = 1_200_000


@compiled
def choose(games: Array, key: Word, actions: Array) -> None:
    """Write a random legal action for every game."""
    for i in range(len(games)):
        public, hand = games[i].public, games[i].hands[games[i].public.turn]
        actions[i] = nth_legal(public, hand, chance_below(key, i, legal_count(public, hand)))


def batch_seconds(games: int, threads: int = 1) -> tuple[float, float]:
    """Return the seconds per step of one game, through `Batch` and by the engine alone."""
    batch = Batch(games, threads=threads)
    batch.reset()
    steps = BATCH_STEPS // games
    actions = np.zeros(games, np.int64)
    everywhere, endings = np.arange(games), np.zeros(games, np.int8)
    keys, episodes = np.zeros(games, np.uint64), np.zeros(games, np.int64)
    finals = np.zeros_like(batch.states)
    taken = {"batch": 0.0, "engine": 0.0}
    for step in range(2 * steps):
        choose(batch.states, np.uint64(step), actions)
        started = time.perf_counter()
        if step % 2:
            batch.step(actions)
        else:
            codes = batch.episodes.codes
            step_games(batch.states, everywhere, actions, codes, batch.reward, endings)
            restart_ended(batch.states, everywhere, endings, keys, episodes, finals)
        taken["batch" if step % 2 else "engine"] += time.perf_counter() - started
    return taken["batch"] / steps / games, taken["engine"] / steps / games


class Unchecked(Batch):
    """A batch that believes its actions."""

    def _checked_actions(
        self, actions: np.ndarray, which: np.ndarray, *, strictly: bool = False
    ) -> np.ndarray:
        del which, strictly
        return actions


def checks_ratio() -> tuple[float, ...]:
    """Return the speed of steps whose actions are checked, as a share of that without checks."""
    batches = Batch(4096), Unchecked(4096)
    seconds = [0.0, 0.0]
    actions = np.zeros(4096, np.int64)
    for batch in batches:
        batch.reset()
    for step in range(300):
        for k, batch in enumerate(batches):
            choose(batch.states, np.uint64(step), actions)
            started = time.process_time()
            batch.step(actions)
            seconds[k] += time.process_time() - started
    return (seconds[1] / seconds[0],)


def vector_rates() -> tuple[float, ...]:
    """Return learners' steps per second among greedy opponents: ours, side by side, the ratio."""
    side_by_side = SyncVectorEnv([partial(FiveUpEnv, opponents="greedy") for _ in range(16)])
    rates = []
    for envs, steps in ((FiveUpVectorEnv(4096, opponents="greedy"), 60), (side_by_side, 60)):
        _, infos = envs.reset(seed=0)
        started = time.perf_counter()
        for _ in range(steps):
            infos = envs.step(infos["action_mask"].argmax(1))[4]
        rates.append(steps * envs.num_envs / (time.perf_counter() - started))
    return (*rates, rates[0] / rates[1])


def aec_rate(env: Any, steps: int = 6_000) -> float:
    """Return the steps per second of the usual AEC loop with `last()` and random legal actions."""
    made, started = 0, time.perf_counter()
    while made < steps:
        env.reset()
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
                continue
            legal = observation["action_mask"].nonzero()[0]
            env.step(int(legal[int(random.random() * len(legal))]))
            made += 1
    return made / (time.perf_counter() - started)


def connect_four() -> tuple[Any, Any]:
    """Return PettingZoo's connect_four, with its wrappers and without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from pettingzoo.classic import connect_four_v3
    return connect_four_v3.env(), connect_four_v3.raw_env()


class _Clock(BaseCallback):
    """Times every call of the environment's `step_wait`."""

    def __init__(self, env: FiveUpVecEnv) -> None:
        super().__init__()
        self.seconds = 0.0
        step = env.step_wait

        def timed() -> Any:
            started = time.perf_counter()
            result = step()
            self.seconds += time.perf_counter() - started
            return result

        env.step_wait = timed  # type: ignore[method-assign]

    def _on_step(self) -> bool:
        return True


def training_share() -> tuple[float, float]:
    """Return the environment's share of MaskablePPO's time (2 x 256 net), and steps per second."""
    torch.set_num_threads(2)
    env = FiveUpVecEnv(256, players=2)
    clock = _Clock(env)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=2048,
        n_epochs=4,
        policy_kwargs={"net_arch": [256, 256]},
        device="cpu",
    )
    started = time.perf_counter()
    model.learn(4 * 64 * 256, callback=clock)
    seconds = time.perf_counter() - started
    return clock.seconds / seconds, 4 * 64 * 256 / seconds


def medians(measure: Callable[[], tuple[float, ...]], rounds: int = ROUNDS) -> list[float]:
    """Return the median of each figure over some rounds."""
    return [
        statistics.median(column)
        for column in zip(*(measure() for _ in range(rounds)), strict=True)
    ]


def aec_rates() -> tuple[float, ...]:
    """Return our rates, connect_four's rates, and their ratios."""
    theirs, theirs_raw = (aec_rate(env, 2_000) for env in connect_four())
    ours, ours_raw = aec_rate(fiveup_env.env()), aec_rate(fiveup_env.raw_env())
    return (
        ours,
        ours_raw,
        theirs,
        theirs_raw,
        ours / theirs,
        ours_raw / theirs,
        ours_raw / theirs_raw,
    )


def thread_ratio() -> tuple[float, ...]:
    """Return how many times as fast two threads step a large batch as one."""
    return (batch_seconds(16_384)[0] / batch_seconds(16_384, threads=2)[0],)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--others", action="store_true", help="measure other libraries too")
    parser.add_argument("--venvs", type=Path, default=VENVS, help="folder of their environments")
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    batch, engine = medians(lambda: batch_seconds(4096))
    env, raw, theirs, theirs_raw, ratio, raw_ratio, raw_to_raw = medians(aec_rates)
    (threads,) = medians(thread_ratio)
    (checked,) = medians(checks_ratio)
    vector, side_by_side, vector_ratio = medians(vector_rates)
    share, trained = medians(training_share, rounds=3)
    lines = [
        ("Batch, flat and mask, 4,096 games, one thread", f"{1e-6 / batch:.2f} M steps/s"),
        ("  compared with the engine alone", f"{batch / engine:.2f} times as long"),
        ("  compared with connect_four's AEC loop", f"{1 / batch / theirs:,.0f} times as fast"),
        ("Batch, 16,384 games, two threads against one", f"{threads:.2f} times as fast"),
        ("Batch, with checks of actions against without", f"{checked:.3f} times as fast"),
        ("vector environment, 4,096 games, greedy opponents", f"{vector:,.0f} steps/s"),
        ("  compared with 16 environments side by side", f"{vector_ratio:.0f} times as fast"),
        ("16 environments side by side", f"{side_by_side:,.0f} steps/s"),
        ("AEC loop, env()", f"{env:,.0f} steps/s"),
        ("  compared with connect_four's env()", f"{ratio:.1f} times as fast"),
        ("AEC loop, raw_env()", f"{raw:,.0f} steps/s"),
        (
            "  compared with connect_four's env(), raw_env()",
            f"{raw_ratio:.1f}, {raw_to_raw:.1f} times as fast",
        ),
        (
            "connect_four's AEC loop, env() and raw_env()",
            f"{theirs:,.0f}, {theirs_raw:,.0f} steps/s",
        ),
        ("MaskablePPO, 2 x 256 net, two threads", f"{trained:,.0f} steps/s"),
        ("  the environment's share of the time", f"{100 * share:.1f} %"),
    ]
    for what, figure in lines:
        print(f"{what:<50}{figure:>26}")
    if options.others:
        print()
        for row in rows(3.0, options.venvs):
            if row.error:
                print(f"{row.library:<50}{row.error:>26}")
                continue
            factor = 1 / batch / row.steps_per_second
            name = f"{row.library} {row.version}, {row.game}"
            speed = f"{row.steps_per_second:>14,.0f} steps/s"
            print(f"{name:<50}{speed}; Batch is {factor:,.1f} times as fast")


if __name__ == "__main__":
    main()
