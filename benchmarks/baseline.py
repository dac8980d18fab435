"""Measure what the parts of self-play are worth next to stock MaskablePPO.

    python -m benchmarks.baseline --minutes 2

Every arm trains two layers of 256 units without the heuristics' features, for the same processor
time on one thread, from each of several seeds. It differs by one thing from the arm with which it
is compared. The policy is then measured against `greedy` and `partner`, in games to 61 as partners,
on deals that are never trained on, each played both ways. Each seed has deals of its own, so that
an interval over the seeds holds the luck of training and that of the deals; all arms of a seed have
the same ones. Every run is a file that says how it was made. Runs that are there are not repeated.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from agents.learn.baseline import Baseline
from agents.learn.rivals import Rivals
from agents.learn.rollouts import Rollouts
from agents.learn.selfplay import SelfPlay
from agents.policies.agent import NetworkAgent
from agents.runs.config import ConfigError, load_config
from agents.runs.panel import FIRST_OF_TABLE, measure
from agents.version import code_version
from benchmarks.results import add_save, named, publish
from benchmarks.training import across_seeds
from fiveup_env.errors import FiveUpError, InputError, shown, unknown
from fiveup_env.files import write_atomic
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agents.runs.config import Config
    from fiveup_env.envs.batch import Batch
    from fiveup_env.opponents.agent import Agent

    Learner = SelfPlay | Baseline

PANEL: Final = ("greedy", "partner")


class OneSeat(Rivals):
    """An agent in every seat but one of each game; the learner's seats are equally many of each."""

    def __init__(self, config: Config, batch: Batch, agent: Agent) -> None:
        super().__init__(config, batch, Path())
        self.seat = np.arange(len(batch)) % batch.states["public"]["rules"]["players"]
        self._agent = agent

    def to_move(self, batch: Batch) -> np.ndarray:
        """Return in which games it is the agent's turn."""
        return batch.turn != self.seat

    def move(
        self, batch: Batch, which: np.ndarray, actions: np.ndarray, rng: np.random.Generator
    ) -> None:
        """Write the agent's actions for some of the games into `actions`."""
        if len(which):
            actions[which] = self._agent(batch.views(which), rng)


class Ours(SelfPlay):
    """Self-play, less some of its parts."""

    def __init__(
        self, config: Config, *, worth: bool = True, scaled: bool = True, others: str | None = None
    ) -> None:
        """Make the learner, in every seat or in one among `others`.

        These are agents with a spec, or `self`: the policy as it is, from whose decisions there
        nothing is learnt.
        """
        super().__init__(config, Path())
        self.network.worth.requires_grad_(worth)
        if not scaled:
            unscale(self.network)
        if others is not None:
            itself = NetworkAgent(self.network, sample=True)
            agent = itself if others == "self" else make_agent(others)
            there = OneSeat(config, self._batch, agent)
            self._rollouts = Rollouts(config, self._batch, (there,))


class Stock(Baseline):
    """Stock MaskablePPO in one seat, with `ScalingExtractor` or on raw rows."""

    def __init__(self, config: Config, *, scaled: bool = True) -> None:
        super().__init__(config, Path())
        if not scaled:
            unscale(self._stock.policy)
            unscale(self._network)


def unscale(network: torch.nn.Module) -> None:
    """Let a network read rows as they are: all of its factors become 1."""
    for name, buffer in network.named_buffers():
        if name.endswith("factors"):
            buffer.fill_(1)


@dataclasses.dataclass(frozen=True)
class Arm:
    """A way to learn: what it is, what makes it, and the arm from which it differs by one thing."""

    about: str
    make: Callable[[Config], Learner]
    than: str = ""
    config: str = "selfplay"
    changes: tuple[str, ...] = ("network=plain", "episode=hand")


STOCK: Final = ("learner=plain", "rivals=[greedy]", "network=plain")
ARMS: Final = {
    "whole-games": Arm(
        "self-play in whole games, as `train.py selfplay network=plain`",
        Ours,
        changes=("network=plain",),
    ),
    "self-play": Arm("in single hands, as all below", Ours, "whole-games"),
    "no-worth": Arm("without `worth`", partial(Ours, worth=False), "self-play"),
    "raw": Arm("without `worth` and scaling", partial(Ours, worth=False, scaled=False), "no-worth"),
    "one-seat": Arm(
        "without `worth`, learning from one seat of four",
        partial(Ours, worth=False, others="self"),
        "no-worth",
    ),
    "among-greedy": Arm(
        "without `worth`, in one seat among `greedy` players",
        partial(Ours, worth=False, others="greedy"),
        "no-worth",
    ),
    "stock": Arm(
        "stock MaskablePPO there, with `ScalingExtractor`", Stock, "among-greedy", changes=STOCK
    ),
    "stock-raw": Arm(
        "stock MaskablePPO on raw rows", partial(Stock, scaled=False), "stock", changes=STOCK
    ),
    "stock-own": Arm(
        "stock MaskablePPO by `configs/plain.yaml`", Stock, "stock", "plain", changes=()
    ),
}


