"""Optuna searches the learning rate and the entropy bonus of self-play.

Each run learns from 8,000 decisions; more of everything finds more. The runs are
compared by the points a hand that their policies make against `greedy`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import optuna

from agents.learn.training import make_learner
from agents.policies.agent import NetworkAgent
from agents.runs.config import make_config
from agents.runs.panel import measure

RUNS, DEALS = 5, 200
KEYS = {"learner": "self_play", "games": 128, "n_steps": 16, "batch_size": 256, "width": 32}


def points_of(trial: optuna.Trial) -> float:
    """Train with the trial's settings, and return the policy's points a hand."""
    chosen = {
        "learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
        "ent_coef": trial.suggest_float("ent_coef", 3e-3, 1e-1, log=True),
    }
    config = make_config({**KEYS, **chosen, "players": 2, "decisions": 8_000})
    with tempfile.TemporaryDirectory() as folder:
        learner = make_learner(config, Path(folder))
        while learner.decisions < 8_000:
            learner.update(learner.decisions / 8_000)
        policy = NetworkAgent(learner.network)
        learner.close()
    result = measure(policy, ["greedy"], config.all_rules[0], DEALS)["greedy"]
    points, low, high = result.points
    print(f"run {trial.number}: {points:+.2f} ({low:+.2f} .. {high:+.2f}) points a hand")
    return points


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
study.optimize(points_of, n_trials=RUNS)
settings = " ".join(f"{name}={value:.2g}" for name, value in study.best_params.items())
print(f"The best: {settings}, to be trained for longer: python train.py selfplay {settings}")
