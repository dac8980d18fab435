"""Training: updates until the run's budget is spent, with measurements and checkpoints between."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import torch

from agents.arena.statistics import TAILS
from agents.arena.tables import columns, percent, points
from agents.learn.panel import FIRST_OF_TABLE, Rate, Result, measure
from agents.learn.ppo import LossError
from agents.learn.runs.folder import Run, code_version, command
from agents.learn.runs.metrics import Metrics, draw_curve
from agents.policies.agent import NetworkAgent
from agents.policies.files import save_policy
from fiveup_env.errors import FiveUpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np

    from agents.learn.ppo import Figures
    from agents.learn.runs.checkpoints import Checkpoint, State
    from agents.learn.runs.config import Config
    from agents.learn.runs.display import Display
    from agents.policies.networks import PolicyNetwork
    from fiveup_env.rules.fields import Rules


# Rules, a rival, and what the policy did against it.
Row: TypeAlias = "tuple[Rules, str, Result]"

# Where learners are: each is loaded for the runs that ask for it alone.
LEARNERS: Final = {
    "self_play": ("agents.learn.selfplay", "SelfPlay"),
    "rllib": ("agents.cluster.training", "RLlibPlay"),
    "plain": ("agents.learn.baseline", "Baseline"),
}


class TrainingError(FiveUpError):
    """A run that cannot go on; the message names the last good checkpoint."""


class Learning(Protocol):
    """What learns in a run, an update at a time."""

    updates: int

    @property
    def decisions(self) -> int:
        """How many decisions were learnt from."""

    @property
    def network(self) -> PolicyNetwork:
        """The policy as it is now."""

    def update(self, progress: float) -> Figures:
        """Play and learn; `progress` is the share of the run that is done."""

    def state(self) -> State:
        """What the next update depends on."""

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Go on from a state."""

    def close(self) -> None:
        """Give back what is held beyond this process."""


def make_learner(config: Config, folder: Path) -> Learning:
    """The learner that a configuration asks for."""
    room, name = LEARNERS[config.learner]
    made: Learning = getattr(import_module(room), name)(config, folder)
    return made


class Training:
    """A run that goes on: its learner, and when the next measurement and checkpoint are due."""

    def __init__(
        self, config: Config, run: Run, display: Display, checkpoint: Checkpoint | None = None
    ) -> None:
        _prepare_torch(config.threads or os.cpu_count() or 1)
        self.config, self.run, self.display = config, run, display
        self.learner = make_learner(config, run.folder)
        self.seconds = 0.0
        if checkpoint:
            self.learner.restore(checkpoint.arrays, checkpoint.about)
            self.seconds = checkpoint.about["seconds"]
        self._panel: dict[str, Rate] = {}

    @property
    def progress(self) -> float:
        """The share of the run that is done."""
        if self.config.decisions is not None:
            return self.learner.decisions / self.config.decisions
        return self.seconds / (60 * self.config.minutes)

    def train(self) -> bool:
        """Train until the budget is spent, or until told to stop: then the answer is False."""
        metrics = Metrics(self.run, self.learner.updates)
        measured = saved = self.seconds
        try:
            with _asked_to_stop() as asked:
                while self.progress < 1 and not asked:
                    line = self._update()
                    if self.seconds - measured >= 60 * self.config.panel_minutes:
                        line["panel"] = self._measure()
                        measured = self.seconds
                    metrics.write(line)
                    self.display.show(line, self.progress)
                    if self.seconds - saved >= 60 * self.config.checkpoint_minutes:
                        self.save()
                        saved = self.seconds
        finally:
            metrics.close()
        self.save()
        return self.progress >= 1

    def save(self) -> None:
        """Write a checkpoint, and the policy as it is now."""
        self.run.save(self.config, self.learner.state(), self.seconds)
        self.save_policy(self._panel)

    def save_policy(self, results: Any) -> None:
        """Write the policy, with all that should be known about it."""
        about = {
            "rules": self.config.rules,
            "players": self.config.players,
            "command": command(),
            "code": code_version(),
            "decisions": self.learner.decisions,
            "seconds": round(self.seconds),
            "config": self.config.as_dict(),
            "results": results,
        }
        save_policy(self.run.policy, self.learner.network, about)

    def table(self) -> list[Row]:
        """The finished policy against the panel, by all its rules."""
        policy = NetworkAgent(self.learner.network)
        rows = []
        for rules in self.config.all_rules:
            results = measure(
                policy, self.config.panel, rules, self.config.table_deals, FIRST_OF_TABLE
            )
            rows += [(rules, rival, result) for rival, result in results.items()]
        return rows

    def _update(self) -> dict[str, Any]:
        began, before = time.monotonic(), self.learner.decisions
        try:
            figures = self.learner.update(self.progress)
        except LossError as error:
            raise TrainingError(
                f"update {self.learner.updates + 1}: {error}; {self.run.last_good()}"
            ) from None
        spent = time.monotonic() - began
        self.seconds += spent
        return {
            "update": self.learner.updates,
            "decisions": self.learner.decisions,
            "seconds": round(self.seconds, 2),
            "decisions_per_second": round((self.learner.decisions - before) / spent),
            **figures,
        }

    def _measure(self) -> dict[str, Rate]:
        """The policy as it is now against the panel, by the first of its rules."""
        began = time.monotonic()
        policy = NetworkAgent(self.learner.network)
        rules, deals = self.config.all_rules[0], self.config.panel_deals
        results = measure(policy, self.config.panel, rules, deals)
        self._panel = {rival: result.wins for rival, result in results.items()}
        self.seconds += time.monotonic() - began
        return self._panel


