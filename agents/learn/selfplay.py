"""Self-play: one learner in every seat of many games, and its state between updates."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from agents.learn.compiled_ppo import CompiledLearner
from agents.learn.partners import Partners
from agents.learn.ppo import TorchLearner
from agents.learn.rivals import Rivals
from agents.learn.rollouts import Rollouts, make_batch
from agents.learn.starting import first_network
from agents.policies.files import save_policy
from agents.policies.weights import under
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.ppo import Figures, Learner
    from agents.learn.rollouts import Lesson
    from agents.policies.networks import PolicyNetwork
    from agents.runs.checkpoints import State
    from agents.runs.config import Config

PLAYING, LEARNING, STARTING = range(3)  # independent random streams of an update


class SelfPlay:
    """A run of self-play, one update at a time."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = config
        self.folder = folder
        self.updates = 0
        self.decisions = 0
        torch.manual_seed(config.seed)
        make: type[Learner] = CompiledLearner if config.is_compiled else TorchLearner
        self._learners = [make(config, first_network(config)) for _ in range(config.network_count)]
        self._batch = make_batch(config, self.network.shape.encoder)
        self._rivals = Rivals(config, self._batch, folder)
        self._partners = Partners(config, self._batch)
        rng = self._chance(STARTING)
        for others in (self._rivals, self._partners):
            others.begin(rng)
        self._rollouts = Rollouts(config, self._batch, (self._rivals, self._partners))

    @property
    def network(self) -> PolicyNetwork:
        """The current policy, or that of seat 0."""
        return self._learners[0].network

    @property
    def networks(self) -> list[PolicyNetwork]:
        """The current policy: a network for all seats, for each side, or for each seat."""
        return [learner.network for learner in self._learners]

    def update(self, progress: float) -> Figures:
        """Play a window and learn from it; `progress` is the share of the run that is done."""
        rng = self._chance(PLAYING)
        chooses = [partial(learner.choose, rng=rng) for learner in self._learners]
        lesson = self._rollouts.play(chooses, rng)
        figures = self._learn(lesson, progress, self._chance(LEARNING))
        self.updates += 1
        self.decisions += len(lesson)
        if self.config.kl_coef and self.updates % self.config.kl_every == 0:
            for learner in self._learners:
                learner.refresh_reference()
        if self.config.past_every and self.updates % self.config.past_every == 0:
            self._remember()
        return figures

    def state(self) -> State:
        """Return everything that the next update depends on."""
        arrays = {
            f"learners.{number}.{name}": array
            for number, learner in enumerate(self._learners)
            for name, array in learner.state().items()
        }
        rival_arrays, rivals = self._rivals.state()
        arrays |= {f"rivals.{name}": array for name, array in rival_arrays.items()}
        partners = self._partners.state()
        arrays |= {f"partners.{name}": array for name, array in partners.items()}
        rollouts = self._rollouts.state()
        arrays |= {f"rollouts.{name}": array for name, array in rollouts.items()}
        arrays["batch"] = np.frombuffer(self._batch.save(), np.uint8)
        return arrays, {"updates": self.updates, "decisions": self.decisions, "rivals": rivals}

    def close(self) -> None:
        """Do nothing: self-play holds nothing outside this process."""

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for number, learner in enumerate(self._learners):
            learner.restore(under(f"learners.{number}", arrays))
        self._rivals.restore(under("rivals", arrays), about["rivals"])
        self._partners.restore(under("partners", arrays))
        self._rollouts.restore(under("rollouts", arrays))
        self._batch.load(arrays["batch"].tobytes())
        self.updates, self.decisions = about["updates"], about["decisions"]

    def _learn(self, lesson: Lesson, progress: float, rng: np.random.Generator) -> Figures:
        """Let every network learn from its own decisions, and return the means of the figures."""
        values_only = self.decisions < self.config.warm_up
        figures = [
            learner.learn(part, progress, rng, values_only=values_only)
            for number, learner in enumerate(self._learners)
            if len(part := lesson.of_network(number))
        ]
        return {name: float(np.mean([each[name] for each in figures])) for name in figures[0]}

    def _chance(self, stream: int) -> np.random.Generator:
        """Return this update's generator for a stream; no generator's state has to be saved."""
        return keyed_rng("learning", self.config.seed, stream, self.updates)

    def _remember(self) -> None:
        """Add the current policy to the rivals."""
        past = f"past/{self.updates:06}"
        save_policy(self.folder / past, self.network, {"updates": self.updates})
        self._rivals.join(past)
