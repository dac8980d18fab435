"""The chance to win at every moment of a game, as each seat sees it.

Worlds are drawn from what a seat knows, and the hand is played out in each. Once a hand is over,
the scores and who leads next decide, for everybody alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fiveup_env.analysis.trials import CHANCE, REFERENCE, Estimate, Trials
from fiveup_env.engine.state import PLAYING, VIEW, Games
from fiveup_env.engine.view import as_game, observe_at
from fiveup_env.native import DoubleRows, Doubles, compiled
from fiveup_env.opponents.search.action_values import PLAY_ON
from fiveup_env.opponents.search.outlook import chance_to_win, outlook_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fiveup_env.game.game import Game
    from fiveup_env.opponents.agent import Agent


class Moment(NamedTuple):
    """A state of a game, an array of one GAME struct, and the number of moves made before it."""

    moves: int
    state: np.ndarray


def moments_of(game: Game) -> Iterator[Moment]:
    """Yield the state before every move and after the last of each hand, in order."""
    number, after = 0, None
    for number, step in enumerate(game.steps()):
        yield Moment(number, step.before)
        after = step.after
        if after[0]["public"]["phase"] != PLAYING:
            yield Moment(number + 1, after)
    if after is None or after[0]["public"]["phase"] == PLAYING:
        yield Moment(len(game.moves), game.state())


def chances_of(
    state: np.ndarray, reference: str | Agent | Trials = REFERENCE, seed: int = 0
) -> list[Estimate]:
    """Return every seat's chance to win with its side, from what that seat knows.

    Args:
        state: An array of one GAME struct, as `Game.state()` returns it.
        reference: The search that plays worlds out: a `pimc`, by its spec or itself.
        seed: Names the worlds.

    Returns:
        A mean with its standard error for each seat; 0 or 1 with no error once the game is over.
    """
    state = as_game(state)
    public = state[0]["public"]
    players = int(public["rules"]["players"])
    if public["phase"] != PLAYING:
        by_side = chances_by_score(state)
        return [Estimate(by_side[seat % len(by_side)], 0.0) for seat in range(players)]
    trials = reference if isinstance(reference, Trials) else Trials(reference)
    views = np.zeros(players, VIEW)
    for seat in range(players):
        observe_at(state, 0, seat, views, seat)
    return [chance_of(views[seat : seat + 1], trials, seed) for seat in range(players)]


def chance_of(view: np.ndarray, trials: Trials, seed: int = 0) -> Estimate:
    """Return the chance of the viewer's side to win, from an array of one VIEW."""
    chances = trials(view, np.array([PLAY_ON]), seed)[:, 0, CHANCE]
    return Estimate(float(chances.mean()), float(chances.std(ddof=1) / np.sqrt(len(chances))))


def chances_by_score(state: np.ndarray) -> list[float]:
    """Return the chance of every side once a hand, or the game, is over or not yet dealt."""
    rules = state[0]["public"]["rules"]
    by_side = np.empty(int(rules["sides"]))
    score_chances(state, outlook_of(rules), by_side)
    return by_side.tolist()


@compiled
def score_chances(games: Games, chances: DoubleRows, by_side: Doubles) -> None:
    """Write the chance of every side of the first game, whose hand is over."""
    for side in range(len(by_side)):
        by_side[side] = chance_to_win(games[0].public, side, chances)
