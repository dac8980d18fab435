"""`policy+search`: a trained policy that looks ahead before it plays.

Worlds are drawn from the exact belief. In each of them, every action that the policy does not rule
out is tried, and a heuristic plays the hand out. The actions of a world share its chance, so they
differ only by what they lead to.

The action chosen maximizes

    mean over the worlds + trust * noise * log(probability by the policy)

where `noise` is the standard error of such means, estimated from their differences. Few worlds, or
worlds that disagree, leave the choice to the policy; many worlds that agree override it. By
default, `trust` falls as `worlds` rises. With `weighed`, the worlds that are tried are drawn from
more, by how likely the others' moves were in them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.checks import is_one_of
from fiveup_env.engine.view import as_views
from fiveup_env.errors import AgentError, shown
from fiveup_env.opponents.policy import PolicyAgent
from fiveup_env.opponents.policy_files import PATHS, PolicyError
from fiveup_env.opponents.units import AIMS, Units, settings_in
from fiveup_env.opponents.world_search import Search, WorldSearch, check_weighed, playout_of
from fiveup_env.opponents.world_statistics import WorldStatistics

if TYPE_CHECKING:
    from collections.abc import Mapping

# The defaults, tuned together in games of `policy:partners`.
USUAL_WORLDS: Final = 550
USUAL_TRUST: Final = 1.3


@dataclass
class PolicySearch:
    """Plays a trained policy that looks ahead in sampled worlds: `policy+search:FOLDER`."""

    path: str = field(
        default="family",
        metadata={"help": PATHS},
    )
    worlds: int = field(default=USUAL_WORLDS, metadata={"help": "worlds per decision, 2 or more"})
    ms: float = field(
        default=0.0, metadata={"help": "milliseconds per decision, in place of worlds"}
    )
    playout: str = field(default="greedy", metadata={"help": "who plays hands out"})
    trust: float | None = field(
        default=None,
        metadata={
            "help": "weight of the policy against noise; if left out, "
            f"{USUAL_TRUST} * sqrt({USUAL_WORLDS} / worlds), or {USUAL_TRUST} with ms"
        },
    )
    least: float = field(
        default=0.05, metadata={"help": "probability below which no action is tried"}
    )
    weighed: int = field(
        default=8,
        metadata={"help": "worlds weighed by the others' moves for each that is tried; 1: none"},
    )

    def __post_init__(self) -> None:
        """Load the policy; raise AgentError if an option is out of range."""
        if self.worlds < 2 or self.ms < 0 or (self.trust or 0) < 0:
            raise AgentError("policy+search needs worlds=2 or more, and no option below 0")
        check_weighed(self.weighed)
        if not 0 <= self.least < 1:
            raise AgentError(f"least must be a probability from 0 to below 1, not {self.least}")
        self.last_effective_worlds = np.zeros(0)  # by view; NaN where there was no choice
        worlds = USUAL_WORLDS if self.ms else self.worlds
        fitting = USUAL_TRUST * math.sqrt(USUAL_WORLDS / worlds)
        self._trust = fitting if self.trust is None else self.trust
        self._budget = Search(self.worlds, self.ms, self.playout)
        self._playout = playout_of(self.playout)
        self._policy = self._load()
        self._reward = reward_of(self._policy.about)

    def _load(self) -> Any:
        """Return the policy; `torch+search` loads another kind."""
        return PolicyAgent(self.path)

    @property
    def aim(self) -> str:
        """The unit of its values: points (`hand`) or chances to win (`game`)."""
        return AIMS[self._reward]

    def __call__(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return an action for every view."""
        began, views = time.perf_counter(), as_views(views)
        return self._scores(views, masks, random, Units(views, self._reward), began).argmax(1)

    def values(
        self, views: np.ndarray, masks: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return the score of every action, in the units of `pimc` with the same aim.

        It is -inf where the action is not allowed, ruled out by the policy, or clearly worse. If
        only one action is not ruled out, its score is what the network expects.
        """
        began, views = time.perf_counter(), as_views(views)
        units = Units(views, self._reward)
        scores = self._scores(views, masks, random, units, began)
        alone = np.isnan(self.last_effective_worlds)
        expected = self._policy.values(views[alone])
        scores[alone] += units.part(alone).values(expected)[:, None]
        return scores

    def _scores(
        self,
        views: np.ndarray,
        masks: np.ndarray,
        random: np.random.Generator,
        units: Units,
        began: float,
    ) -> np.ndarray:
        """Return the score of every action; 0 for the only one that is not ruled out."""
        key = np.uint64(random.integers(1 << 63))
        shares = self._policy.probabilities(views, masks)
        tried = (shares >= self.least) & (masks > 0)
        tried[np.arange(len(views)), shares.argmax(1)] = True
        floor = np.finfo(shares.dtype).tiny
        logs = np.where(tried, np.log(np.maximum(shares, floor)), -np.inf)
        statistics = WorldStatistics(logs, self._trust)
        search = WorldSearch(self._budget, self._playout, self.weighed)
        found = search(views, statistics, (units.chances, units.which), key, began)
        self.last_effective_worlds = found.effective_worlds
        return found.scores


def reward_of(about: Mapping[str, Any]) -> str:
    """Return the reward that a policy was trained on, by its metadata; "margin" if not stated."""
    settings = settings_in(about)
    reward, horizon = settings["reward"], settings["horizon"]
    if not is_one_of(reward, AIMS) or horizon != "hand":
        raise PolicyError(
            "policy+search needs a policy with values of the hand, trained with horizon=hand and "
            f"reward={' or '.join(AIMS)}, not {shown(horizon)} and {shown(reward)}"
        )
    return str(reward)