def config_of(arm: Arm, seed: int, minutes: float) -> Config:
    """Return the configuration of a run."""
    return load_config(
        arm.config, [*arm.changes, f"seed={seed}", f"minutes={minutes}", "threads=1"]
    )


def train(arm: Arm, config: Config, deals: int) -> dict[str, Any]:
    """Train once; return what it took, and how strong the policy became."""
    # Another, smaller run compiles everything before the clock starts.
    arm.make(dataclasses.replace(config, games=32, n_steps=8, batch_size=64)).update(0)
    learner = arm.make(config)
    began, wall = time.process_time(), time.monotonic()
    while (spent := time.process_time() - began) < 60 * config.minutes:
        learner.update(spent / (60 * config.minutes))
    wall = time.monotonic() - wall
    first = FIRST_OF_TABLE + deals * config.seed
    found = measure(NetworkAgent(learner.network), PANEL, Rules.preset(), deals, first)
    return {
        "seconds": round(spent, 1),
        "seconds_by_the_clock": round(wall, 1),
        "load": os.getloadavg()[0],
        "updates": learner.updates,
        "decisions": learner.decisions,
        "first_deal": first,
        "results": {rival: result._asdict() for rival, result in found.items()},
    }


def read_run(path: Path, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return a finished run; raise InputError if it was not made as `wanted` says."""
    try:
        run: dict[str, Any] = json.loads(path.read_text("utf-8"))
        given = _flat(run)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError(f"{path} is not the result of a run: remove it") from None
    for name, value in _flat(wanted).items():
        if given.get(name) != value:
            raise InputError(
                f"{path} was made with {name} {shown(given.get(name))}, not {shown(value)}: "
                f"name another folder for these runs (--out)"
            )
    return run


def _flat(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a run was made, with every key of its configuration."""
    own = {name: value for name, value in made.items() if name != "config"}
    return own | {f"config.{name}": value for name, value in made["config"].items()}


def show(runs: Sequence[Mapping[str, Any]], deals: int, *, keep: bool) -> None:
    """Print a table of the arms, with 95 % intervals over seeds."""
    by_arm = {
        arm: {run["seed"]: run for run in runs if run["arm"] == arm}
        for arm in ARMS
        if any(run["arm"] == arm for run in runs)
    }
    rivals = (f"`{one}`" for one in PANEL)
    head = ("arm", "what it is", "decisions", *rivals, f"points a hand, `{PANEL[-1]}`")
    rows: list[tuple[str, ...]] = [(*head, f"`{PANEL[0]}`, change from")]
    for arm, own in by_arm.items():
        other = by_arm.get(ARMS[arm].than, {})
        change = [
            percentage(own[seed], PANEL[0]) - percentage(other[seed], PANEL[0])
            for seed in sorted(own.keys() & other.keys())
        ]
        rows.append(
            (
                f"`{arm}`",
                ARMS[arm].about,
                f"{np.mean([run['decisions'] for run in own.values()]) / 1e6:.2f} M",
                *(across_seeds([percentage(run, one) for run in own.values()], 1) for one in PANEL),
                across_seeds([run["results"][PANEL[-1]]["points"][0] for run in own.values()], 2),
                f"{across_seeds(change, 1)} (`{ARMS[arm].than}`)" if change else "",
            )
        )
    publish("baseline", keep=keep, rows=named(rows))
    print(
        f"\nMeans over seeds, with 95 % intervals by Student's t where there are several. Each "
        f"seed is measured on {deals} deals of its own; changes are taken seed by seed."
    )


def percentage(run: Mapping[str, Any], rival: str) -> float:
    """Return how many of 100 games a run's policy won."""
    return 100 * float(run["results"][rival]["wins"][0])


def main() -> None:
    """Train the runs that are missing, and show all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2, help="processor time of each run")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each arm")
    parser.add_argument("--deals", type=int, default=1000, help="deals that a run is measured on")
    parser.add_argument("--arms", nargs="*", default=[*ARMS], help=f"some of {', '.join(ARMS)}")
    parser.add_argument("--out", type=Path, default=Path("runs/baseline"), help="folder of results")
    add_save(parser)
    options = parser.parse_args()
    for arm in options.arms:
        if arm not in ARMS:
            parser.error(unknown("arm", arm, ARMS))
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    runs = []
    try:
        for seed in range(options.seeds):
            for arm in options.arms:
                config = config_of(ARMS[arm], seed, options.minutes)
                path = options.out / f"{arm}-{seed}.json"
                asked = {"arm": arm, "seed": seed, "deals": options.deals, "code": code_version()}
                asked["config"] = config.as_dict()
                if not path.is_file():
                    run = asked | train(ARMS[arm], config, options.deals)
                    write_atomic(path, json.dumps(run, indent=1).encode())
                    print(
                        f"{path}: {percentage(run, PANEL[0]):.1f} % against {PANEL[0]}", flush=True
                    )
                runs.append(read_run(path, asked))
    except (ConfigError, FiveUpError) as error:
        parser.error(str(error))
    show(runs, options.deals, keep=options.save)


if __name__ == "__main__":
    main()
