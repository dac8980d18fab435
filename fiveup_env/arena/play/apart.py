"""An agent in processes of its own, which are given views and chance, and nothing else.

It has a process for every seat that it takes and every seating: whoever sees two hands of a deal
knows more than a seat does. No frame, module or file of these processes holds a game. They are
asked as programs in other languages are, by the protocol fiveup-agent, whose room says what keeps
them from the memory of the arena and of each other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.errors import AgentError, shown
from fiveup_env.opponents.registry import MIX, split_name
from fiveup_env.programs.process import ProgramProcess, serving

if TYPE_CHECKING:
    from collections.abc import Sequence


class Apart:
    """The agent of a spec, of which every part plays in a process of its own."""

    def __init__(self, spec: str, move_limit: float = math.inf) -> None:
        """Start nothing yet. The parts are told the limit; the arena's clock keeps it.

        Raises AgentError for a mixture: its parts would have to be told which deal they play.
        """
        if split_name(spec)[0] == MIX:
            raise AgentError(
                f"an agent in a process of its own is not told when an episode begins: name one "
                f"agent, not the mixture {shown(spec)}"
            )
        self._spec = spec
        self._seconds = None if move_limit == math.inf else move_limit
        self._parts: dict[tuple[int, int], ProgramProcess] = {}

    def start(self, wanted: np.ndarray) -> Sequence[ProgramProcess]:
        """Start the parts that are missing, and return them when they are ready.

        `wanted` says of every seating (a row) and seat (a column) whether there is such a part.
        """
        new = {
            (way, seat): serving(self._spec, self._seconds)
            for way, seat in np.argwhere(wanted).tolist()
            if (way, seat) not in self._parts
        }
        for process in new.values():
            process.wait_until_ready()
        self._parts |= new
        return list(new.values())

    def part(self, way: int, seat: int) -> ProgramProcess:
        """Return the part that plays a seat in a seating."""
        return self._parts[way, seat]

    @property
    def ended(self) -> bool:
        """Whether the process of a part has ended, so that nothing more can be asked."""
        return any(process.ended for process in self._parts.values())
