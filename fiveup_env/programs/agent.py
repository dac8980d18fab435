"""The agent `program:COMMAND`: a program in any language, which speaks fiveup-agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fiveup_env.engine.view import as_views
from fiveup_env.errors import AgentError
from fiveup_env.programs.process import ProgramProcess, words_of

if TYPE_CHECKING:
    import numpy as np


@dataclass
class Program:
    """Plays what a program answers that speaks fiveup-agent on its standard input and output.

    The program is started by its first question. One that has ended is started anew by the next.
    """

    command: str = field(metadata={"help": "the program and its options; no comma"})
    seconds: float = field(
        default=10.0, metadata={"help": "for a decision, after which the program is ended"}
    )

    def __post_init__(self) -> None:
        """Refuse a command that cannot be run, and no time at all."""
        self.words = words_of(self.command)
        if not self.seconds > 0:
            raise AgentError(f"program: seconds must be more than 0, not {self.seconds:g}")
        self._process: ProgramProcess | None = None

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the program's action for every view, legal or not; raise ProgramError."""
        views = as_views(views)
        if self._process is None or self._process.ended:
            self._process = ProgramProcess(self.words, self.seconds, watched=True)
        return self._process(views, rng)

    @property
    def pid(self) -> int | None:
        """The number of its process, or None while there is none."""
        return None if self._process is None else self._process.pid

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy the command: a copy has a process of its own."""
        return Program, (self.command, self.seconds)
