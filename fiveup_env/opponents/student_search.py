"""`student+search`: the small network looks ahead in worlds that the others' moves make likely.

It is the search of `world_search`, at any budget and without PyTorch. The prior is what the network
expects of each action, in the units of the worlds' values, so both are joined by their precisions:
a few worlds correct the network where they agree with each other, and many override it. Actions of
which the network expects far too little are not tried.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.checks import is_one_of
from fiveup_env.engine.view import as_views
from fiveup_env.errors import AgentError
from fiveup_env.opponents.playouts import playout_by
from fiveup_env.opponents.policy_files import PATHS, PolicyError
from fiveup_env.opponents.student import STUDENT, Student
from fiveup_env.opponents.units import AIMS, NETWORK_ERROR, Units, settings_in
from fiveup_env.opponents.world_search import Search, WorldSearch, check_weighed, playout_of
from fiveup_env.opponents.world_statistics import WorldStatistics

if TYPE_CHECKING:
    from collections.abc import Mapping

FAR: Final = 5.0  # errors of the network by which an action may fall behind and still be tried


@dataclass
class StudentSearch:
    """Looks ahead from the student, in worlds that the others' moves make likely; no torch."""

    path: str = field(default=STUDENT, metadata={"help": PATHS})
    worlds: int = field(default=100, metadata={"help": "worlds per decision"})
    ms: float = field(
        default=0.0, metadata={"help": "milliseconds per decision, in place of worlds"}
    )
    playout: str = field(default="greedy", metadata={"help": "who plays hands out"})
    weighed: int = field(
        default=8,
        metadata={"help": "worlds weighed by the others' moves for each that is tried; 1: none"},
    )
    error: float = field(
        default=NETWORK_ERROR,
        metadata={"help": "standard error of what the network expects, in units of 5 points"},
    )

    def __post_init__(self) -> None:
        """Load the network; raise AgentError or PolicyError if an option is not valid."""
        check_weighed(self.weighed)
        if self.error <= 0:
            raise AgentError(f"error must be above 0, not {self.error}")
        self._budget = Search(self.worlds, self.ms, self.playout)
        self._student = Student(self.path)
        self._reward = reward_of(self._student.about)
        itself = playout_by(self._student.weights)
        self._playout = itself if self.playout == STUDENT else playout_of(self.playout)

    @property
    def aim(self) -> str:
        """The unit of its values: points (`hand`) or chances to win (`game`)."""
        return AIMS[self._reward]

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        del masks  # a view implies its mask
        return self.search(views, random).scores.argmax(1)

    def values(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return the average value of every action in the worlds, in the units of `aim`.

        It is -inf where the action is not allowed or the network rules it out, and 0 for the only
        one that is left. An action that was closed has the average of the worlds until then.
        """
        del masks
        return self.search(views, random).means

    def search(self, views: np.ndarray, random: np.random.Generator) -> WorldStatistics:
        """Return what worlds show about the actions that the network does not rule out."""
        began, views = time.perf_counter(), as_views(views)
        units = Units(views, self._reward)
        stakes = units.stakes() / units.scale
        expected = self._student.logits(views)
        behind = expected < expected.max(1, keepdims=True) - FAR * self.error
        expected[behind] = -np.inf
        precision = (self.error * stakes) ** -2.0
        statistics = WorldStatistics(expected * stakes[:, None], precision=precision)
        search = WorldSearch(self._budget, self._playout, self.weighed)
        key = np.uint64(random.integers(1 << 63))
        return search(views, statistics, (units.chances, units.which), key, began)


def reward_of(about: Mapping[str, Any]) -> str:
    """Return the reward that a network was trained on, if its logits are values by its stakes."""
    settings = settings_in(about)
    if settings.get("learner") != "expert" or not is_one_of(settings["reward"], AIMS):
        raise PolicyError(
            "student+search needs a policy of learner=expert, whose logits are values; this one "
            "has others"
        )
    return str(settings["reward"])
