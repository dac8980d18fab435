"""Self-play that learns from all actions of a decision, not only from the one that was played.

Every legal action is played out in the true deal (`agents.learn.labels`), and the policy's own mean
of what they bring is raised. In this mean, labels count in proportion to probabilities, and nothing
else is computed from them. So however noisy single labels are, what the policy learns is unbiased.
Where it knows what to play, the mean hardly depends on its weights: only decisions that it is in
doubt about are labelled, and a share of the others, for the values.

The policy plays all games itself, by its probabilities. What is saved is the running mean of its
weights, as in expert iteration.
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch

from agents.learn.expert import BURN_IN, approach, value_loss
from agents.learn.labels import Judge
from agents.learn.ppo import LossError, draw, scheduled
from agents.learn.rollouts import make_batch
from agents.learn.starting import first_network
from agents.policies.networks import masked_log_probabilities
from agents.policies.weights import arrays_of, put_back
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.student import Student
from fiveup_env.opponents.units import Units

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.ppo import Figures
    from agents.learn.runs.checkpoints import State
    from agents.learn.runs.config import Config

SURE: Final = 0.98  # the probability from which on a policy is in no doubt
VALUED: Final = 1 / 16  # of all decisions, the share from which values are learnt
PARTS: Final = 16  # of the decisions that are labelled, each with its own chance
COUNTS: Final = ("updates", "decisions", "labelled", "steps")
STARTING, PLAYING, LEARNING = range(3)  # independent random streams of an update


class Lesson(NamedTuple):
    """Labelled decisions, one per row."""

    rows: np.ndarray  # as the encoder writes them (int8)
    labels: np.ndarray  # what every action brought, by its stakes; NaN if it is not legal (float32)
    returns: np.ndarray  # the reward that the chosen action brought, or NaN (float32)


class AllActions:
    """A run of self-play that learns from all actions, one update at a time."""

    def __init__(self, config: Config, folder: Path) -> None:
        del folder  # nothing but checkpoints and the policy is written
        self.config = config
        self.updates = self.decisions = self.labelled = self.steps = 0
        torch.manual_seed(config.seed)
        self.network = first_network(config)
        self._learning = copy.deepcopy(self.network)
        weights = list(self._learning.parameters())
        self._optimizer = torch.optim.Adam(weights, config.learning_rate, eps=1e-5, fused=True)
        self._judge = Judge(Student().weights if config.judge == "student" else None)
        self._pool = ThreadPoolExecutor(torch.get_num_threads())
        self._batch = make_batch(config, self.network.shape.encoder)
        self._burn_in()

    def update(self, progress: float) -> Figures:
        """Play and label a window, and learn from it; `progress` is the share that is done."""
        before = self.decisions
        chance = self._chance(PLAYING)
        lessons = [self._move(chance) for _ in range(self.config.n_steps)]
        lesson = Lesson(*(np.concatenate(arrays) for arrays in zip(*lessons, strict=True)))
        figures = self._learn(lesson, progress)
        self.updates += 1
        self.labelled += len(lesson.rows)
        return figures | {"labelled": len(lesson.rows) / max(1, self.decisions - before)}

    def state(self) -> State:
        """Return everything that the next update depends on."""
        arrays = arrays_of(self._modules(), self._optimizer)
        arrays["batch"] = np.frombuffer(self._batch.save(), np.uint8)
        return arrays, {name: getattr(self, name) for name in COUNTS}

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue from a saved state."""
        put_back(arrays, self._modules(), self._optimizer)
        self._batch.load(arrays["batch"].tobytes())
        for name in COUNTS:
            setattr(self, name, about[name])

    def close(self) -> None:
        """Stop the threads that label."""
        self._pool.shutdown()

    def _modules(self) -> dict[str, torch.nn.Module]:
        return {"network": self.network, "learning": self._learning}

    def _chance(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.config.seed, stream, self.updates])

    def _burn_in(self) -> None:
        """Play until the games are at all their stages."""
        partner, chance = make_agent("partner"), self._chance(STARTING)
        for _ in range(BURN_IN):
            self._batch.step(partner(self._batch.views(), self._batch.mask, chance))

    def _move(self, chance: np.random.Generator) -> Lesson:
        """Make a move in every game, and return the decisions that were labelled."""
        batch = self._batch
        asked = np.flatnonzero(batch.mask.sum(1, dtype=np.int16) > 1)
        masks = torch.from_numpy(batch.mask[asked])
        with torch.inference_mode():
            logits = self._learning.logits(torch.from_numpy(batch.observation[asked]))
            chosen, _ = draw(logits, masks, chance)
            most = masked_log_probabilities(logits, masks).amax(1).exp().numpy()
        valued = chance.random(len(asked)) < VALUED
        taken = (most < SURE) | valued
        which = asked[taken]
        units = Units(batch.views(which), self.config.reward)
        rewards = self._label(which, units, chance)
        returns = np.where(valued[taken], rewards[np.arange(len(which)), chosen[taken]], np.nan)
        labels = rewards / units.stakes()[:, None]
        lesson = (batch.observation[which], labels.astype(np.float32), returns.astype(np.float32))
        actions = batch.mask.argmax(1)
        actions[asked] = chosen
        batch.step(actions)
        self.decisions += len(asked)
        return Lesson(*lesson)

    def _label(self, which: np.ndarray, units: Units, chance: np.random.Generator) -> np.ndarray:
        """Return what every legal action brings in each of some games, in the true deal."""
        parts = np.array_split(np.arange(len(which)), PARTS)
        seeds = chance.integers(1 << 63, size=PARTS)

        def label(part: np.ndarray, seed: int) -> np.ndarray:
            own = np.random.default_rng(seed)
            return self._judge.label(self._batch.states, which[part], units.part(part), own)

        return np.concatenate(list(self._pool.map(label, parts, seeds)))

    def _learn(self, lesson: Lesson, progress: float) -> Figures:
        config = self.config
        rate = scheduled(config.learning_rate, config.learning_rate_end, progress)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        chance = self._chance(LEARNING)
        arrays = [torch.from_numpy(array) for array in lesson]
        count = max(1, round(len(lesson.rows) / config.batch_size))
        steps = [
            self._step(*(array[which] for array in arrays))
            for _ in range(config.n_epochs)
            for order in [chance.permutation(len(lesson.rows))]
            for which in map(torch.from_numpy, np.array_split(order, count))
            if len(which)
        ]
        if not steps:  # no move of a short window left a choice
            return {"learning_rate": rate}
        names = ("policy_loss", "value_loss")
        figures = dict(zip(names, np.mean(steps, 0).tolist(), strict=True))
        return figures | {"learning_rate": rate}

    def _step(self, rows: torch.Tensor, labels: torch.Tensor, returns: torch.Tensor) -> list[float]:
        """Make one step of the optimizer on a minibatch, and return the losses."""
        logits, values = self._learning(rows)
        losses = [gain_loss(logits, labels), value_loss(values, returns)]
        loss = losses[0] + self.config.vf_coef * losses[1]
        if not torch.isfinite(loss):
            raise LossError(f"the loss is {loss.item()}")
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        weights = list(self._learning.parameters())
        torch.nn.utils.clip_grad_norm_(weights, self.config.max_grad_norm)
        self._optimizer.step()
        self.steps += 1
        approach(list(self.network.parameters()), weights, self.config.averaging, self.steps)
        return [one.item() for one in losses]


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
