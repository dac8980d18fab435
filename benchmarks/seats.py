"""Compare learners of all seats with the same programs without `fiveup_env.seats`.

    python -m benchmarks.seats --save

Each example of a library learns from the same number of moves, with the layers, the rate and the
epochs of `train.py`'s own self-play, which learns here without a number for the points of each
play, as the examples do; its naive twin is the same program with what the library
itself offers in place of the one thing that knows seats. All meet `greedy` on the same deals, which
none has seen. What was measured is kept in runs/seats, and is not measured again.
"""

from __future__ import annotations

import io
import runpy
import time
from concurrent.futures import as_completed
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from numba import njit
from sb3_contrib import MaskablePPO

from agents.learn.selfplay import SelfPlay
from agents.policies.agent import NetworkAgent
from agents.processes import workers
from agents.results import ROOT, cell, publish
from agents.runs.config import Config
from benchmarks.timing import ROUNDS, measured, quiet, speed_options
from fiveup_env import Batch, Rules, as_agent, make_agent
from fiveup_env.arena import duel
from fiveup_env.arena.statistics.bootstrap import mean_interval
from fiveup_env.envs.sb3 import FiveUpVecEnv
from fiveup_env.files import write_atomic
from fiveup_env.seats import NOBODY, SeatAdvantages, Waiting, seat_advantages
from fiveup_env.seats.sb3 import SeatsRolloutBuffer, SelfPlayVecEnv

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensordict import TensorDictBase

    from benchmarks.timing import Round
    from fiveup_env.files import Json
    from fiveup_env.opponents.agent import Agent

KEPT: Final = ROOT / "runs" / "seats"
OURS: Final = "`train.py`"
WINDOWS: Final = {2: 120, 4: 90}  # a million decisions, with two players and with four
SEEDS: Final = {"Tianshou": range(1, 2)}  # the others: range(1, 4)
DEALS: Final = np.arange(500_000, 503_000)


class Run(NamedTuple):
    """What one process learns and measures."""

    learner: str
    naive: bool
    players: int
    seed: int

    @property
    def path(self) -> Path:
        """Where the share of each deal that was won is kept."""
        kind = "naive" if self.naive else "seats"
        name = self.learner.strip("`").replace(".", "-")
        return KEPT / f"{name}-{kind}-{self.players}-{self.seed}.npy"


def ours(updates: int, players: int, seed: int) -> Agent:
    """Return what self-play of `train.py` has learnt."""
    config = Config(
        players=(players,),
        episode="hand",
        seed=seed,
        network="plain",
        width=128,
        depth=2,
        shared=False,
        games=256,
        n_steps=64,
        batch_size=1024,
        n_epochs=4,
    )
    run = SelfPlay(config, Path())
    run.network.worth.requires_grad = False  # the libraries' networks have no such
    for _ in range(updates):
        run.update(0)
    return NetworkAgent(run.network)


