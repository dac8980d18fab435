"""The value of actions in given worlds: each is tried in each, and a playout ends the hand.

This is what searches, the judgement of games and labels from true deals have in common. They differ
in the worlds: drawn from a belief, weighed by the others' moves, or the deal that is really there.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

import numpy as np

from fiveup_env.engine.play import play
from fiveup_env.engine.state import GAME, Games
from fiveup_env.native import DoubleRows, DoubleTables, Int64s, compiled
from fiveup_env.opponents.search.outlook import hand_value
from fiveup_env.opponents.search.playouts import Playout, play_to_end

# In place of an action:
PLAY_ON: Final = -1  # the seat to move plays as in the playouts
SKIPPED: Final = -2  # nothing is tried, and no value is written


# From Python two of them, in compiled code any number.
Outlooks: TypeAlias = Annotated[tuple[Any, ...], (DoubleRows, DoubleRows)]


@compiled
def try_actions(
    worlds: Games,
    actions: Int64s,
    playout: Playout,
    side: int,
    outlooks: Outlooks,
    values: DoubleTables,
) -> None:
    """Write a side's value of every action in every world [worlds x actions x outlooks].

    An outlook is a grid of chances to win; by an empty one, the value is the points that the side
    makes until the hand's end. All actions of a world share its seed, and so their chance: they
    differ only by what they lead to.
    """
    trial = np.empty(1, GAME)
    for w in range(len(worlds)):
        for k in range(len(actions)):
            if actions[k] == SKIPPED:
                continue
            trial[0] = worlds[w]
            if actions[k] != PLAY_ON:
                play(trial[0], actions[k])
            play_to_end(trial[0], playout, worlds[w].seed)
            for n in range(len(outlooks)):
                values[w, k, n] = hand_value(trial[0].public, worlds[w].public, side, outlooks[n])
