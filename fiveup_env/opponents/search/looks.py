"""How a play looks to people, who see what it scores now before what it leads to.

Many plays are within the noise of another. Among these a search would choose by chance, and give a
point away, or keep a double, for nothing that anybody could see.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fiveup_env.engine.state import Views
from fiveup_env.native import compiled
from fiveup_env.opponents.heuristics.features import FEATURES, SCRATCH, look_around, value_of
from fiveup_env.opponents.search.world_statistics import CandidateRows, Evidences
from fiveup_env.rules.actions import DRAW

# In points: to score comes first, then to give little away, then which tile leaves the hand.
LOOKS: Final = {"points": 1.0, "reply": -0.5, "double": 0.25, "pips": 0.05}
_WEIGHTS: Final = np.array([LOOKS.get(name, 0.0) for name in FEATURES])


@compiled
def write_looks(views: Views, evidence: Evidences, candidates: CandidateRows) -> None:
    """Write the looks of all candidates of some views, in points; a draw has none."""
    memory = np.zeros(1, SCRATCH)
    for i in range(len(views)):
        public, hand, scratch = views[i].public, views[i].hand, memory[0]
        unseen = look_around(public, hand, _WEIGHTS, scratch)
        for k in range(evidence[i].count):
            action = candidates[i, k].action
            if action < DRAW:
                looks = value_of(public, hand, unseen, action, _WEIGHTS, scratch)
                candidates[i, k].looks = looks
