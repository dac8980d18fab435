"""Expert iteration first, and from there learning from all actions of the policy's own decisions.

Learning from all actions (`agents.learn.all_actions`) makes more of what a policy knows already,
and from nothing soon becomes sure of little. Expert iteration (`agents.learn.expert`) is the better
beginning: what it learns of every action is what the policy then chooses by.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agents.learn.all_actions import AllActions
from agents.learn.expert import Expert
from agents.learn.runs.config import Config
from agents.learn.starting import shape_of
from agents.policies.networks import build

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from agents.learn.ppo import Figures
    from agents.learn.runs.checkpoints import State
    from agents.policies.networks import PolicyNetwork

# Of the first choices by what was learnt of the actions, whose labels differ by some tenths.
TEMPERATURE: Final = 0.05
# The second stage learns from single deals, so its minibatches are larger and its rates lower.
LARGER, LOWER = 4, 0.5


class ExpertFirst:
    """A run of one learner and then of another, one update at a time."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = config
        self._stage: Expert | AllActions = Expert(first_stage(config), folder)

    @property
    def updates(self) -> int:
        """The number of updates made in both stages."""
        return self._stage.updates

    @property
    def decisions(self) -> int:
        """The number of decisions learnt from in both stages."""
        return self._stage.decisions

    @property
    def network(self) -> PolicyNetwork:
        """The current policy; of the first stage, as the second would begin with it."""
        if isinstance(self._stage, AllActions):
            return self._stage.network
        network = copy.deepcopy(self._stage.network)
        network.cool(TEMPERATURE)
        return network

    def update(self, progress: float) -> Figures:
        """Let the stage that is due play and learn; each has its own schedule of rates.

        A run that is made longer in its second stage stays there.
        """
        share = self.config.expert_share
        if isinstance(self._stage, Expert):
            if progress < share:
                return self._stage.update(progress / share)
            updates, decisions = self.updates, self.decisions
            self._go_on(self.network)
            self._stage.updates, self._stage.decisions = updates, decisions
        return self._stage.update(max(0.0, (progress - share) / (1 - share)))

    def state(self) -> State:
        """Return everything that the next update depends on."""
        arrays, about = self._stage.state()
        return arrays, about | {"expert": isinstance(self._stage, Expert)}

    def restore(self, arrays: dict[str, np.ndarray], about: dict[str, Any]) -> None:
        """Continue from a saved state."""
        if not about["expert"]:
            self._go_on(build(shape_of(self.config)))
        self._stage.restore(arrays, about)

    def close(self) -> None:
        """Stop the threads that play and label."""
        self._stage.close()

    def _go_on(self, network: PolicyNetwork) -> None:
        """Begin the second stage with a network."""
        self._stage.close()
        self._stage = AllActions(second_stage(self.config), None, network)


def first_stage(config: Config) -> Config:
    """Return the configuration of the first stage."""
    return replace(config, learner="expert", expert_share=Config.expert_share)


def second_stage(config: Config) -> Config:
    """Return the configuration of the second stage."""
    end = config.learning_rate_end
    return replace(
        config,
        batch_size=min(LARGER * config.batch_size, config.games * config.n_steps),
        learning_rate=LOWER * config.learning_rate,
        learning_rate_end=None if end is None else LOWER * end,
    )
