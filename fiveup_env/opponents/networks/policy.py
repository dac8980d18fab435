"""`policy`: a trained policy, by compiled code. `student` is the smallest one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.checks import is_one_of, whole
from fiveup_env.encoders import factors_of, get_encoder
from fiveup_env.engine.view import as_views
from fiveup_env.errors import shown
from fiveup_env.opponents.agent import CompiledAgent
from fiveup_env.opponents.networks.compiled import (
    MOST_DEPTH,
    MOST_WIDTH,
    choose_all,
    memory_for,
    sizes_of,
    weights_of,
    write_all,
    write_values,
)
from fiveup_env.opponents.networks.files import (
    PATHS,
    SHIPPED,
    NoPolicyError,
    NotCompiledError,
    PolicyError,
    PolicyName,
    policy_folder,
    read_description,
    read_weights,
    settings_in,
)
from fiveup_env.opponents.networks.lookahead import PIECE
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fiveup_env.opponents.networks.compiled import Weights

STUDENT: Final = "student"
READS: Final = {"plain": "flat", "guided": "lookahead"}  # encoders by kind of network
NETWORK_ERROR: Final = 0.2  # of what a network of learner=expert expects, by its stakes


class Logits(ABC):
    """Plays the action with the highest logit, or with `sample` one drawn by the probabilities."""

    sample: bool

    def __init__(self, *, sample: bool = False, temperature: float = 1.0) -> None:
        if not 0 < temperature < float("inf"):
            raise PolicyError(f"temperature must be above 0, not {temperature}")
        self.sample, self._temperature = sample, temperature

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        if not self.sample:
            return self.logits(views).argmax(1)
        cumulative = self.probabilities(views).cumsum(1, np.float64)
        return (cumulative > rng.random((len(views), 1)) * cumulative[:, -1:]).argmax(1)

    def probabilities(self, views: np.ndarray) -> np.ndarray:
        """Return the probability of every action, 0 where it is not allowed."""
        logits = self.logits(views) / np.float32(self._temperature)
        weights = np.exp(logits - logits.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True)

    @abstractmethod
    def logits(self, views: np.ndarray) -> np.ndarray:
        """Return the logit of every action (float32), -inf where it is not allowed."""


@dataclass
class PolicyAgent(CompiledAgent, Logits):
    """Plays a trained policy: `policy:FOLDER`, or a shipped one, such as `policy:partners`."""

    path: PolicyName = field(default="family", metadata={"help": PATHS})
    sample: bool = field(
        default=False,
        metadata={"help": "draw actions by their probabilities"},
    )
    temperature: float = field(default=1.0, metadata={"help": "temperature of the probabilities"})

    def __post_init__(self) -> None:
        """Load the policy."""
        folder = policy_folder(self.path)
        try:
            self.weights, self.about = load_compiled(folder)
        except NotCompiledError as error:
            raise PolicyError(f"{error}; in a clone, torch:{self.path} plays it") from None
        except NoPolicyError as error:
            raise PolicyError(f"{error}; available policies: {', '.join(SHIPPED)}") from None
        temperature = self.temperature * unit_of(self.about)
        Logits.__init__(self, sample=self.sample, temperature=temperature)

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        if self.sample:
            return Logits.__call__(self, views, rng)
        actions = np.empty(len(views), np.int64)
        choose_all(views, self.weights, memory_for(self.weights), actions)
        return actions

    def logits(self, views: np.ndarray) -> np.ndarray:
        """Return the logit of every action (float32), -inf where it is not allowed."""
        views = as_views(views)
        logits = np.full((len(views), ACTION_COUNT), -np.inf, np.float32)
        write_all(views, self.weights, memory_for(self.weights), logits)
        return logits

    def values(self, views: np.ndarray) -> np.ndarray:
        """Return the network's value for the seat of every view, in the units it was trained on."""
        views, values = as_views(views), np.empty(len(views), np.float32)
        write_values(views, self.weights, memory_for(self.weights), values)
        return values


@dataclass
class Student(PolicyAgent):
    """Plays `policy:student`, a small network that learnt from true deals, in microseconds."""

    path: PolicyName = field(default=STUDENT, metadata={"help": PATHS})


def unit_of(about: Mapping[str, Any]) -> float:
    """Return the difference of logits that counts as one in a policy's probabilities.

    Expert iteration learns values as logits. They count by the error that they have.
    """
    return NETWORK_ERROR if settings_in(about).get("learner") == "expert" else 1.0


def load_compiled(folder: Path) -> tuple[Weights, dict[str, Any]]:
    """Return the weights of a saved policy for compiled code, and its metadata.

    Raises PolicyError if the policy is missing or damaged, and NotCompiledError if compiled code
    does not support its shape.
    """
    description = read_description(folder)
    shape: dict[str, Any] = description["shape"]
    kind: Any = shape.get("kind")
    name, version = (description["encoder"].get(word) for word in ("name", "version"))
    wrong = ""
    if not is_one_of(kind, READS):
        wrong = f"its kind must be {' or '.join(READS)}, not {shown(kind)}"
    elif shape.get("shared") is not True:
        wrong = f"its shared must be true, not {shown(shape.get('shared'))}"
    elif name != READS[kind]:
        wrong = f"it must read {READS[kind]}, not {shown(name)}"
    if wrong:
        raise NotCompiledError(f"the policy in {folder} cannot be compiled: {wrong}")
    for name, most in (("width", MOST_WIDTH), ("depth", MOST_DEPTH)):
        if whole(shape.get(name), 1, most) is None:
            raise PolicyError(
                f"{folder}: {name} must be a whole number from 1 to {most}, not "
                f"{shown(shape.get(name))}"
            )
    encoder = get_encoder(READS[kind])
    if version != encoder.version:
        raise PolicyError(
            f"the policy in {folder} reads {encoder.name} {shown(version)}; this code has "
            f"{encoder.name} {encoder.version}"
        )
    sizes = sizes_of(kind, shape["width"], shape["depth"])
    tensors = read_weights(folder, description, sizes)
    factors = factors_of([piece for piece in encoder.pieces if piece != PIECE])
    return weights_of(tensors, factors), description["about"]
