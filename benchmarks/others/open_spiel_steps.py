"""OpenSpiel: random play that observes and asks for the legal actions at every decision.

The caller samples chance, as the library requires; the time counts, the steps do not.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import open_spiel.python.games  # noqa: F401 - registers them
import pyspiel
from _open_spiel import play_episode  # type: ignore[import-not-found]
from _timing import report  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Callable


def player(name: str) -> Callable[[], int]:
    """Return a function that plays one game and returns its number of steps."""
    game, random = pyspiel.load_game(name), Random(1)
    return lambda: play_episode(game, random)


if __name__ == "__main__":
    for name in ("python_block_dominoes", "leduc_poker"):
        report("open_spiel", {name: player(name)})
