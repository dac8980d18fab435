"""`student`: a small network that plays in microseconds, without torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.checks import whole
from fiveup_env.encoders import factors_of, get_encoder
from fiveup_env.engine.view import as_views
from fiveup_env.errors import shown
from fiveup_env.opponents.agent import CompiledAgent
from fiveup_env.opponents.lookahead import PIECE
from fiveup_env.opponents.networks import (
    MOST_DEPTH,
    MOST_WIDTH,
    choose_all,
    memory_for,
    sizes_of,
    weights_of,
    write_all,
)
from fiveup_env.opponents.policy_files import (
    PATHS,
    NotCompiledError,
    PolicyError,
    check_tensors,
    policy_folder,
    read_policy,
)
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from pathlib import Path

    from fiveup_env.opponents.networks import Weights

STUDENT: Final = "student"


@dataclass
class Student(CompiledAgent):
    """Plays a small network that learnt from true deals, in microseconds and without torch."""

    path: str = field(default=STUDENT, metadata={"help": PATHS})

    def __post_init__(self) -> None:
        """Load the network."""
        self.weights, self.about = load_compiled(policy_folder(self.path))

    def choose_unchecked(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        del masks, random  # a view implies its mask, and the best action is no matter of chance
        actions = np.empty(len(views), np.int64)
        choose_all(views, self.weights, memory_for(self.weights), actions)
        return actions

    def logits(self, views: np.ndarray) -> np.ndarray:
        """Return the logit of every action, a row for each view; -inf where it is not allowed."""
        views = as_views(views)
        logits = np.full((len(views), ACTION_COUNT), -np.inf)
        write_all(views, self.weights, memory_for(self.weights), logits)
        return logits


def load_compiled(folder: Path) -> tuple[Weights, dict[str, Any]]:
    """Return the weights of a saved policy for compiled code, and its metadata.

    Raises PolicyError if the policy is missing or damaged, and NotCompiledError if it is of a shape
    that compiled code lacks.
    """
    description, tensors = read_policy(folder)
    shape: dict[str, Any] = description["shape"]
    wanted = {"kind": "guided", "shared": True}
    for name, value in wanted.items():
        if shape.get(name) != value:
            raise NotCompiledError(
                f"the policy in {folder} cannot be compiled: its {name} must be "
                f"{str(value).lower()}, not {shown(shape.get(name))}"
            )
    sizes = {
        name: _whole(folder, name, given, most)
        for name, given, most in (
            ("width", shape.get("width"), MOST_WIDTH),
            ("depth", shape.get("depth"), MOST_DEPTH),
        )
    }
    check_tensors(tensors, sizes_of(**sizes), folder)
    encoder = get_encoder("lookahead")
    if description["encoder"].get("version") != encoder.version:
        raise PolicyError(
            f"the policy in {folder} reads lookahead {shown(description['encoder'].get('version'))}"
            f"; this code has version {encoder.version}"
        )
    facts = [piece for piece in encoder.pieces if piece != PIECE]
    weights = weights_of(tensors, factors_of(facts))
    return weights, description["about"]


def _whole(folder: Path, name: str, given: Any, most: int) -> int:
    number = whole(given, 1, most)
    if number is None:
        raise PolicyError(
            f"{folder}: {name} must be a whole number from 1 to {most}, not {shown(given)}"
        )
    return number
