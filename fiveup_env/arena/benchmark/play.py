"""The games of a benchmark: in every task, an agent meets each of the panel on the same deals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fiveup_env.arena.benchmark.meetings import meeting_of
from fiveup_env.arena.tournament import Tournament, play_tournament

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from fiveup_env.arena.benchmark.meetings import Meeting
    from fiveup_env.arena.benchmark.protocol import Course, Protocol
    from fiveup_env.arena.tournament import Engine, Outcome
    from fiveup_env.arena.tournament import Meeting as Pairing


def tournament_of(protocol: Protocol, task: Course, spec: str, deals: int) -> Tournament:
    """Return the games of an agent with the panel in a task."""
    return Tournament(
        (spec, *protocol.panel),
        protocol.terms(task, spec),
        deals,
        task.first,
        against=spec,
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
) -> Iterator[tuple[Course, Outcome]]:
    """Play the tasks one after the other; with a folder, keep and use what has been played.

    The iterator ends after a task that was interrupted.
    """
    for task in protocol.tasks:
        results = None
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
            results = Path(folder) / f"{protocol.name}-{task.name}.jsonl"
        tournament = tournament_of(protocol, task, spec, task.deals(quick=quick))
        outcome = play_tournament(tournament, cores, results, engine)
        yield task, outcome
        if outcome.interrupted:
            return


def ways_of(protocol: Protocol, spec: str, sides: int) -> list[tuple[str, Pairing, int]]:
    """Return how the arena lets an agent meet the panel: the rival, the pair, the agent's place."""
    ways: list[tuple[str, Pairing, int]] = []
    for rival in protocol.panel:
        if sides > 2 or spec <= rival:
            ways.append((rival, (spec, rival), 0))
        if sides > 2 or spec > rival:
            ways.append((rival, (rival, spec), 1))
    return ways


def meetings_of(protocol: Protocol, spec: str, outcome: Outcome) -> list[Meeting]:
    """Return the meetings of an agent with the panel, in the order of the panel."""
    rules = outcome.tournament.terms.rules
    return [
        meeting_of(rival, place, outcome.chunks_of(pairing), rules, protocol.judge_every)
        for rival, pairing, place in ways_of(protocol, spec, rules.sides)
    ]


def seconds_of(outcome: Outcome, protocol: Protocol, spec: str) -> tuple[float, int]:
    """Return the seconds that an agent took in a task, and the number of its decisions."""
    seconds, decisions = 0.0, 0
    for _, pairing, place in ways_of(protocol, spec, outcome.tournament.terms.rules.sides):
        for played in outcome.chunks_of(pairing):
            seconds += float(played.seconds[place])
            decisions += int(played.decisions[place])
    return seconds, decisions
