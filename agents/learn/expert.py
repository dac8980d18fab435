"""Expert iteration: regression on labels from true deals (`fiveup_env.learning.labels`).

A small network in compiled code, the student, plays the games. The policy learns beside it from the
same positions, and may be larger. Every update plays a window in all games and labels its decisions
by playouts of a judge; both networks learn the differences between the actions of a decision, and
the value of the one that was played. Differences are learnt by regression: a softmax of single
samples would favour whichever action was lucky.

`partner` plays and judges first. Every few updates, the student plays duplicate deals against
the current player. If it makes more points, it takes over: it plays from then on, judges too with
`judge=student`, and the run's folder `student` has it as a policy.

The moving average of the weights plays (`agents.learn.averaged`).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import torch

from agents.fitting.teachers import Teacher, label_by, make_teacher
from agents.learn.averaged import CompiledAveraged, Examples
from agents.learn.rollouts import burn_in
from agents.learn.starting import first_network
from agents.policies.files import save_policy
from agents.policies.networks import Shape, build
from agents.policies.weights import under
from fiveup_env.arena.statistics.duels import duel
from fiveup_env.encoders import NoRows, get_encoder, row_size
from fiveup_env.encoders.pieces import unchecked
from fiveup_env.envs.batch import Batch
from fiveup_env.envs.streams import FIRST_OF_STREAMS, derived_seed
from fiveup_env.learning.labels import Judge
from fiveup_env.learning.losses import DIFFERENCES
from fiveup_env.opponents.agent import Random
from fiveup_env.opponents.networks.compiled import weights_of
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.opponents.search.units import Units

if TYPE_CHECKING:
    from pathlib import Path

    from agents.learn.ppo import Figures
    from agents.policies.networks import PolicyNetwork
    from agents.runs.checkpoints import State
    from agents.runs.config import Config
    from fiveup_env.envs.episodes import EpisodeName
    from fiveup_env.opponents.networks.compiled import Weights

PARTS: Final = 16  # of the games, each with its own chance, whatever the number of threads
STUDENT: Final = "student"  # the folder, in that of the run, of the last student that was accepted
COUNTS: Final = ("updates", "decisions", "accepted")
LOSSES: Final = ("policy_loss", "value_loss", "student_loss", "student_value_loss")
STARTING, PLAYING, LEARNING, GATING = range(4)  # independent random streams


class Expert:
    """A run of expert iteration, one update at a time."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.updates = self.decisions = self.accepted = 0
        torch.manual_seed(config.seed)
        self.network = first_network(config)
        self.networks = [self.network]
        encoder = self.network.shape.encoder
        self.student = build(Shape("guided", config.student, 1, shared=True))
        self._accepted = build(self.student.shape)  # the last student that won a gate
        networks = {"network": self.network, "student": self.student}
        self._averaged = CompiledAveraged(config, networks, LOSSES, DIFFERENCES)
        self._parts = [
            Part(config, encoder, number, games)
            for number, games in enumerate(_split(config.games, PARTS))
        ]
        self._pool = ThreadPoolExecutor(torch.get_num_threads())
        self._player = self._judge = Judge()
        list(self._pool.map(Part.burn_in, self._parts))

    def update(self, progress: float) -> Figures:
        """Play and label a window, and learn from it; `progress` is the share that is done."""
        given = self._player, self._judge, self.updates
        played = self._pool.map(lambda part: part.play(*given), self._parts)
        examples = Examples(*(np.concatenate(arrays) for arrays in zip(*played, strict=True)))
        figures = self._learn(examples, progress)
        self.updates += 1
        self.decisions += len(examples.rows)
        if self.updates % self.config.gate_every == 0:
            figures["gate"] = self._gate()
        return figures | {"accepted": self.accepted}

    def state(self) -> State:
        """Return everything that the next update depends on."""
        arrays = {f"learnt.{name}": array for name, array in self._averaged.state().items()}
        arrays |= {
            f"accepted.{name}": weight.numpy().copy()
            for name, weight in self._accepted.state_dict().items()
        }
        arrays |= {f"games.{part.number}": part.state() for part in self._parts}
        counts = {name: getattr(self, name) for name in COUNTS}
        return arrays, counts | {"steps": self._averaged.steps}

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self._averaged.restore(under("learnt", arrays))
        accepted = under("accepted", arrays)
        self._accepted.load_state_dict(
            {name: torch.from_numpy(weight) for name, weight in accepted.items()}
        )
        self._averaged.steps = about["steps"]
        for part in self._parts:
            part.restore(arrays[f"games.{part.number}"])
        for name in COUNTS:
            setattr(self, name, about[name])
        if self.accepted:
            self._let_play(compiled_weights(self._accepted))

    def close(self) -> None:
        """Stop the threads that play."""
        self._pool.shutdown()

    def _learn(self, examples: Examples, progress: float) -> Figures:
        rng = np.random.default_rng([self.config.seed, LEARNING, self.updates])
        return self._averaged.learn(examples, progress, rng)

    def _gate(self) -> float:
        """Play the student against the current player; if it wins, it takes over.

        Return its points a hand.
        """
        config, weights = self.config, compiled_weights(self.student)
        rng = np.random.default_rng([config.seed, GATING, self.updates])
        margins = []
        for deals, rules in zip(
            _split(config.gate_deals, len(config.all_rules)), config.all_rules, strict=False
        ):
            seeds = rng.integers(FIRST_OF_STREAMS, 1 << 64, deals, np.uint64)
            margins.append(duel([Judge(weights), self._player], rules, seeds, "hand").margins)
        margin = float(np.concatenate(margins).mean())
        if margin > 0:
            self._accepted.load_state_dict(self.student.state_dict())
            self.accepted += 1
            about = {"updates": self.updates, "config": config.as_dict()}
            save_policy(self.folder / STUDENT, self._accepted, about)
            self._let_play(weights)
        return margin

    def _let_play(self, weights: Weights) -> None:
        """Let a student that was accepted play from now on, and judge if it should."""
        self._player = Judge(weights)
        if self.config.judge == "student":
            self._judge = self._player


