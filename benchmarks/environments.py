"""Measure how fast the environments are: `python -m benchmarks.environments`.

Everything is measured in every round, the sides of a ratio in turn. Printed are the medians of the
rounds and their ranges. With `--others` the libraries of `benchmarks.others` take part in the
rounds, too, each in its own virtual environment and in the way that it documents.
"""

from __future__ import annotations

import argparse
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
from benchmarks.others.__main__ import PINS, VENVS, Row, rows
from benchmarks.others._pettingzoo import play_game
from benchmarks.results import add_save, measured, publish
from benchmarks.timing import ROUNDS, add_anyway, quiet
from fiveup_env import Batch
from fiveup_env.engine.chance import chance_below
from fiveup_env.engine.compiled import Array, Word, compiled
from fiveup_env.engine.legality import legal_count, nth_legal
from fiveup_env.envs.episodes import Episodes, restart_ended, step_games
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv

if TYPE_CHECKING:
    from fiveup_env.files import Json

BATCH_STEPS = 1_200_000


@compiled
def choose(games: Array, key: Word, actions: Array) -> None:
    """Write a random legal action for every game."""
    for i in range(len(games)):
        public, hand = games[i].public, games[i].hands[games[i].public.turn]
        actions[i] = nth_legal(public, hand, chance_below(key, i, legal_count(public, hand)))


def batch_seconds(games: int, threads: int = 1) -> tuple[float, float]:
    """Return the seconds per step of one game, through `Batch` and by the engine alone."""
    batch = Batch(games, threads=threads, seed=0)
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
            codes = Episodes().codes
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


def checks_ratio() -> float:
    """Return the speed of steps whose actions are checked, as a share of that without checks."""
    batches = Batch(4096, seed=0), Unchecked(4096, seed=0)
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
    return seconds[1] / seconds[0]


def vector_rates() -> tuple[float, float]:
    """Return learners' steps per second among greedy opponents: of the vector, and side by side."""
    side_by_side = SyncVectorEnv([partial(FiveUpEnv, opponents="greedy") for _ in range(16)])
    rates = []
    for envs, steps in (
        (FiveUpVectorEnv(4096, opponents="greedy", seed=0), 60),
        (side_by_side, 60),
    ):
        _, infos = envs.reset(seed=0)
        started = time.perf_counter()
        for _ in range(steps):
            infos = envs.step(infos["action_mask"].argmax(1))[4]
        rates.append(steps * envs.num_envs / (time.perf_counter() - started))
    return rates[0], rates[1]


def aec_rate(env: Any, steps: int = 4_000) -> float:
    """Return the steps per second of PettingZoo's own loop, with random legal actions."""
    made, started = 0, time.perf_counter()
    while made < steps:
        made += play_game(env)
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
    env = FiveUpVecEnv(256, players=2, seed=0)
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


def measure_ours() -> dict[str, float]:
    """Return the figures of one round, by name."""
    batch, engine = batch_seconds(4096)
    theirs, theirs_raw = (aec_rate(env, 2_000) for env in connect_four())
    env, raw = aec_rate(fiveup_env.env()), aec_rate(fiveup_env.raw_env())
    one_thread, two_threads = (batch_seconds(16_384, threads=threads)[0] for threads in (1, 2))
    vector, side_by_side = vector_rates()
    share, trained = training_share()
    return {
        "batch": 1 / batch,
        "batch, M": 1e-6 / batch,
        "batch/engine": batch / engine,
        "batch/connect_four": 1 / batch / theirs,
        "threads": one_thread / two_threads,
        "checked": checks_ratio(),
        "vector": vector,
        "vector/side by side": vector / side_by_side,
        "side by side": side_by_side,
        "env": env,
        "env/connect_four": env / theirs,
        "raw": raw,
        "raw/raw": raw / theirs_raw,
        "connect_four": theirs,
        "connect_four, raw": theirs_raw,
        "trained": trained,
        "share": 100 * share,
    }


# What is printed: what it is, how fast, and compared with what.
AEC = "times connect_four's AEC loop"
LINES = (
    (
        "`Batch`, 4,096 games, `flat` and masks, one core",
        ("batch, M", ".1f", "M steps/s"),
        ("batch/connect_four", ",.0f", AEC),
    ),
    (
        "vector environment, 4,096 games, `greedy` opponents",
        ("vector", ",.0f", "steps/s"),
        ("vector/side by side", ".0f", "times 16 single environments side by side"),
    ),
    (
        "PettingZoo AEC loop, `env()`",
        ("env", ",.0f", "steps/s"),
        ("env/connect_four", ".1f", "times connect_four's `env()`"),
    ),
    (
        "PettingZoo AEC loop, `raw_env()`",
        ("raw", ",.0f", "steps/s"),
        ("raw/raw", ".1f", "times connect_four's `raw_env()`"),
    ),
    (
        "MaskablePPO through `FiveUpVecEnv`, 2 x 256 net",
        ("trained", ",.0f", "steps/s"),
        ("share", ".1f", "% of the time is spent in the environment"),
    ),
    ("connect_four's AEC loop, `env()`", ("connect_four", ",.0f", "steps/s"), None),
    ("connect_four's AEC loop, `raw_env()`", ("connect_four, raw", ",.0f", "steps/s"), None),
    ("`Batch`, next to the engine alone", None, ("batch/engine", ".2f", "times as long")),
    ("`Batch`, 16,384 games, two threads", None, ("threads", ".2f", "times one thread")),
    ("`Batch` with checks of actions", None, ("checked", ".3f", "times without")),
)


def others_rows(rounds: list[dict[str, float]], others: list[list[Row]]) -> list[Json]:
    """Return how other libraries' games compare with a batch of ours in the same rounds."""
    made: list[Json] = []
    for library in PINS:
        found = [[row for row in every if row.library == library] for every in others]
        if errors := [row.error for every in found for row in every if row.error]:
            made.append({"what": library, "how fast": errors[0], "compared": None})
            continue
        for same in zip(*found, strict=True):  # one game, in every round
            both = [
                {"theirs": row.steps_per_second, "ratio": ours["batch"] / row.steps_per_second}
                for ours, row in zip(rounds, same, strict=True)
            ]
            name = f"{same[0].game} of {library} {same[0].version}"
            ratio = ("ratio", ",.1f", "times slower than `Batch`")
            made += measured([(name, ("theirs", ",.0f", "steps/s"), ratio)], both)
    return made


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--others", action="store_true", help="measure other libraries too")
    parser.add_argument("--venvs", type=Path, default=VENVS, help="folder of their environments")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each of them plays")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="to publish: 5 or more")
    add_anyway(parser)
    add_save(parser)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rounds: list[dict[str, float]] = []
    others: list[list[Row]] = []
    with quiet(anyway=options.anyway):
        measure_ours()  # compiles, and so is not counted
        for _ in range(options.rounds):
            rounds.append(measure_ours())
            if options.others:
                others.append(rows(options.seconds, options.venvs))
        ours = measured(LINES, rounds)
        theirs = others_rows(rounds, others) if others else []
        publish("environments", keep=options.save, rows=ours, others=theirs)


if __name__ == "__main__":
    main()
