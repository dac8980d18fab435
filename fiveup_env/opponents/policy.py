"""`policy`: a trained policy, by compiled code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.engine.view import as_views, check_masks
from fiveup_env.opponents.networks import memory_for, write_all, write_values
from fiveup_env.opponents.policy_files import (
    PATHS,
    SHIPPED,
    NoPolicyError,
    NotCompiledError,
    PolicyError,
    policy_folder,
)
from fiveup_env.opponents.student import load_compiled
from fiveup_env.opponents.units import NETWORK_ERROR, settings_in

if TYPE_CHECKING:
    from collections.abc import Mapping


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

    def __post_init__(self) -> None:
        """Load the policy."""
        folder = policy_folder(self.path)
        try:
            self._weights, self.about = load_compiled(folder)
        except NotCompiledError as error:
            raise PolicyError(f"{error}; in a clone, torch:{self.path} plays it") from None
        except NoPolicyError as error:
            raise PolicyError(f"{error}; available policies: {', '.join(SHIPPED)}") from None
        temperature = self.temperature * unit_of(self.about)
        super().__init__(sample=self.sample, temperature=temperature)

    def logits(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Return the logit of every action (float32), -inf where it is not allowed."""
        views = as_views(views)
        check_masks(masks, len(views))
        logits = np.full(masks.shape, -np.inf, np.float32)
        write_all(views, self._weights, memory_for(self._weights), logits)
        return np.where(masks > 0, logits, np.float32(-np.inf))

    def values(self, views: np.ndarray) -> np.ndarray:
        """Return the network's value for the seat of every view, in the units it was trained on."""
        views, values = as_views(views), np.empty(len(views), np.float32)
        write_values(views, self._weights, memory_for(self._weights), values)
        return values


def unit_of(about: Mapping[str, Any]) -> float:
    """Return the difference of logits that counts as one in a policy's probabilities.

    Expert iteration learns values as logits. They count by the error that they have.
    """
    return NETWORK_ERROR if settings_in(about).get("learner") == "expert" else 1.0
