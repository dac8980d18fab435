"""TRL: episodes of `TextEnv` whose moves are tools, for the trainers' `environment_factory`.

    GRPOTrainer(model, args=args, environment_factory=factory_of(players=2, reward="loss"))

`reset` returns the first prompt, the model calls `play` until the game is over, and `get_reward` is
the sum of what its answers brought. A `seed` among the columns of the data names the episode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fiveup_env.doors.text import TextEnv
from fiveup_env.doors.text.tools import checked_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Collection


class FiveUpGame:
    """An episode after the other; every public method but `reset` and `get_reward` is a tool."""

    def __init__(self, **options: Any) -> None:
        self._env, self._reward, self._is_over = TextEnv(**options), 0.0, True

    def reset(self, seed: int | None = None, **_columns: Any) -> str:
        """Start an episode; return the first prompt."""
        prompt, _ = self._env.reset(seed=seed)
        self._reward, self._is_over = 0.0, False
        return prompt

    def get_reward(self) -> float:
        """Return what the answers of the episode have brought so far."""
        return self._reward

    def play(self, move: str) -> str:
        """Make a legal move.

        Args:
            move: The move, such as `lead 5-3`, `set 5-3 on the 5`, `draw a tile` or `pass`.

        Returns:
            The position at your next turn, or what was wrong.
        """
        return self._answer(move)

    def _answer(self, text: str) -> str:
        if self._is_over:
            return "The episode is over."
        prompt, reward, terminated, truncated, _ = self._env.step(text)
        self._reward += reward
        self._is_over = terminated or truncated
        return prompt


class _Tools(FiveUpGame):
    """The tools that may be switched on."""

    def belief(self) -> str:
        """Return what follows exactly about the hidden tiles.

        Returns:
            Where each hidden tile may be, with its probability, and the position again.
        """
        return self._answer("ask belief")

    def ends(self) -> str:
        """Return the open ends, what each counts, and their total.

        Returns:
            The open ends, and the position again.
        """
        return self._answer("ask ends")

    def score(self, move: str) -> str:
        """Return what a legal move would bring at once.

        Args:
            move: The move, such as `set 5-3 on the 5`.

        Returns:
            The total after the move and its points, and the position again.
        """
        return self._answer(f"ask score {' '.join(move.split())}")

    def history(self) -> str:
        """Return what was done in this hand.

        Returns:
            All moves of the hand in order, and the position again.
        """
        return self._answer("ask history")


def factory_of(*, tools: str | Collection[str] = (), **options: Any) -> Callable[[], FiveUpGame]:
    """Return what makes games with these options of `TextEnv`, and with these tools as methods.

    Raises as `TextEnv` does.
    """
    named = checked_tools(tools)
    methods = {name: vars(_Tools)[name] for name in named}
    kind: type[FiveUpGame] = type("FiveUpGame", (FiveUpGame,), methods)
    kind(tools=named, **options)  # what is wrong is said before anything is trained
    return lambda: kind(tools=named, **options)
