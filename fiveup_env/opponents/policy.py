"""`policy`: a trained policy, by compiled code wherever that has its shape.

What it lacks, other shapes and other devices, is played by what `play_others_with` names, as the
laboratory does with PyTorch. Where a policy can be compiled, it is, so that it makes the same moves
with PyTorch and without.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.engine.view import as_views, check_masks
from fiveup_env.errors import shown
from fiveup_env.laboratory import laboratory_needed
from fiveup_env.opponents.networks import memory_for, write_all, write_values
from fiveup_env.opponents.policy_files import (
    PATHS,
    NoPolicyError,
    NotCompiledError,
    PolicyError,
    policies_here,
    policy_folder,
)
from fiveup_env.opponents.student import load_compiled
from fiveup_env.opponents.units import NETWORK_ERROR, settings_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fiveup_env.opponents.networks import Weights

COMPILED: Final = "cpu"

# The class that plays what compiled code lacks, as "module:Class".
_OTHERS: list[str] = []


def play_others_with(place: str) -> None:
    """Name the class that plays other shapes and devices, as `"module:Class"`."""
    _OTHERS[:] = [place]


class Logits(ABC):
    """Plays the action with the highest logit, or with `sample` one drawn by the probabilities."""

    sample: bool

    def __init__(self, *, sample: bool = False, temperature: float = 1.0) -> None:
        if not 0 < temperature < float("inf"):
            raise PolicyError(f"temperature must be above 0, not {temperature}")
        self.sample, self._temperature = sample, temperature

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        if not self.sample:
            return self.logits(views, masks).argmax(1)
        cumulative = self.probabilities(views, masks).cumsum(1, np.float64)
        return (cumulative > random.random((len(views), 1)) * cumulative[:, -1:]).argmax(1)

    def probabilities(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the probability of every action, 0 where it is not allowed."""
        logits = self.logits(views, masks) / np.float32(self._temperature)
        weights = np.exp(logits - logits.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True)

    @abstractmethod
    def logits(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the logit of every action (float32), -inf where it is not allowed."""


@dataclass
class PolicyAgent(Logits):
    """Plays a trained policy: `policy:FOLDER`, or a shipped one, such as `policy:partners`."""

    path: str = field(default="family", metadata={"help": PATHS})
    sample: bool = field(
        default=False,
        metadata={"help": "draw actions by their probabilities"},
    )
    temperature: float = field(default=1.0, metadata={"help": "temperature of the probabilities"})
    device: str = field(default=COMPILED, metadata={"help": "cpu or cuda"})

    def __post_init__(self) -> None:
        """Load the policy."""
        self._weights: Weights | None = None
        self._other: Any = None  # what plays in place of compiled code
        folder, lacks = policy_folder(self.path), f"device {shown(self.device)}"
        if self.device == COMPILED:
            try:
                self._weights, self.about = load_compiled(folder)
            except NotCompiledError as error:
                lacks = f"{error}; PyTorch, which plays it,"
            except NoPolicyError as error:
                raise PolicyError(f"{error}; available policies: {policies_here()}") from None
        if self._weights is None:
            self._other = _other(folder, self.device, lacks)
            self.about = self._other.about
        temperature = self.temperature * unit_of(self.about)
        super().__init__(sample=self.sample, temperature=temperature)

    def logits(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the logit of every action (float32), -inf where it is not allowed."""
        if self._weights is None:
            return self._other.logits(views, masks)
        views = as_views(views)
        check_masks(masks, len(views))
        logits = np.full(masks.shape, -np.inf, np.float32)
        write_all(views, self._weights, memory_for(self._weights), logits)
        return np.where(masks > 0, logits, np.float32(-np.inf))

    def values(self, views: np.ndarray) -> np.ndarray:
        """Return the network's value for the seat of every view, in the units it was trained on."""
        if self._weights is None:
            return self._other.values(views)
        views, values = as_views(views), np.empty(len(views), np.float32)
        write_values(views, self._weights, memory_for(self._weights), values)
        return values


def unit_of(about: Mapping[str, Any]) -> float:
    """Return the difference of logits that counts as one in a policy's probabilities.

    Expert iteration learns values as logits. They count by the error that they have.
    """
    return NETWORK_ERROR if settings_in(about).get("learner") == "expert" else 1.0


def _other(folder: Path, device: str, lacks: str) -> Any:
    """Return the player of what compiled code lacks."""
    if not _OTHERS:
        raise laboratory_needed(lacks)
    module, _, name = _OTHERS[0].partition(":")
    return getattr(import_module(module), name)(str(folder), device=device)
