"""The ten levels of the table, from the weakest to the strongest: `level:1` to `level:10`.

Each stands for the spec of another agent. In `five_up` with four players as partners, a level is
some 100 Elo above the one below, as `python -m benchmarks.levels` measures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fiveup_env.checks import whole
from fiveup_env.errors import AgentError, shown
from fiveup_env.opponents.agent import CompiledAgent, unchecked
from fiveup_env.opponents.registry import make_agent

if TYPE_CHECKING:
    import numpy as np

LEVELS: Final = (
    "casual:greedy,tiles=0.15,points=0.33,doubles=0.5",
    "casual:greedy,tiles=0.1,points=0.2,doubles=0.4",
    "casual:greedy,tiles=0.05,points=0.1,doubles=0.3",
    "casual:defensive,tiles=0.1,points=0.15,doubles=0.2,others=0.3",
    "casual:positional,tiles=0.15,points=0.15,doubles=0.25,others=0.4",
    "casual:partner,tiles=0.1,points=0.1,doubles=0.2,others=0.2",
    "casual:partner,tiles=0.05,points=0.05,doubles=0.1,others=0.1",
    "partner",
    "pimc:worlds=200,looks=1",
    "policy+search:family,worlds=4000",
)
LEVEL_SPECS: Final = tuple(f"level:{number + 1}" for number in range(len(LEVELS)))
USUAL_LEVEL: Final = LEVEL_SPECS[4]  # of somebody who has not chosen


@dataclass
class Level(CompiledAgent):
    """Plays one of the ten levels of the table, `level:1` to `level:10`."""

    number: int = field(metadata={"help": f"from 1, the weakest, to {len(LEVELS)}"})

    def __post_init__(self) -> None:
        """Make the agent; raise AgentError if there is no such level."""
        number = whole(self.number, 1, len(LEVELS))
        if number is None:
            raise AgentError(
                f"a level is a number from 1 to {len(LEVELS)}, not {shown(self.number)}"
            )
        self._choose = unchecked(make_agent(LEVELS[number - 1]))

    def choose_unchecked(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view."""
        return self._choose(views, rng)
