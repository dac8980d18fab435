"""Fresh deals, which nobody knew when an entry was made: does the agent do as well on them?

The deals of a protocol are public. Whoever has learnt them by heart does better on them than on
others, so a public score that is better beyond chance is refused.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from fiveup_env.arena.benchmark.entries import EntryError
from fiveup_env.arena.benchmark.meetings import meeting_of, own_scores
from fiveup_env.arena.benchmark.play import ways_of
from fiveup_env.arena.games import Task
from fiveup_env.arena.workers import play_tasks
from fiveup_env.opponents.rng import keyed_rng
from fiveup_env.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fiveup_env.arena.benchmark.entries import Entry
    from fiveup_env.arena.benchmark.meetings import Meeting
    from fiveup_env.arena.benchmark.protocol import BenchmarkTask

# Standard errors by which a public score may be better, in a task or in all. Of honest entries with
# four tasks, less than one in a thousand goes beyond.
BEYOND_CHANCE: Final = 4.0
FIRSTS: Final = 1 << 62  # how many first deals there are to draw from: below those of training


def check_fresh(entry: Entry, deals: int, seed: int, cores: int = 1) -> None:
    """Raise EntryError if an entry's games are better than games on deals that the seed draws.

    The agent meets each of the panel on that many deals of its own, in every task.
    """
    compared = [
        (task, *_compared(entry, task, deals, seed, cores)) for task in entry.protocol.tasks
    ]
    for task, public, fresh, error in compared:
        _refuse_better(f"in the task {task.name}", public, fresh, error, deals)
    _, every_public, every_fresh, errors = zip(*compared, strict=True)
    error = math.hypot(*errors) / len(errors)
    means = float(np.mean(every_public)), float(np.mean(every_fresh))
    _refuse_better("in all tasks", *means, error, deals)


def _compared(
    entry: Entry, task: BenchmarkTask, deals: int, seed: int, cores: int
) -> tuple[float, float, float]:
    """Return the public and the fresh share of wins in a task, and their standard error."""
    # The public deals are the same against each of the panel, the fresh ones are not.
    public = [own_scores(meeting) for meeting in entry.meetings[task.name]]
    fresh = [own_scores(meeting) for meeting in _played(entry, task, deals, seed, cores)]
    variance = _variance(np.mean(public, axis=0))
    variance += sum(map(_variance, fresh)) / len(fresh) ** 2
    return float(np.mean(public)), float(np.mean(fresh)), math.sqrt(variance)


def _played(
    entry: Entry, task: BenchmarkTask, deals: int, seed: int, cores: int
) -> Iterable[Meeting]:
    """Yield the meetings of an agent with the panel on fresh deals."""
    protocol, spec = entry.protocol, entry.agent
    ways = ways_of(protocol, task, spec)
    asked = {}
    for number, (_, pairing, _) in enumerate(ways):
        first = int(keyed_rng("fresh deals", seed, task.name, number).integers(FIRSTS))
        for start in range(0, deals, protocol.chunk):
            one = Task(pairing, first + start, min(protocol.chunk, deals - start))
            asked[one] = number
    terms = replace(protocol.terms(task, spec), judge=None)
    played = dict(
        progress(play_tasks(list(asked), terms, cores), len(asked), f"fresh chunks of {task.name}")
    )
    for number, (rival, _, place) in enumerate(ways):
        chunks = [played[one] for one in asked if asked[one] == number]
        yield meeting_of(rival, place, chunks, task.rules, protocol.judge_every)


def _variance(scores: np.ndarray) -> float:
    """Return the variance of the mean; an even deal is added, as even all wins are by chance."""
    return float(np.append(scores, 0.5).var(ddof=1)) / (len(scores) + 1)


def _refuse_better(where: str, public: float, fresh: float, error: float, deals: int) -> None:
    beyond = (public - fresh) / error
    if beyond > BEYOND_CHANCE:
        raise EntryError(
            f"{where} the agent has {public:.1%} of the public games and {fresh:.1%} on {deals} "
            f"fresh deals against each of the panel: that is better by {beyond:.1f} standard "
            "errors, as if it knew the public deals"
        )
