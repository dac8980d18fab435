"""The games of a benchmark: in every task, an agent meets each of the panel on the same deals."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from fiveup_env.arena.benchmark.meetings import meeting_of
from fiveup_env.arena.results import agent_digest
from fiveup_env.arena.tournament import Tournament, play_tournament

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from fiveup_env.arena.benchmark.meetings import Meeting
    from fiveup_env.arena.benchmark.protocol import BenchmarkTask, Protocol
    from fiveup_env.arena.tournament import Engine, TournamentResult
    from fiveup_env.arena.tournament import Meeting as Pairing


def tournament_of(protocol: Protocol, task: BenchmarkTask, spec: str, deals: int) -> Tournament:
    """Return the games of an agent with the panel in a task."""
    agent = task.agent(spec)
    return Tournament(
        (agent, *protocol.panel),
        protocol.terms(task, spec),
        deals,
        task.first,
        against=agent,
        chunk=protocol.chunk,
    )


def play(
    protocol: Protocol,
    spec: str,
    cores: int,
    folder: str | os.PathLike[str] | None = None,
    engine: Engine | None = None,
    *,
    quick: bool,
) -> Iterator[tuple[BenchmarkTask, TournamentResult]]:
    """Play the tasks one after the other; with a folder, keep and use what has been played.

    Every agent has files of its own there: it plays apart, so its games are not those of others.
    The iterator ends after a task that was interrupted.
    """
    for task in protocol.tasks:
        results = None
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            name = f"{protocol.name}-{task.name}-{agent_digest(spec)}.jsonl"
            results = Path(folder) / name
        tournament = tournament_of(protocol, task, spec, task.deals(quick=quick))
        outcome = play_tournament(tournament, cores, results, engine)
        yield task, outcome
        if outcome.interrupted:
            return


def ways_of(protocol: Protocol, task: BenchmarkTask, spec: str) -> list[tuple[str, Pairing, int]]:
    """Return how the arena lets an agent meet the panel: the rival, the pair, the agent's place."""
    agent, sides = task.agent(spec), task.rules.sides
    ways: list[tuple[str, Pairing, int]] = []
    for rival in protocol.panel:
        if sides > 2 or agent <= rival:
            ways.append((rival, (agent, rival), 0))
        if sides > 2 or agent > rival:
            ways.append((rival, (rival, agent), 1))
    return ways


def meetings_of(
    protocol: Protocol, task: BenchmarkTask, spec: str, outcome: TournamentResult
) -> list[Meeting]:
    """Return the meetings of an agent with the panel, in the order of the panel."""
    return [
        meeting_of(rival, place, outcome.chunks_of(pairing), task.rules, protocol.judge_every)
        for rival, pairing, place in ways_of(protocol, task, spec)
    ]


def costs_of(
    protocol: Protocol, task: BenchmarkTask, spec: str, outcome: TournamentResult
) -> tuple[float, int, Counter[str]]:
    """Return an agent's seconds and decisions in a task, and what it counts itself."""
    seconds, decisions, usage = 0.0, 0, Counter[str]()
    for _, pairing, place in ways_of(protocol, task, spec):
        for played in outcome.chunks_of(pairing):
            seconds += float(played.seconds[place])
            decisions += int(played.decisions[place])
            usage.update(played.usage[place])
    return seconds, decisions, usage
