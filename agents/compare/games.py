"""What the runs of two ways make of the same duplicate deals."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import torch

from agents.compare.ways import LETTERS, common_rules
from agents.processes import workers
from fiveup_env.arena.statistics.duels import Duel, duel
from fiveup_env.opponents.registry import make_agent
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agents.compare.ways import Way
    from fiveup_env.rules.fields import Rules

FIRST_DEAL: Final = 1_200_000  # runs are measured on others
EACH_OTHER: Final = "each other"


class Games(NamedTuple):
    """The results of every run of a way on every deal [runs x deals]: means over the seatings."""

    wins: np.ndarray
    points: np.ndarray  # of a game: those of its side, less those of the others
    hands: np.ndarray

    @property
    def margins(self) -> np.ndarray:
        """The margin in points a hand, in values whose mean is all points by all hands."""
        return Duel(*self).game_margins


Played: TypeAlias = "dict[str, tuple[Games, Games]]"  # against whom: the games of both ways


class Meeting(NamedTuple):
    """Games of a run of a way on some of the deals, between two agents."""

    against: str
    way: int
    run: int
    deals: np.ndarray  # their numbers
    agents: tuple[str, str]
    rules: Rules


def play_all(
    ways: Sequence[Way], seeds: int, rivals: Sequence[str], deals: int, cores: int
) -> Played:
    """Return the games of the runs of both ways with each other, and with every rival.

    On deal k, run i of the first way meets run i + k of the second, counted round. So all runs play
    every deal, and meet every run of the other way on as many.
    """
    rules = common_rules(ways)[0]
    specs = [[way.spec(seed) for seed in range(seeds)] for way in ways]
    meetings = meetings_of(specs, rivals, rules, np.arange(deals))
    games = {
        against: (Games(*np.zeros((3, seeds, deals))), Games(*np.zeros((3, seeds, deals))))
        for against in (EACH_OTHER, *rivals)
    }
    with workers(cores) as pool:
        results = progress(pool.map(play, meetings), len(meetings), "playing")
        for meeting, result in zip(meetings, results, strict=True):
            for array, values in zip(games[meeting.against][meeting.way], result, strict=True):
                array[meeting.run, meeting.deals] = values
    if rules.sides == len(LETTERS):
        first = games[EACH_OTHER][0]
        games[EACH_OTHER] = first, turned(first)
    return games


def meetings_of(
    specs: Sequence[Sequence[str]], rivals: Sequence[str], rules: Rules, deals: np.ndarray
) -> list[Meeting]:
    """Return all meetings; of two sides, one's games are the other's, turned round."""
    (first, second), runs = specs, range(len(specs[0]))
    meetings = []
    for i, j in product(runs, runs):
        part = deals[(i + deals - j) % len(runs) == 0]
        meetings.append(Meeting(EACH_OTHER, 0, i, part, (first[i], second[j]), rules))
        if rules.sides > len(LETTERS):
            meetings.append(Meeting(EACH_OTHER, 1, j, part, (second[j], first[i]), rules))
    for rival, way, i in product(rivals, range(len(specs)), runs):
        meetings.append(Meeting(rival, way, i, deals, (specs[way][i], rival), rules))
    return meetings


def play(meeting: Meeting) -> Games:
    """Play the games of a meeting; return what the first agent made of them, by deal."""
    torch.set_num_threads(1)  # other meetings have the other cores
    agents = [make_agent(spec) for spec in meeting.agents]
    played = duel(agents, meeting.rules, FIRST_DEAL + meeting.deals)
    arrays = played.game_wins, played.game_points, played.game_hands
    return Games(*(array.mean(1) for array in arrays))


def opponents(runs: int, deals: int, way: int) -> np.ndarray:
    """Return the run that every run of a way meets on every deal [runs x deals]."""
    step = np.arange(deals) if way == 0 else -np.arange(deals)
    return (np.arange(runs)[:, None] + step) % runs


def turned(first: Games) -> Games:
    """Return the games of the first way's runs as those of the second's."""
    runs, deals = first.wins.shape
    met = opponents(runs, deals, 1), np.arange(deals)
    return Games(1 - first.wins[met], -first.points[met], first.hands[met])
