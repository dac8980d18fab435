"""What a card keeps of the games: who won each, and what some decisions lost.

All figures of a card are computed from its meetings, so that they can be checked without playing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.duels import duel_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fiveup_env.arena.games import Played
    from fiveup_env.files import Json
    from fiveup_env.rules.fields import Rules


@dataclass(frozen=True, eq=False)
class Meeting:
    """The games of an agent with one of the panel.

    With two sides there is one meeting for each of the panel. With more there are two, in which
    either agent is alone on its side, against the other on all other sides.
    """

    rival: str  # of the panel
    alone: bool  # whether it is the agent that is alone, not the rival; with two sides it is
    wins: np.ndarray  # the share of the one that is alone [deals x seatings]
    judged: np.ndarray  # of the agent, by judged deal: decisions, chances lost, points lost
    forfeits: tuple[int, int]  # games: by the agent, by the rival
    fault: str  # why the agent first forfeited a game, if it did

    def to_json(self) -> Json:
        """Return the meeting as plain values; a game is a digit, n for the n-th part of a win."""
        parts = np.divide(1, self.wins, out=np.zeros(self.wins.shape), where=self.wins > 0)
        return {
            "rival": self.rival,
            "alone": self.alone,
            "games": "".join(map(str, np.rint(parts).astype(int).ravel().tolist())),
            "judged": self.judged.tolist(),
            "forfeits": list(self.forfeits),
            "fault": self.fault,
        }


def meeting_from(content: Json, rules: Rules) -> Meeting:
    """Return the meeting that `Meeting.to_json` made this content from."""
    parts = np.array([int(part) for part in content["games"]], np.float64)
    wins = np.divide(1, parts, out=np.zeros(len(parts)), where=parts > 0)
    judged = np.array(content["judged"], np.float64).reshape(-1, 3)
    own, other = content["forfeits"]
    return Meeting(
        content["rival"],
        content["alone"],
        wins.reshape(-1, rules.sides),
        judged,
        (own, other),
        content["fault"],
    )


def meeting_of(
    rival: str, place: int, chunks: Sequence[Played], rules: Rules, every: int
) -> Meeting:
    """Return a meeting from its chunks, in which the agent has this place and the rival the other.

    `every` is every how many deals of a chunk decisions were judged.
    """
    turned = rules.sides == 2 and place == 1
    duel = duel_of(chunks, rules)
    forfeits = [int(sum((played.forfeits == k).sum() for played in chunks)) for k in range(2)]
    return Meeting(
        rival,
        alone=turned or place == 0,
        wins=(duel.turned if turned else duel).game_wins,
        judged=np.concatenate([played.judged[::every, place] for played in chunks]),
        forfeits=(forfeits[place], forfeits[1 - place]),
        fault=next((played.faults[place] for played in chunks if played.faults[place]), ""),
    )


def own_scores(meeting: Meeting) -> np.ndarray:
    """Return the agent's share of the games, by deal; equals have half of them."""
    return deal_scores(meeting) if meeting.alone else 1 - deal_scores(meeting)


def deal_scores(meeting: Meeting) -> np.ndarray:
    """Return the score of the agent that is alone, by deal; all estimates are made of these."""
    return meeting.wins.mean(1)
