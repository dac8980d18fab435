"""`policy+search` and `student+search`: a network that looks ahead in worlds before it plays.

The prior of `policy+search` is the policy's probabilities, which few worlds, or worlds that
disagree, leave the choice to (see `world_statistics`). By default, `trust` in them falls as
`worlds` rises. The prior of `student+search` is what a network of learner=expert expects of each
action, in the units of the worlds' values, so both are joined by their precisions.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fiveup_env.checks import is_one_of
from fiveup_env.engine.exponentials import exp, log
from fiveup_env.errors import AgentError, shown
from fiveup_env.native import DoubleRows, Doubles, FloatRows, compiled
from fiveup_env.opponents.networks.files import PATHS, PolicyError, PolicyName, settings_in
from fiveup_env.opponents.networks.policy import NETWORK_ERROR, STUDENT, PolicyAgent, unit_of
from fiveup_env.opponents.search.playouts import playout_by
from fiveup_env.opponents.search.units import AIMS, Units
from fiveup_env.opponents.search.world_search import Search, Searcher, playout_of, search_worlds
from fiveup_env.opponents.search.world_statistics import WorldStatistics
from fiveup_env.rules.actions import ACTION_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

# The defaults, tuned together in games of `policy:partners`, with hands played out by `greedy`.
USUAL_WORLDS: Final = 550
USUAL_TRUST: Final = 1.3

FAR: Final = 5.0  # errors of the network by which an action may fall behind and still be tried


@dataclass
class NetworkSearch(Searcher):
    """A search whose prior is a network's; subclasses say what the prior is."""

    path: PolicyName = field(default="family", metadata={"help": PATHS})
    worlds: int = field(default=USUAL_WORLDS, metadata={"help": "worlds per decision"})
    ms: float = field(
        default=0.0, metadata={"help": "milliseconds per decision, in place of worlds"}
    )
    playout: str = field(default="greedy", metadata={"help": "who plays hands out"})
    weighed: int = field(
        default=8,
        metadata={"help": "worlds weighed by the others' moves for each that is tried; 1: none"},
    )

    def __post_init__(self) -> None:
        """Load the network; raise AgentError or PolicyError if an option is not valid."""
        self._options = Search(self.worlds, self.ms, self.playout, weighed=self.weighed)
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

    def search_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> WorldStatistics:
        """Return statistics over worlds of the actions that the network does not rule out."""
        began = time.perf_counter()
        units = Units(views, self._reward)
        statistics, outlooks = self._prior(views, units), (units.chances, units.table_indices)
        return search_worlds(self._options, self._playout, views, statistics, outlooks, rng, began)

    @abstractmethod
    def _prior(self, views: np.ndarray, units: Units) -> WorldStatistics:
        """Return statistics that hold the network's prior, and no worlds."""


@dataclass
class PolicySearch(NetworkSearch):
    """Plays a trained policy that looks ahead in sampled worlds: `policy+search:FOLDER`."""

    playout: str = field(default="partner", metadata={"help": "who plays hands out"})
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

    def __post_init__(self) -> None:
        """Load the policy; raise AgentError if an option is out of range."""
        if self.worlds < 2 or self.ms < 0 or (self.trust or 0) < 0:
            raise AgentError("policy+search needs worlds=2 or more, and no option below 0")
        if not 0 <= self.least < 1:
            raise AgentError(f"least must be a probability from 0 to below 1, not {self.least}")
        super().__post_init__()
        worlds = USUAL_WORLDS if self.ms else self.worlds
        fitting = USUAL_TRUST * math.sqrt(USUAL_WORLDS / worlds)
        self._trust = fitting if self.trust is None else self.trust

    def values_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the score of every action, in the units of `pimc` with the same aim.

        It is -inf where the action is not allowed, ruled out by the policy, or clearly worse. If
        only one action is not ruled out, its score is what the network expects.
        """
        statistics = self.search_unchecked(views, rng)
        scores, alone = statistics.scores, statistics.evidence["worlds"] == 0
        expected = self._policy.values(views[alone])
        scores[alone] += Units(views[alone], self._reward).values(expected)[:, None]
        return scores

    def _prior(self, views: np.ndarray, units: Units) -> WorldStatistics:
        del units
        prior = np.empty((len(views), ACTION_COUNT))
        unit = unit_of(self._policy.about)
        write_probabilities(self._policy.logits(views), unit, self.least, prior)
        return WorldStatistics(prior, self._trust)


@dataclass
class StudentSearch(NetworkSearch):
    """Looks ahead from what a network expects of each action, by default from the student."""

    path: PolicyName = field(default=STUDENT, metadata={"help": PATHS})
    worlds: int = field(default=100, metadata={"help": "worlds per decision"})
    error: float = field(
        default=NETWORK_ERROR,
        metadata={"help": "standard error of what the network expects, in units of 5 points"},
    )

    def __post_init__(self) -> None:
        """Load the network; raise AgentError or PolicyError if an option is not valid."""
        if self.error <= 0:
            raise AgentError(f"error must be above 0, not {self.error}")
        super().__post_init__()
        if settings_in(self._policy.about).get("learner") != "expert":
            raise PolicyError(
                "student+search needs a policy of learner=expert, whose logits are values; this "
                "one has others"
            )
        if self.playout == STUDENT:
            self._playout = playout_by(self._policy.weights)

    def _prior(self, views: np.ndarray, units: Units) -> WorldStatistics:
        prior, precisions = np.empty((len(views), ACTION_COUNT)), np.empty(len(views))
        logits, stakes = self._policy.logits(views), units.stakes / units.scale
        write_expectations(logits, self.error, stakes, prior, precisions)
        return WorldStatistics(prior, precision=precisions)


@compiled
def write_probabilities(logits: FloatRows, unit: float, least: float, prior: DoubleRows) -> None:
    """Write the logarithms of a policy's probabilities, and -inf for those that are too small.

    `unit` is the difference of logits that counts as one. The likeliest action always counts.
    """
    for i in range(len(logits)):
        best, total = 0, 0.0
        for action in range(ACTION_COUNT):
            if logits[i, action] > logits[i, best]:
                best = action
        for action in range(ACTION_COUNT):
            total += exp((logits[i, action] - logits[i, best]) / unit)
        for action in range(ACTION_COUNT):
            share = (logits[i, action] - logits[i, best]) / unit - log(total)
            tried = share > -np.inf and exp(share) >= least
            prior[i, action] = share if tried or action == best else -np.inf


@compiled
def write_expectations(
    logits: FloatRows, error: float, stakes: Doubles, prior: DoubleRows, precisions: Doubles
) -> None:
    """Write a network's action values in a search's units, -inf far behind the best.

    The precisions are those of the network's error.
    """
    for i in range(len(logits)):
        best = logits[i].max()
        for action in range(ACTION_COUNT):
            near = logits[i, action] >= best - FAR * error
            prior[i, action] = logits[i, action] * stakes[i] if near else -np.inf
        precisions[i] = 1 / (error * stakes[i]) ** 2


def reward_of(about: Mapping[str, Any]) -> str:
    """Return the reward that a policy was trained on, by its metadata; "margin" if not stated."""
    settings = settings_in(about)
    reward, horizon = settings["reward"], settings["horizon"]
    if not is_one_of(reward, AIMS) or horizon != "hand":
        raise PolicyError(
            "a search needs a policy with values of the hand, trained with horizon=hand and "
            f"reward={' or '.join(AIMS)}, not {shown(horizon)} and {shown(reward)}"
        )
    return str(reward)
