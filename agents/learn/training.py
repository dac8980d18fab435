"""Training: updates until a run's budget is spent, with measurements and checkpoints in between."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import torch

from agents.policies.agent import NetworkAgent, policy_folders, seated, spec_of
from agents.policies.files import save_policy
from agents.runs.metrics import Metrics, draw_curve
from agents.runs.panel import FIRST_OF_TABLE, Result, measure
from agents.version import code_version
from fiveup_env.arena.statistics.bootstrap import TAILS
from fiveup_env.arena.tables import columns, percent, points
from fiveup_env.errors import FiveUpError
from fiveup_env.learning.learner import LossError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np

    from agents.learn.ppo import Figures
    from agents.policies.networks import PolicyNetwork
    from agents.runs.checkpoints import Checkpoint, State
    from agents.runs.config import Config
    from agents.runs.display import Display
    from agents.runs.folder import Run
    from fiveup_env.rules.fields import Rules


# The rules, a rival, and the policy's result against it.
Row: TypeAlias = "tuple[Rules, str, Result]"

# The module and the class of every learner; each is imported only by the runs that use it.
LEARNERS: Final = {
    "self_play": ("agents.learn.selfplay", "SelfPlay"),
    "expert": ("agents.learn.expert", "Expert"),
    "all_actions": ("agents.learn.all_actions", "AllActions"),
    "rllib": ("agents.cluster.training", "RLlibPlay"),
    "plain": ("agents.learn.baseline", "Baseline"),
}
COMPILED: Final = ("agents.learn.compiled_selfplay", "CompiledSelfPlay")


class TrainingError(FiveUpError):
    """A run that cannot continue; the message names the last good checkpoint."""


class Learning(Protocol):
    """The protocol of a learner: it makes one update at a time."""

    updates: int

    @property
    def decisions(self) -> int:
        """The number of decisions learnt from so far."""

    @property
    def network(self) -> PolicyNetwork:
        """The current policy, or that of seat 0."""

    @property
    def networks(self) -> Sequence[PolicyNetwork]:
        """The current policy: one network for all seats, or one for each side or seat."""

    def update(self, progress: float) -> Figures:
        """Play and learn, and return figures; `progress` is the share of the run that is done."""

    def state(self) -> State:
        """Return everything that the next update depends on, as copies."""

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue from a saved state."""

    def close(self) -> None:
        """Release what is held outside this process."""


def make_learner(config: Config, folder: Path) -> Learning:
    """Return the learner that a configuration asks for; `folder` is the run's."""
    module, name = COMPILED if config.is_compiled_whole else LEARNERS[config.learner]
    learner: Learning = getattr(import_module(module), name)(config, folder)
    return learner