def _prepare_torch(threads: int) -> None:
    """Let the same run on the same number of threads give the same weights, bit for bit."""
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(mode=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


@contextmanager
def _asked_to_stop() -> Iterator[list[int]]:
    """A list that is no longer empty once Ctrl-C or SIGTERM came; the second time stops at once."""
    came: list[int] = []

    def take_note(number: int, _frame: Any) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    before = {one: signal.signal(one, take_note) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def finish(training: Training) -> None:
    """Draw the curve, play the table, and say where the policy lies."""
    config, run, say = training.config, training.run, training.display.say
    draw_curve(run)
    if config.table_deals:
        rows = training.table()
        say(f"\nOn {config.table_deals} deals, each played every way:\n{_text_of(rows)}")
        for row in rows:
            if row[1] == config.target:
                say(_lower_bound(*row, config.table_deals))
        training.save_policy([(_name_of(rules), *result) for rules, *result in rows])
    policy, curve = os.path.relpath(run.policy), os.path.relpath(run.curve_file)
    say(f"\nThe policy lies in {policy}, the learning curve in {curve}.")
    say(f"Let it play: python evaluate.py --agents policy:{policy},greedy")


def _name_of(rules: Rules) -> str:
    return f"{rules.name}, {rules.players} players"


def _text_of(rows: Sequence[Row]) -> str:
    """A table for people."""
    head = ("rules", "against", "games won, of 100", "points a hand")
    body = [
        (_name_of(rules), rival, percent(wins[0], wins[1:]), points(margin[0], margin[1:]))
        for rules, rival, (wins, margin) in rows
    ]
    return columns([head, *body], right=set())


def _lower_bound(rules: Rules, target: str, result: Result, deals: int) -> str:
    """What is known of a best response to a target, having found one response."""
    # Resampling deals that were all won shows no doubt; so many of them leave this much.
    surely = (TAILS[0] / 100) ** (1 / deals)
    wins, points_a_hand = min(result.wins[1], surely), result.points[1]
    if wins <= 1 / rules.sides:
        return f"{_name_of(rules)}: nothing was found that surely beats {target}."
    return (
        f"{_name_of(rules)}: a best response to {target} wins at least {100 * wins:.1f} of 100 "
        f"games, and {points_a_hand:+.2f} points a hand."
    )
