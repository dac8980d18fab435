"""Measure how fast the environments are: `python -m benchmarks.environments`.

Everything is measured in every round, the sides of a ratio in turn. Printed are the medians of the
rounds and their ranges. With `--others` other libraries take part in the
rounds, too, each in its own virtual environment and in the way that it documents.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gymnasium.vector import SyncVectorEnv
from sb3_contrib import MaskablePPO

import fiveup_env
from agents.results import publish
from benchmarks.others.measuring import speeds
from benchmarks.timing import ROUNDS, measured, quiet, speed_options
from fiveup_env import Batch
from fiveup_env.engine.chance import chance_below
from fiveup_env.engine.legality import legal_count, nth_legal
from fiveup_env.envs.episodes import Episodes, restart_ended, step_games
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.envs.single import FiveUpEnv
from fiveup_env.envs.vector import FiveUpVectorEnv
from fiveup_env.native import Array, Word, compiled

if TYPE_CHECKING:
    from benchmarks.timing import Round

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
        env.reset()
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(env.action_space(agent).sample(observation["action_mask"]))
                made += 1
    return made / (time.perf_counter() - started)


def connect_four() -> tuple[Any, Any]:
    """Return PettingZoo's connect_four, with its wrappers and without."""
    from pettingzoo.classic import connect_four_v3  # warns that it is deprecated

    return connect_four_v3.env(), connect_four_v3.raw_env()


def training_share() -> tuple[float, float]:
    """Return the environment's share of MaskablePPO's time (2 x 256 net), and steps per second."""
    torch.set_num_threads(2)
    env, spent = FiveUpVecEnv(256, players=2, seed=0), []
    step = env.step_wait

    def timed() -> Any:
        started = time.perf_counter()
        result = step()
        spent.append(time.perf_counter() - started)
        return result

    env.step_wait = timed  # type: ignore[method-assign]
    sizes: dict[str, Any] = {"n_steps": 64, "batch_size": 2048, "n_epochs": 4}
    nets = {"net_arch": [256, 256]}
    model = MaskablePPO("MlpPolicy", env, policy_kwargs=nets, device="cpu", **sizes)
    started = time.perf_counter()
    model.learn(4 * 64 * 256)
    seconds = time.perf_counter() - started
    return sum(spent) / seconds, 4 * 64 * 256 / seconds


def measure() -> tuple[Round, float]:
    """Return the figures of one round, and the steps a second of a `Batch`."""
    batch, engine = batch_seconds(4096)
    theirs, theirs_raw = (aec_rate(env, 2_000) for env in connect_four())
    env, raw = aec_rate(fiveup_env.env()), aec_rate(fiveup_env.raw_env())
    one_thread, two_threads = (batch_seconds(16_384, threads=threads)[0] for threads in (1, 2))
    vector, side_by_side = vector_rates()
    share, trained = training_share()
    a_second = ",.0f", "steps/s"
    figures: Round = {
        "`Batch`, 4,096 games, `flat` and masks, one core": (
            (1e-6 / batch, ".1f", "M steps/s"),
            (1 / batch / theirs, ",.0f", "times connect_four's AEC loop"),
        ),
        "vector environment, 4,096 games, `greedy` opponents": (
            (vector, *a_second),
            (vector / side_by_side, ".0f", "times 16 single environments side by side"),
        ),
        "PettingZoo AEC loop, `env()`": (
            (env, *a_second),
            (env / theirs, ".1f", "times connect_four's `env()`"),
        ),
        "PettingZoo AEC loop, `raw_env()`": (
            (raw, *a_second),
            (raw / theirs_raw, ".1f", "times connect_four's `raw_env()`"),
        ),
        "MaskablePPO through `FiveUpVecEnv`, 2 x 256 net": (
            (trained, *a_second),
            (100 * share, ".1f", "% of the time is spent in the environment"),
        ),
        "`Batch`, next to the engine alone": (None, (batch / engine, ".2f", "times as long")),
        "`Batch`, 16,384 games, two threads": (
            None,
            (one_thread / two_threads, ".2f", "times one thread"),
        ),
    }
    return figures, 1 / batch


def of_others(batch: float, seconds: float) -> Round:
    """Return how other libraries' games compare with a batch of ours in the same round."""
    return {
        f"{game} of {library} {version}": (
            (speed, ",.0f", "steps/s"),
            (batch / speed, ",.1f", "times slower than `Batch`"),
        )
        for library, version, game, speed in speeds(seconds)
    }


def main() -> None:
    """Measure and print the table."""
    parser = speed_options(__doc__)
    parser.add_argument("--others", action="store_true", help="measure other libraries too")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each of them plays")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ours, theirs = [], []
    with quiet(anyway=options.anyway):
        measure()  # compiles, and so is not counted
        if options.others:
            speeds(0.1)  # installs them
        for _ in range(ROUNDS):
            figures, batch = measure()
            ours.append(figures)
            if options.others:
                theirs.append(of_others(batch, options.seconds))
        publish("environments", keep=options.save, rows=measured(ours), others=measured(theirs))


if __name__ == "__main__":
    main()
