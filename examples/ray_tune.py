"""Ray Tune searches the learning rate and the entropy bonus of self-play, several runs at once.

Each run takes one CPU of this machine or of the cluster that it has joined, and learns from 8,000
decisions. The runs are compared by the points a hand that their policies make against `greedy`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import ray
from ray import tune

from agents.learn.training import make_learner
from agents.policies.agent import NetworkAgent
from agents.runs.config import make_config
from agents.runs.panel import measure

RUNS, DEALS = 4, 200
KEYS = {"learner": "self_play", "games": 128, "n_steps": 16, "batch_size": 256, "width": 32}


def points_of(chosen: dict[str, Any]) -> dict[str, float]:
    """Train with the chosen settings, and return the policy's points a hand."""
    config = make_config({**KEYS, **chosen, "players": 2, "decisions": 8_000})
    with tempfile.TemporaryDirectory() as folder:
        learner = make_learner(config, Path(folder))
        while learner.decisions < 8_000:
            learner.update(learner.decisions / 8_000)
        policy = NetworkAgent(learner.network)
        learner.close()
    result = measure(policy, ["greedy"], config.all_rules[0], DEALS)["greedy"]
    return dict(zip(("points", "low", "high"), result.points, strict=True))


ray.init(log_to_driver=False)
space = {"learning_rate": tune.loguniform(1e-4, 1e-2), "ent_coef": tune.loguniform(3e-3, 1e-1)}
with tempfile.TemporaryDirectory() as folder:
    results = tune.Tuner(
        tune.with_resources(points_of, {"cpu": 1}),
        param_space=space,
        tune_config=tune.TuneConfig(num_samples=RUNS, metric="points", mode="max"),
        run_config=tune.RunConfig(storage_path=folder, verbose=0),
    ).fit()
for number, run in enumerate(results):
    points, low, high = (run.metrics[name] for name in ("points", "low", "high"))
    print(f"run {number}: {points:+.2f} ({low:+.2f} .. {high:+.2f}) points a hand")
best = results.get_best_result()
settings = " ".join(f"{name}={best.config[name]:.2g}" for name in space)
print(f"The best: {settings}, to be trained for longer: python train.py selfplay {settings}")