class Training:
    """A run in progress: its learner, its measurements and its checkpoints."""

    def __init__(
        self, config: Config, run: Run, display: Display, checkpoint: Checkpoint | None = None
    ) -> None:
        _prepare_torch(config.threads or os.cpu_count() or 1)
        self.config, self.run, self.display = config, run, display
        self.learner = make_learner(config, run.folder)
        self.seconds = 0.0
        if checkpoint:
            self._restore(checkpoint)
        self._panel: dict[str, Result] = {}

    @property
    def progress(self) -> float:
        """The share of the run that is done; the last update may overrun the budget."""
        if self.config.decisions is not None:
            return min(1.0, self.learner.decisions / self.config.decisions)
        return min(1.0, self.seconds / (60 * self.config.minutes))

    def train(self) -> bool:
        """Train until the budget is spent, or until a signal; return whether it was spent."""
        metrics = Metrics(self.run, self.learner.updates)
        measured = saved = self.seconds
        try:
            with _stop_signals() as signals:
                while self.progress < 1 and not signals:
                    line = self._update()
                    due = self.seconds - measured >= 60 * self.config.panel_minutes
                    if due or self.progress >= 1:
                        line |= self._measure()
                        measured = self.seconds
                    metrics.write(line)
                    self.display.show(line, self.progress)
                    if self.seconds - saved >= 60 * self.config.checkpoint_minutes:
                        self.save()
                        saved = self.seconds
                self.save()
        finally:
            metrics.close()
        return self.progress >= 1

    def save(self) -> None:
        """Write a checkpoint and the current policy."""
        self.run.save(self.config, self.learner.state(), self.seconds)
        self.save_policy(self._panel)

    def save_policy(self, results: Any) -> None:
        """Write the policy with its metadata, which include the results of measurements."""
        about = {
            "rules": self.config.rules,
            "players": self.config.players,
            "command": self.run.command,
            "code": code_version(),
            "decisions": self.learner.decisions,
            "seconds": round(self.seconds),
            "config": self.config.as_dict(),
            "results": results,
        }
        networks = self.learner.networks
        for folder, network in zip(
            policy_folders(self.run.policy, len(networks)), networks, strict=True
        ):
            save_policy(folder, network, about)

    def table(self) -> list[Row]:
        """Return the finished policy's results against the panel, under each of its rules."""
        policy = seated([NetworkAgent(network) for network in self.learner.networks])
        rows = []
        for rules in dict.fromkeys(self.config.all_rules):  # each once, however often it is played
            results = measure(
                policy, self.config.panel, rules, self.config.table_deals, FIRST_OF_TABLE
            )
            rows += [(rules, rival, result) for rival, result in results.items()]
        return rows

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint, which may be one of another version of the code."""
        try:
            self.learner.restore(checkpoint.arrays, checkpoint.about)
            self.seconds = checkpoint.about["seconds"]
        except FiveUpError:
            raise
        except (LookupError, TypeError, ValueError, RuntimeError) as error:
            why = " ".join(str(error).split())
            raise TrainingError(f"{checkpoint.path} does not fit this code: {why}") from None

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
            # A clock that steps may stand still for a short update.
            "decisions_per_second": round((self.learner.decisions - before) / max(spent, 1e-3)),
            **figures,
        }

    def _measure(self) -> dict[str, Any]:
        """Return the current policy's win rates and points a hand against the panel.

        All are by the first of the run's rules.
        """
        began = time.monotonic()
        policy = seated([NetworkAgent(network) for network in self.learner.networks])
        rules, deals = self.config.all_rules[0], self.config.panel_deals
        self._panel = measure(policy, self.config.panel, rules, deals)
        self.seconds += time.monotonic() - began
        return {"panel": self._panel}


def _prepare_torch(threads: int) -> None:
    """Make the same run on the same number of threads give the same weights, bit for bit."""
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(mode=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """Yield a list that gets the first Ctrl-C or SIGTERM; a second one interrupts at once."""
    received: list[int] = []

    def receive(number: int, _frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    before = {number: signal.signal(number, receive) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def finish(training: Training) -> None:
    """Draw the learning curve, play and print the final table, and say where the policy is."""
    config, run, say = training.config, training.run, training.display.say
    draw_curve(run)
    if config.table_deals:
        rows = training.table()
        say(f"\nOn {config.table_deals} deals, each played in every seating:\n{_table_text(rows)}")
        for row in rows:
            if row[1] == config.target:
                say(_lower_bound(*row, config.table_deals))
        training.save_policy([(_rules_name(rules), *result) for rules, *result in rows])
    policy, curve = os.path.relpath(run.policy), os.path.relpath(run.curve_file)
    say(f"\nThe policy is in {policy}, its learning curve in {curve}.")
    spec = spec_of(policy, config.encoder)
    say(f"To play it against greedy: python evaluate.py --agents {spec},greedy")


def _rules_name(rules: Rules) -> str:
    return f"{rules.name}, {rules.players} players"


def _table_text(rows: Sequence[Row]) -> str:
    """Return the results as a table of text."""
    head = ("rules", "against", "win rate (%)", "points a hand")
    body = [
        (_rules_name(rules), rival, percent(wins[0], wins[1:]), points(margin[0], margin[1:]))
        for rules, rival, (wins, margin) in rows
    ]
    return columns([head, *body], right=set())


def _lower_bound(rules: Rules, target: str, result: Result, deals: int) -> str:
    """Return, as a sentence, the lower bound that one response sets for a best response."""
    # The bootstrap sees no uncertainty in deals that were all won; this is the most that this many
    # deals can show.
    most_shown = (TAILS[0] / 100) ** (1 / deals)
    wins, points_a_hand = min(result.wins[1], most_shown), result.points[1]
    if wins <= 1 / rules.sides:
        return f"{_rules_name(rules)}: the run found no response that clearly beats {target}."
    return (
        f"{_rules_name(rules)}: a best response to {target} wins at least {100 * wins:.1f} % of "
        f"the games and makes at least {points_a_hand:+.2f} points a hand."
    )