def naive_advantages(
    rewards: np.ndarray,
    values: np.ndarray,
    seats: np.ndarray,
    ends: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> SeatAdvantages:
    """Return what a learner of one player computes.

    It adds what a move brought its mover to the value of the next decision, whoever's that is.
    """
    ticks, games, players = rewards.shape
    gains, known = np.zeros((ticks, games), np.float32), np.zeros((ticks, games), np.bool_)
    value, gain, followed = np.zeros(games), np.zeros(games), np.zeros(games, np.bool_)
    for t in reversed(range(ticks)):
        value[ends[t]], gain[ends[t]], followed[ends[t]] = 0, 0, True
        decided = seats[t] != NOBODY
        own = rewards[t, range(games), seats[t]]
        here = own + gamma * (value + gae_lambda * gain) - values[t]
        known[t] = decided & followed
        gain, value = np.where(decided, here, gain), np.where(decided, values[t], value)
        gains[t] = np.where(known[t], here, 0)
        followed |= decided
    nobody = np.full((games, players), -1)
    return SeatAdvantages(gains, known, Waiting(nobody, np.zeros((games, players))))


class NaiveGAE:
    """TorchRL's own `GAE`, with what each move brought its mover as the reward."""

    def __init__(self, **options: Any) -> None:
        from torchrl.objectives.value import GAE

        self._own = GAE(**options)

    def __call__(self, played: TensorDictBase) -> TensorDictBase:
        """Return the decisions of a rollout."""
        mover = played["seats", "mask"][..., None]
        rewards = played["next", "seats", "reward"]
        played["next", "reward"] = (rewards * mover).sum(-2)
        return self._own(played).reshape(-1)


def naive_tianshou() -> type:
    """Return Tianshou's own PPO, with what each move brought its mover as the reward."""
    from tianshou.algorithm import PPO

    class NaivePPO(PPO):  # type: ignore[misc]
        def _add_returns_and_advantages(self, batch: Any, *given: Any) -> Any:
            own = [int(name.removeprefix("player_")) for name in batch.obs.agent_id]
            batch.rew = batch.rew[range(len(own)), own]
            return super()._add_returns_and_advantages(batch, *given)

    return NaivePPO


def of_model(model: Any) -> torch.nn.Module:
    """Return the policy of a model of Stable-Baselines3."""
    return torch.nn.Sequential(model.policy.mlp_extractor.policy_net, model.policy.action_net)


# Of each library: its example, and what the naive twin has in place of what knows seats.
LIBRARIES: Final[dict[str, tuple[str, Callable[[], dict[str, Any]]]]] = {
    "Stable-Baselines3": ("seats_sb3", lambda: {"buffer": None}),
    "CleanRL's way": ("seats_cleanrl", lambda: {"advantages": naive_advantages}),
    "TorchRL": ("seats_torchrl", lambda: {"estimator": NaiveGAE}),
    "Tianshou": ("seats_tianshou", lambda: {"algorithm": naive_tianshou()}),
}


def measure(run: Run) -> Run:
    """Learn and keep how much of each deal is won against `greedy`."""
    torch.set_num_threads(1)
    given = WINDOWS[run.players], run.players, run.seed
    if run.learner == OURS:
        agent = ours(*given)
    else:
        example, naive = LIBRARIES[run.learner]
        learn = runpy.run_path(str(ROOT / "examples" / f"{example}.py"))["learn"]
        learnt = learn(*given, **(naive() if run.naive else {}))
        policy = of_model(learnt) if run.learner == "Stable-Baselines3" else learnt
        agent = as_agent(policy, scaled=True)
    rules = Rules.preset(players=run.players)
    played = duel((agent, make_agent("greedy")), rules, DEALS, episode="hand")
    wins = io.BytesIO()
    np.save(wins, played.wins)
    write_atomic(run.path, wins.getvalue())
    return run


def strengths(cores: int) -> list[Json]:
    """Return how often each learner beats `greedy`, by library and number of players.

    What is not installed here, and was not measured elsewhere before, is left out.
    """
    runs = [
        Run(learner, naive, players, seed)
        for learner in (OURS, *LIBRARIES)
        for seed in SEEDS.get(learner, range(1, 4))
        for players in WINDOWS
        for naive in ((False,) if learner == OURS else (False, True))
    ]
    KEPT.mkdir(parents=True, exist_ok=True)
    with workers(cores) as pool:
        left = [run for run in runs if not run.path.exists() and is_here(run.learner)]
        for done in as_completed([pool.submit(measure, run) for run in left]):
            print(done.result(), flush=True)
    rows = []
    for learner in (OURS, *LIBRARIES):
        row: dict[str, Any] = {"learner": learner, "runs": len(SEEDS.get(learner, range(3)))}
        for players in WINDOWS:
            for naive in (False, True):
                chosen = [run for run in runs if run[:3] == (learner, naive, players)]
                if any(not run.path.exists() for run in chosen):
                    break
                wins = np.mean([np.load(run.path) for run in chosen], 0) if chosen else None
                ends = () if wins is None else mean_interval(wins, (0, 1))
                name = f"{players} players{', naive' if naive else ''}"
                row[name] = None if wins is None else cell(wins.mean(), ends, ".1%")
        if len(row) > 2:
            rows.append(row)
    return rows


def is_here(learner: str) -> bool:
    """Return whether a learner can run in this environment."""
    return learner != "Tianshou" or find_spec("tianshou") is not None


def one_pass(rewards: np.ndarray, values: np.ndarray, seats: np.ndarray, ends: np.ndarray) -> float:
    """Read each number of a window once, in order; Numba compiles it."""
    total = 0.0
    for tick in range(len(rewards)):
        for game in range(rewards.shape[1]):
            for player in range(rewards.shape[2]):
                total += rewards[tick, game, player]
            total += values[tick, game] + seats[tick, game] + ends[tick, game]
    return total


def best_of(work: Callable[[], object], times: int = 20) -> float:
    """Return the seconds that some work takes at best."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
    return min(spent)


def learning_rates(players: int) -> list[Callable[[], float]]:
    """Return what measures how many decisions a second MaskablePPO learns: of all seats, of one.

    Where one seat learns, `greedy` plays the others.
    """
    given: Any = {"n_steps": 64, "batch_size": 1024, "n_epochs": 4}
    given |= {"policy_kwargs": {"net_arch": [128, 128], "activation_fn": torch.nn.ReLU}}
    options: Any = {"players": players, "episode": "hand", "reward": "margin", "scaled": True}
    batch = SelfPlayVecEnv(Batch(256, **options, seed=1))
    one = FiveUpVecEnv(256, **options, seed=1, opponents="greedy")
    buffers = {batch: SeatsRolloutBuffer, one: None}
    models = [
        MaskablePPO("MlpPolicy", env, rollout_buffer_class=b, **given) for env, b in buffers.items()
    ]

    def rate(model: MaskablePPO) -> float:
        started = time.perf_counter()
        model.learn(256 * 64, reset_num_timesteps=False)
        return len(model.rollout_buffer.actions) / (time.perf_counter() - started)

    return [partial(rate, model) for model in models]


def speeds() -> list[Json]:
    """Return how fast advantages are computed, and how many decisions MaskablePPO learns."""
    torch.set_num_threads(1)
    rng, shape = np.random.default_rng(0), (128, 4096)
    window = (
        rng.normal(size=(*shape, 4)).astype(np.float32),
        rng.normal(size=shape).astype(np.float32),
        rng.integers(0, 4, shape).astype(np.int8),
        rng.random(shape) < 0.02,
    )
    reading = njit(one_pass)
    rates = {players: learning_rates(players) for players in WINDOWS}
    for rate in (rate for pair in rates.values() for rate in pair):
        rate()
    rounds: list[Round] = []
    for _ in range(ROUNDS):
        spent = best_of(lambda: seat_advantages(*window, gamma=0.99, gae_lambda=0.95))
        read = best_of(lambda: reading(*window))
        summed = best_of(lambda: [array.sum() for array in window])
        round_: dict[str, Any] = {
            "`seat_advantages`, 128 x 4,096": (
                (spent / np.prod(shape) * 1e9, ".1f", "ns a decision"),
                (spent / read, ".1f", "times a compiled loop that reads each number"),
            ),
            "the same": (None, (spent / summed, ".1f", "times NumPy's sums of the arrays")),
        }
        for players, (every, one) in rates.items():
            fast = every()
            round_[f"MaskablePPO, {players} players"] = (
                (fast, ",.0f", "decisions learnt a second"),
                (fast / one(), ".2f", "times as many as of one seat among `greedy`"),
            )
        rounds.append(round_)
    return measured(rounds)


if __name__ == "__main__":
    options = speed_options(__doc__).parse_args()
    strong = strengths(2)
    with quiet(anyway=options.anyway):
        fast = speeds()
    publish("seats", keep=options.save, rows=strong, speed=fast)
