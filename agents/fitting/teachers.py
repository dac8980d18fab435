"""Teachers: agents that say what every action of a decision is worth, and so can be learnt from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from fiveup_env.engine.view import unchecked_masks
from fiveup_env.errors import InputError
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.search.units import AIMS

if TYPE_CHECKING:
    from numpy.random import Generator

    from fiveup_env.opponents.search.units import Units


class TeachingError(InputError):
    """A teacher that cannot teach."""


@runtime_checkable
class Teacher(Protocol):
    """An agent with a value for every action: points (`aim` hand) or chances to win (game)."""

    aim: str

    def values(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return a value for every action of every view, -inf or NaN where it is not allowed."""


def make_teacher(spec: str) -> Teacher:
    """Return the agent of a spec, which must have values for actions."""
    agent: Any = make_agent(spec)
    if not isinstance(agent, Teacher):
        raise TeachingError(f"{spec} has no values for actions, so it cannot teach; pimc can")
    return agent


def check_aim(teacher: Teacher, reward: str) -> None:
    """Raise TeachingError if a teacher aims at anything else than a learner's reward."""
    if teacher.aim != AIMS[reward]:
        raise TeachingError(
            f"reward {reward} needs a teacher with aim={AIMS[reward]}, not {teacher.aim}"
        )


def label_by(teacher: Teacher, views: np.ndarray, units: Units, rng: Generator) -> np.ndarray:
    """Return the reward that a teacher expects of every action, otherwise NaN.

    The views are such as the library itself has made.
    Where a teacher rules out all actions but one, it says nothing about that one's value.
    """
    values = getattr(teacher, "values_unchecked", teacher.values)(views, rng).astype(np.float32)
    known = (unchecked_masks(views) > 0) & np.isfinite(values)
    if not known.any(1).all():
        raise TeachingError(
            "the teacher must have a finite value for an allowed action of every view"
        )
    known[known.sum(1) == 1] = False
    return units.rewards(np.where(known, values, np.nan)).astype(np.float32)
