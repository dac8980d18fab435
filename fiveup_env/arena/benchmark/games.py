"""The games of a benchmark: in every task, an agent meets each of the panel on the same deals."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fiveup_env.arena.benchmark.protocol import QUARTER, QUICK
from fiveup_env.arena.play.results import agent_digest
from fiveup_env.arena.play.tournament import Tournament, play_tournament
from fiveup_env.arena.statistics.duels import duel_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from fiveup_env.arena.benchmark.protocol import BenchmarkTask, Protocol
    from fiveup_env.arena.play.tournament import Engine, TournamentResult
    from fiveup_env.arena.play.tournament import Meeting as Pairing


@dataclass(frozen=True, eq=False)
class Meeting:
    """The games of an agent with one of the panel.

    With two sides there is one meeting for each of the panel. With more there are two, in which
    either agent is alone on its side, against the other on all other sides.
    """

    rival: str  # of the panel
    alone: bool  # whether it is the agent that is alone, not the rival; with two sides it is
    scores: np.ndarray  # by deal: the share of its games that the side which is alone won
    judged: np.ndarray  # of the agent, by judged deal: decisions, chances lost, points lost
    forfeits: int  # games that the agent forfeited
    fault: str  # why it first did, if it did

    @property
    def own_scores(self) -> np.ndarray:
        """The agent's share of the games, by deal; equals have half of them."""
        return self.scores if self.alone else 1 - self.scores


@dataclass(frozen=True)
class Cost:
    """An agent's costs for the decisions of a task, and its own counts."""

    seconds: float
    decisions: int
    usage: Counter[str]


def play(
    protocol: Protocol,
    spec: str,
    size: str,
    folder: str | os.PathLike[str],
    cores: int = 1,
    engine: Engine | None = None,
) -> Iterator[TournamentResult]:
    """Play the tasks one after the other; what has been played is kept in a folder, and used.

    Every agent has files of its own there: it plays apart, so its games are not those of others.
    The iterator ends after a task that was interrupted.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    for task in protocol.tasks:
        results = Path(folder) / f"{protocol.name}-{task.name}-{size}-{agent_digest(spec)}.jsonl"
        tournament = tournament_of(protocol, task, spec, size)
        result = play_tournament(tournament, cores, results, engine)
        yield result
        if result.interrupted:
            return


def quick_size(
    protocol: Protocol,
    spec: str,
    folder: str | os.PathLike[str],
    cores: int = 1,
    engine: Engine | None = None,
) -> str:
    """Return the size of a quick card: a quarter for an agent that is slow in the first games."""
    if not np.isfinite(protocol.slow):
        return QUICK
    result = next(play(protocol, spec, QUARTER, folder, cores, engine))
    cost = cost_of(protocol, protocol.tasks[0], spec, result)
    return QUARTER if cost.seconds > protocol.slow * cost.decisions else QUICK


def tournament_of(protocol: Protocol, task: BenchmarkTask, spec: str, size: str) -> Tournament:
    """Return the games of an agent with the panel in a task."""
    agent = task.agent(spec)
    return Tournament(
        (agent, *protocol.panel),
        protocol.terms(task, spec, size),
        task.deals(size),
        task.first,
        against=agent,
        chunk=protocol.chunk,
    )


def meetings_of(
    protocol: Protocol, task: BenchmarkTask, spec: str, result: TournamentResult
) -> list[Meeting]:
    """Return the meetings of an agent with the panel, in the order of the panel."""
    meetings, every = [], result.tournament.terms.judge_every
    for rival, pairing, place in _ways(protocol, task, spec):
        chunks = result.chunks_of(pairing)
        wins, turned = duel_of(chunks, task.rules).wins, task.rules.sides == 2 and place == 1
        meeting = Meeting(
            rival,
            alone=turned or place == 0,
            scores=1 - wins if turned else wins,
            judged=np.concatenate([played.judged[::every, place] for played in chunks]),
            forfeits=sum(int((played.forfeits == place).sum()) for played in chunks),
            fault=next((played.faults[place] for played in chunks if played.faults[place]), ""),
        )
        meetings.append(meeting)
    return meetings


def cost_of(protocol: Protocol, task: BenchmarkTask, spec: str, result: TournamentResult) -> Cost:
    """Return the costs of an agent in a task."""
    played = [
        (chunk, place)
        for _, pairing, place in _ways(protocol, task, spec)
        for chunk in result.chunks_of(pairing)
    ]
    return Cost(
        seconds=sum(float(chunk.seconds[place]) for chunk, place in played),
        decisions=sum(int(chunk.decisions[place]) for chunk, place in played),
        usage=sum((Counter(chunk.usage[place]) for chunk, place in played), Counter()),
    )


def _ways(protocol: Protocol, task: BenchmarkTask, spec: str) -> Iterator[tuple[str, Pairing, int]]:
    """Yield how the arena lets an agent meet the panel: the rival, the pair, the agent's place."""
    agent, sides = task.agent(spec), task.rules.sides
    for rival in protocol.panel:
        if sides > 2 or agent <= rival:
            yield rival, (agent, rival), 0
        if sides > 2 or agent > rival:
            yield rival, (rival, agent), 1
