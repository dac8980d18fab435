"""Measure what makes self-play stronger at the same cost: `python -m benchmarks.training`.

Every arm is the configuration `selfplay` or `quick`, which is expert iteration, with one change,
trained for the same processor time on one core, from each of several seeds; one arm imitates search
instead. (`benchmarks.baseline` compares self-play with stock MaskablePPO.) The result is measured
on deals that are never trained on, in games to 61 as partners, each deal played both ways. Every
run is saved as it ends, and not repeated.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from agents.learn.imitation import Gathering, Lessons, gather, imitate
from agents.learn.training import make_learner
from agents.policies.agent import NetworkAgent
from agents.policies.networks import Shape, build
from agents.runs.config import load_config
from agents.runs.panel import FIRST_OF_TABLE, measure
from benchmarks.results import add_save, named, publish
from fiveup_env.errors import unknown
from fiveup_env.opponents.agent import Random
from fiveup_env.opponents.registry import make_agent
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.policies.networks import PolicyNetwork
    from agents.runs.config import Config

# By arm, what it changes of a configuration: `quick` if the arm is in EXPERT, else `selfplay`.
EXPERT: Final[dict[str, list[str]]] = {
    "expert iteration": [],
    "expert, no running mean": ["averaging=0"],
    "expert, labels from true deals": ["teacher=null"],
    "expert, labels from true deals by partner": ["teacher=null", "judge=partner"],
    "expert, labels from true deals, reward margin": ["teacher=null", "reward=margin"],
}
ARMS: Final[dict[str, list[str]]] = {
    **EXPERT,
    "self-play": [],
    "oracle": ["oracle=true"],
    "reference policy": ["kl_coef=0.1", "kl_every=10"],
    "past selves": ["rival_share=0.25", "past_every=5"],
    "heuristics as rivals": ["rival_share=0.25", "rivals=[defensive, partner]"],
    "reward outlook": ["reward=outlook"],
    "entropy 0.01": ["ent_coef=0.01"],
    "plain network": ["network=plain"],
    "residual network": ["network=residual"],
    "attention": ["network=attention", "width=64"],
}
IMITATION: Final = "imitation of pimc"
TEACHER: Final = "pimc:worlds=8,playout=partner,aim=hand"
POSITIONS: Final = 1_000  # moves by the teacher per second of the budget
STUDENT: Final = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)  # t, for 2 seeds and up
PANEL: Final = ("greedy", "defensive", "partner")


def train(arm: str, seed: int, seconds: float) -> dict[str, Any]:
    """Train once and return the run, with how strong its policy became."""
    began = time.process_time()
    if arm == IMITATION:
        network, decisions = taught(seed, round(POSITIONS * seconds))
    else:
        network, decisions = learnt(config_of(arm, seed), seconds)
    spent = time.process_time() - began
    found = measure(NetworkAgent(network), PANEL, Rules.preset(), 500, FIRST_OF_TABLE)
    return {
        "arm": arm,
        "seed": seed,
        "seconds": round(spent),
        "decisions": decisions,
        "wins": {rival: result.wins[0] for rival, result in found.items()},
        "points": {rival: result.points[0] for rival, result in found.items()},
    }


def config_of(arm: str, seed: int) -> Config:
    """Return the configuration of an arm."""
    name = "quick" if arm in EXPERT else "selfplay"
    return load_config(name, [*ARMS[arm], f"seed={seed}", "threads=1"])


def learnt(config: Config, seconds: float) -> tuple[PolicyNetwork, int]:
    """Return the policy of this much learning, and how many decisions it learnt from."""
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        learner = make_learner(config, Path(folder))
        while (progress := (time.process_time() - began) / seconds) < 1:
            learner.update(progress)
        return learner.network, learner.decisions


def taught(seed: int, positions: int) -> tuple[PolicyNetwork, int]:
    """Return a policy that imitates search, and how many decisions it learnt from."""
    teacher: Any = make_agent(TEACHER)
    torch.manual_seed(seed)
    network = build(Shape("guided"))
    plan = Gathering("five_up", 4, positions, seed, encoder="lookahead", games=256)
    lessons = Lessons(epochs=2, temperature=0.1, seed=seed)
    examples = gather(teacher, plan, Random())
    imitate(network, [examples], lessons)
    return network, len(examples)


def across_seeds(values: Sequence[float], decimals: int) -> str:
    """Return a mean over seeds, with half the width of its 95 % interval by Student's t."""
    mean = f"{np.mean(values):.{decimals}f}"
    if len(values) < 2:
        return mean
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{mean} +- {STUDENT[min(len(values), 10) - 2] * error:.{decimals}f}"


def table_of(runs: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return a table of the arms, with intervals over seeds."""
    rivals = (f"`{rival}`" for rival in PANEL)
    rows: list[tuple[str, ...]] = [("", "seeds", "decisions", *rivals, "points a hand, `partner`")]
    for arm in dict.fromkeys(run["arm"] for run in runs):
        own = [run for run in runs if run["arm"] == arm]
        rows.append(
            (
                arm,
                str(len(own)),
                f"{np.mean([run['decisions'] for run in own]) / 1e6:.2f} M",
                *(across_seeds([100 * run["wins"][rival] for run in own], 1) for rival in PANEL),
                across_seeds([run["points"]["partner"] for run in own], 2),
            )
        )
    return rows


def main() -> None:
    """Train the runs that are missing, and show all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="processor time of each run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--arms", nargs="*", default=[*ARMS, IMITATION])
    parser.add_argument("--out", type=Path, default=Path("runs/ablations.jsonl"))
    add_save(parser)
    options = parser.parse_args()
    for arm in options.arms:
        if arm not in (*ARMS, IMITATION):
            parser.error(unknown("arm", arm, [*ARMS, IMITATION]))
    torch.set_num_threads(1)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    lines = options.out.read_text("utf-8").splitlines() if options.out.is_file() else []
    runs = [json.loads(line) for line in lines]
    done = {(run["arm"], run["seed"]) for run in runs}
    with options.out.open("a", encoding="utf-8") as file:
        for seed in range(options.seeds):
            for arm in options.arms:
                if (arm, seed) not in done:
                    runs.append(train(arm, seed, options.seconds))
                    print(json.dumps(runs[-1]), file=file, flush=True)
    publish("options", keep=options.save, rows=named(table_of(runs)))


if __name__ == "__main__":
    main()
