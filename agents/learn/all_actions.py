"""Self-play that learns from all actions of a decision, not only from the one that was played.

Every legal action is played out in the true deal (`fiveup_env.learning.labels`), or valued by a
`teacher` that searches, and the policy's own mean of what they bring is raised. In this mean,
labels count in proportion to probabilities, and nothing else is computed from them. So however
noisy single labels are, their noise does not bias what is learnt. Where the policy knows what to
play, the mean hardly depends on its weights: only decisions that it is in doubt about are labelled,
and a share of the others, for the values.

The policy plays all games itself, by its probabilities. What is saved is the moving average
of its weights, as in expert iteration.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from agents.fitting.teachers import Teacher, label_by, make_teacher
from agents.learn.averaged import Averaged, CompiledAveraged, Examples, TorchAveraged
from agents.learn.ppo import draw
from agents.learn.rollouts import burn_in, make_batch
from agents.learn.starting import first_network
from agents.policies.networks import masked_log_probabilities
from agents.policies.weights import under
from fiveup_env.learning.labels import Judge
from fiveup_env.learning.losses import GAIN
from fiveup_env.opponents.networks.policy import PolicyAgent
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.search.units import Units

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.ppo import Figures
    from agents.runs.checkpoints import State
    from agents.runs.config import Config

SURE: Final = 0.98  # the probability from which on a policy is in no doubt
VALUED: Final = 1 / 16  # of all decisions, the share from which values are learnt
PARTS: Final = 16  # of the decisions that are labelled, each with its own chance and teacher
COUNTS: Final = ("updates", "decisions")
LOSSES: Final = ("policy_loss", "value_loss")
STARTING, PLAYING, LEARNING = range(3)  # independent random streams of an update


class AllActions:
    """A run of self-play that learns from all actions, one update at a time."""

    def __init__(self, config: Config, folder: Path) -> None:
        del folder  # nothing but checkpoints and the policy is written
        self.config = config
        self.updates = self.decisions = 0
        torch.manual_seed(config.seed)
        self.network = first_network(config)
        self.networks = [self.network]
        networks = {"network": self.network}
        self._averaged: Averaged = (
            CompiledAveraged(config, networks, LOSSES, GAIN)
            if config.is_compiled
            else TorchAveraged(config, networks, LOSSES, gain_loss)
        )
        self._learning = self._averaged.learning["network"]
        self._judge = Judge(PolicyAgent("student").weights if config.judge == "student" else None)
        self._teachers: list[Teacher | None] = [
            make_teacher(config.teacher) if config.teacher else None for _ in range(PARTS)
        ]
        self._pool = ThreadPoolExecutor(torch.get_num_threads())
        self._batch = make_batch(config, self.network.shape.encoder)
        burn_in(self._batch, self._chance(STARTING))

    def update(self, progress: float) -> Figures:
        """Play and label a window, and learn from it; `progress` is the share that is done."""
        before, rng = self.decisions, self._chance(PLAYING)
        seen = [self._move(rng) for _ in range(self.config.n_steps)]
        examples = Examples(*(np.concatenate(arrays) for arrays in zip(*seen, strict=True)))
        figures = self._averaged.learn(examples, progress, self._chance(LEARNING))
        self.updates += 1
        return figures | {"labelled": len(examples.rows) / max(1, self.decisions - before)}

    def state(self) -> State:
        """Return everything that the next update depends on."""
        arrays = {f"learnt.{name}": array for name, array in self._averaged.state().items()}
        arrays["batch"] = np.frombuffer(self._batch.save(), np.uint8)
        counts = {name: getattr(self, name) for name in COUNTS}
        return arrays, counts | {"steps": self._averaged.steps}

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self._averaged.restore(under("learnt", arrays))
        self._averaged.steps = about["steps"]
        self._batch.load(arrays["batch"].tobytes())
        for name in COUNTS:
            setattr(self, name, about[name])

    def close(self) -> None:
        """Stop the threads that label."""
        self._pool.shutdown()

    def _chance(self, stream: int) -> np.random.Generator:
        return keyed_rng("learning", self.config.seed, stream, self.updates)

    def _move(self, rng: np.random.Generator) -> Examples:
        """Make a move in every game, and return the decisions that were labelled."""
        batch = self._batch
        asked = np.flatnonzero(batch.action_mask.sum(1, dtype=np.int16) > 1)
        masks = torch.from_numpy(batch.action_mask[asked])
        with torch.inference_mode():
            logits = self._learning.logits(torch.from_numpy(batch.observation[asked]))
            logs = masked_log_probabilities(logits, masks)
            chosen, _ = draw(logs, rng)
            most = logs.amax(1).exp().numpy()
        valued = rng.random(len(asked)) < VALUED
        taken = (most < SURE) | valued
        indices = asked[taken]
        views = batch.views(indices)
        units = Units(views, self.config.reward)
        rewards = self._label(indices, views, units, rng)
        returns = np.where(valued[taken], rewards[np.arange(len(indices)), chosen[taken]], np.nan)
        examples = Examples.labelled(batch.observation[indices], rewards, units.stakes, returns)
        actions = batch.action_mask.argmax(1)
        actions[asked] = chosen
        batch.step(actions)
        self.decisions += len(asked)
        return examples

    def _label(
        self, indices: np.ndarray, views: np.ndarray, units: Units, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the value of every legal action in each of some games."""
        parts = np.array_split(np.arange(len(indices)), PARTS)
        seeds = rng.integers(1 << 63, size=PARTS)

        def label(part: np.ndarray, seed: int, teacher: Teacher | None) -> np.ndarray:
            own = np.random.default_rng(seed)
            if teacher is None:
                return self._judge.label(self._batch.states, indices[part], units.part(part), own)
            return label_by(teacher, views[part], units.part(part), own)

        return np.concatenate(list(self._pool.map(label, parts, seeds, self._teachers)))


def gain_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return by how much the mean label of a policy's choices is below that of random ones.

    Labels are NaN where an action is not legal. What all actions of a decision have in common
    changes nothing.
    """
    legal = ~labels.isnan()
    labels = labels.nan_to_num()
    labels = labels - labels.sum(1, keepdim=True) / legal.sum(1, keepdim=True)
    probabilities = masked_log_probabilities(logits, legal).exp()
    return -(probabilities * labels).sum(1).mean()