class Part:
    """A share of the games, with its own chance."""

    def __init__(self, config: Config, encoder: str, number: int, games: int) -> None:
        self.config, self.number = config, number
        self._size, self._encode = row_size(get_encoder(encoder)), unchecked(get_encoder(encoder))
        self._teacher: Teacher | None = make_teacher(config.teacher) if config.teacher else None
        self._batch = Batch(
            games,
            config.rules,
            config.players,
            encoder=NoRows(),
            episode=cast("EpisodeName", config.episode),
            seed=derived_seed(config.seed, number),
        )
        self._batch.reset()

    def burn_in(self) -> None:
        """Play until the games are at all their stages."""
        burn_in(self._batch, self._chance(STARTING, 0))

    def play(self, player: Judge, judge: Judge, update: int) -> Examples:
        """Play a window, and return its decisions with their labels."""
        config, batch, rng = self.config, self._batch, self._chance(PLAYING, update)
        seen = []
        for _ in range(config.n_steps):
            views = batch.views()
            actions = player(views, rng)
            indices = np.flatnonzero(batch.action_mask.sum(1) > 1)
            units = Units(views[indices], config.reward)
            if self._teacher:
                rewards = label_by(self._teacher, views[indices], units, rng)
            else:
                rewards = judge.label(batch.states, indices, units, rng)
            rows = np.empty((len(indices), self._size), np.int8)
            self._encode(views[indices], rows)
            returns = rewards[np.arange(len(indices)), actions[indices]]
            seen.append(Examples.labelled(rows, rewards, units.stakes, returns))
            odd = np.flatnonzero(rng.random(len(batch)) < config.explore)
            actions[odd] = Random().choose_unchecked(views[odd], rng)
            batch.step(actions)
        return Examples(*(np.concatenate(arrays) for arrays in zip(*seen, strict=True)))

    def state(self) -> np.ndarray:
        """Return the games as bytes."""
        return np.frombuffer(self._batch.save(), np.uint8)

    def restore(self, state: np.ndarray) -> None:
        """Continue the games from a saved state."""
        self._batch.load(state.tobytes())

    def _chance(self, stream: int, update: int) -> np.random.Generator:
        return keyed_rng("learning", self.config.seed, stream, update, self.number)


def compiled_weights(network: PolicyNetwork) -> Weights:
    """Return the weights of a network for compiled code."""
    tensors = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    return weights_of(tensors, network.reader.factors.numpy())


def _split(number: int, parts: int) -> list[int]:
    """Return a number as a sum of as many nearly equal parts, without those of 0."""
    return [len(part) for part in np.array_split(np.arange(number), parts) if len(part)]
