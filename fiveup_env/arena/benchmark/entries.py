"""Entries of the leaderboard: cards with their authors' notes, and how they are checked.

Every figure of an entry is computed again from its games, and random chunks of the games are played
again. Whatever does not come out the same is refused, and its field named.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.arena.benchmark.card import FORMAT as CARD_FORMAT
from fiveup_env.arena.benchmark.card import TIMES
from fiveup_env.arena.benchmark.card import VERSION as CARD_VERSION
from fiveup_env.arena.benchmark.figures import figures_of
from fiveup_env.arena.benchmark.lonely import rows_of
from fiveup_env.arena.benchmark.meetings import meeting_from, meeting_of
from fiveup_env.arena.benchmark.play import tournament_of, ways_of
from fiveup_env.arena.benchmark.protocol import Protocol, read_protocol
from fiveup_env.arena.faults import ArenaError
from fiveup_env.arena.results import agent_digest, code_version
from fiveup_env.arena.workers import play_tasks
from fiveup_env.checks import finite
from fiveup_env.errors import AgentError, shown
from fiveup_env.files import Json, file_path
from fiveup_env.opponents.registry import make_agent
from fiveup_env.opponents.trust import check_spec
from fiveup_env.progress import progress
from fiveup_env.strict_json import parse_json

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fiveup_env.arena.benchmark.meetings import Meeting
    from fiveup_env.arena.benchmark.protocol import BenchmarkTask
    from fiveup_env.arena.games import Played

FORMAT = "fiveup-entry"
VERSION = 1
NOTES = ("name", "authors", "note", "training", "budget", "command")
CLOSE = 1e-9  # relative; sums of floating-point numbers may differ in their last digits


class EntryError(ArenaError):
    """An entry that is refused; the message names the field that is wrong."""


def entry_of(card: Json, notes: Json) -> Json:
    """Return an entry, whose notes are texts."""
    return {"format": FORMAT, "version": VERSION, **{n: notes[n] for n in NOTES}, "card": card}


def read_json(path: str | os.PathLike[str]) -> Json:
    """Return the object in a file of JSON."""
    try:
        content = parse_json(file_path(path).read_bytes())
    except ValueError as error:
        raise EntryError(f"{path} is not valid JSON: {shown(error, str)}") from None
    if not isinstance(content, dict):
        raise EntryError(f"{path} holds {shown(content)}, not an object")
    return content


class Entry:
    """An entry whose form is right; `check_figures` and `replay` say whether it is true."""

    def __init__(self, content: Json, folder: Path | None = None, *, trust: bool = False) -> None:
        """Read an entry, or raise EntryError.

        Args:
            content: What its file holds.
            folder: That of the file, in which a policy may lie.
            trust: Whether the agent may be one that runs code: a program or a module.
        """
        self._folder, self._trust = folder, trust
        _check_value("format", content.get("format"), FORMAT)
        _check_value("version", content.get("version"), VERSION)
        for name in NOTES:
            if not isinstance(content.get(name), str) or not content[name].strip():
                raise EntryError(f"{name} is {shown(content.get(name))}, not a text")
        self.content, self.card = content, _part(content, "card", dict)
        card = self.card
        _check_value("card.format", card.get("format"), CARD_FORMAT)
        _check_value("card.version", card.get("version"), CARD_VERSION)
        self.protocol: Protocol = read_protocol(card.get("protocol"))
        digest = self.protocol.digest
        _check_value("card.protocol_digest", card.get("protocol_digest"), digest)
        self.quick: bool = _part(card, "card.quick", bool)
        self.spec: str = _part(card, "card.agent", str)
        self.code: str = _part(card, "card.code", str)
        _check_cost(_part(card, f"card.{TIMES}", dict))
        _check_rows(_part(card, "card.minis", list))
        kept = _part(card, "card.meetings", dict)
        self.meetings: dict[str, list[Meeting]] = {}
        for name in kept:
            self.protocol.task(name)
        for task in self.protocol.tasks:
            listed = _part(kept, f"card.meetings.{task.name}", list)
            self.meetings[task.name] = list(self._meetings(task, listed))

    def _meetings(self, task: BenchmarkTask, listed: Sequence[Any]) -> Iterator[Meeting]:
        """Yield the meetings of a task, which are those that the protocol asks for."""
        sides = task.rules.sides
        wanted = [
            (rival, sides == 2 or place == 0)
            for rival, _, place in ways_of(self.protocol, task, self.spec)
        ]
        where = f"card.meetings.{task.name}"
        if len(listed) != len(wanted):
            raise EntryError(f"{where} has {len(listed)} meetings, not {len(wanted)}")
        for k, (content, (rival, alone)) in enumerate(zip(listed, wanted, strict=True)):
            yield self._meeting(task, content, rival, alone=alone, where=f"{where}[{k}]")

    def _meeting(
        self, task: BenchmarkTask, content: Any, rival: str, *, alone: bool, where: str
    ) -> Meeting:
        """Return a meeting whose parts have the right types and lengths."""
        if not isinstance(content, dict):
            raise EntryError(f"{where} is {shown(content)}, not an object")
        _check_value(f"{where}.rival", content.get("rival"), rival)
        _check_value(f"{where}.alone", content.get("alone"), alone)
        _part(content, f"{where}.fault", str)
        games = _part(content, f"{where}.games", str)
        deals, sides = task.deals(quick=self.quick), task.rules.sides
        if len(games) != deals * sides:
            raise EntryError(f"{where}.games has {len(games):,} games, not {deals * sides:,}")
        allowed = "".join(map(str, range(sides + 1)))
        for k, game in enumerate(games):
            if game not in allowed:
                raise EntryError(f"{where}.games[{k}] is {game!r}, not one of {allowed}")
        judged = _part(content, f"{where}.judged", list)
        count = sum(map(self._judged_in, self._chunks(task)))
        if len(judged) != count or not all(map(_is_judged, judged)):
            raise EntryError(f"{where}.judged is not {count} rows of three finite numbers")
        forfeits = _part(content, f"{where}.forfeits", list)
        if len(forfeits) != 2 or not all(type(one) is int and one >= 0 for one in forfeits):
            raise EntryError(f"{where}.forfeits is {shown(forfeits)}, not two counts")
        if (forfeits[0] > 0) != (content["fault"] != ""):
            raise EntryError(
                f"{where}.fault is {shown(content['fault'])}, with {forfeits[0]} forfeited games"
            )
        return meeting_from(content, task.rules)

    def _chunks(self, task: BenchmarkTask) -> list[tuple[int, int]]:
        """Return the first deal of each chunk of a task and the one after its last."""
        deals = task.deals(quick=self.quick)
        return list(pairwise([*range(0, deals, self.protocol.chunk), deals]))

    def _judged_in(self, chunk: tuple[int, int]) -> int:
        first, last = chunk
        return len(range(0, last - first, self.protocol.judge_every))

    def check_figures(self) -> None:
        """Raise EntryError unless the figures are those that the games give."""
        for name, value in figures_of(self.protocol, self.meetings).items():
            _compare(f"card.{name}", self.card.get(name), value, "the games give")

    @property
    def agent(self) -> str:
        """The spec, for playing; raises EntryError if an entry that is not trusted may not."""
        if not self._trust:
            try:
                check_spec(self.spec, self._folder)
            except AgentError as error:
                raise EntryError(
                    f"card.agent: {error}; --trust plays what somebody else's entry names"
                ) from None
        return self.spec

    def check_agent(self) -> None:
        """Raise EntryError unless the agent is here, with the same files."""
        make_agent(self.agent)
        digest = agent_digest(self.agent)
        if self.card.get("agent_digest") != digest:
            raise EntryError(
                f"card.agent_digest is {shown(self.card.get('agent_digest'))}, but the files of "
                f"{self.spec} here have {digest}: the entry is stale, or its files are missing"
            )

    def check_minis(self) -> None:
        """Raise EntryError unless the mini games come out the same."""
        minis = [mini for mini in self.protocol.minis if mini.quick or not self.quick]
        rows = _part(self.card, "card.minis", list)
        if len(rows) != len(minis):
            raise EntryError(f"card.minis has {len(rows)} games, not {len(minis)}")
        for k, row in enumerate(rows_of(self.agent, minis)):
            _compare(f"card.minis[{k}]", rows[k], row, "computed again,")

    def replay(self, chunks: int, seed: int, cores: int = 1) -> int:
        """Play random chunks again; raise EntryError where one differs. Return their number."""
        every = [
            (task, k, chunk)
            for task in self.protocol.tasks
            for k in range(len(self.meetings[task.name]))
            for chunk in self._chunks(task)
        ]
        order = np.random.default_rng(seed).permutation(len(every))[:chunks].tolist()
        for choice in progress(order, len(order), "chunks"):
            task, k, chunk = every[choice]
            self._replay(task, k, chunk, cores)
        return len(order)

    def _replay(self, task: BenchmarkTask, number: int, chunk: tuple[int, int], cores: int) -> None:
        protocol = self.protocol
        rival, pairing, place = ways_of(protocol, task, self.spec)[number]
        deals = task.deals(quick=self.quick)
        again = tournament_of(protocol, task, self.agent, deals).task(pairing, chunk[0])
        ((_, played),) = play_tasks([again], protocol.terms(task, self.agent), cores)
        self._compare_chunk(task, number, chunk, rival, place, played)

    def _compare_chunk(
        self,
        task: BenchmarkTask,
        number: int,
        chunk: tuple[int, int],
        rival: str,
        place: int,
        played: Played,
    ) -> None:
        """Raise EntryError where a chunk that was played again differs."""
        every, sides = self.protocol.judge_every, task.rules.sides
        found = meeting_of(rival, place, [played], task.rules, every).to_json()
        kept = self.card["meetings"][task.name][number]
        where, (first, last) = f"card.meetings.{task.name}[{number}]", chunk
        why = f"played again by this code ({code_version()}; the entry's is {self.code}),"
        games = kept["games"][first * sides : last * sides]
        for k, (said, now) in enumerate(zip(games, found["games"], strict=True)):
            _compare(f"{where}.games[{first * sides + k}]", said, now, why)
        at = sum(self._judged_in(one) for one in self._chunks(task) if one[1] <= first)
        for k, now in enumerate(found["judged"], at):
            _compare(f"{where}.judged[{k}]", kept["judged"][k], now, why)
        for k, now in enumerate(found["forfeits"]):
            if now > kept["forfeits"][k]:
                said = kept["forfeits"][k]
                raise EntryError(
                    f"{where}.forfeits[{k}] is {said}, but {why} one chunk alone has {now}"
                )


def _part(content: Json, where: str, kind: type) -> Any:
    """Return the part of an object that a field names by its last word."""
    value = content.get(where.rpartition(".")[2])
    if not isinstance(value, kind):
        raise EntryError(f"{where} is {shown(value)}, not of type {kind.__name__}")
    return value


def _check_value(where: str, value: object, wanted: object) -> None:
    if value != wanted or type(value) is not type(wanted):
        raise EntryError(f"{where} is {shown(value)}, not {shown(wanted)}")


def _is_judged(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 3
        and all(type(one) in {int, float} and finite(one) is not None for one in row)
    )


def _check_cost(cost: Json) -> None:
    for name in ("seconds_per_move", "megabytes"):
        value = cost.get(name, "missing")
        number = finite(value)
        if value is not None and (number is None or number < 0):
            raise EntryError(f"card.{TIMES}.{name} is {shown(value)}, not a number or null")


def _check_rows(rows: Sequence[Any]) -> None:
    """Raise EntryError unless the rows of mini games can be shown; they may still be untrue."""
    for k, row in enumerate(rows):
        where = f"card.minis[{k}]"
        if not isinstance(row, dict):
            raise EntryError(f"{where} is {shown(row)}, not an object")
        for name, kind in (("mini", str), ("fault", str), ("exact", bool)):
            _part(row, f"{where}.{name}", kind)
        for name in ("nash_conv", "of_random"):
            value = row.get(name)
            if finite(value) is None and not (value is None and row["fault"]):
                raise EntryError(f"{where}.{name} is {shown(value)}, not a number")


def _compare(where: str, said: object, now: object, why: str) -> None:
    """Raise EntryError at the first part in which two values differ."""
    if isinstance(now, dict) and isinstance(said, dict) and said.keys() == now.keys():
        for name in now:
            _compare(f"{where}.{name}", said[name], now[name], why)
    elif isinstance(now, list) and isinstance(said, list) and len(said) == len(now):
        for k, pair in enumerate(zip(said, now, strict=True)):
            _compare(f"{where}[{k}]", *pair, why)
    elif not _same(said, now):
        raise EntryError(f"{where} is {shown(said)}, but {why} {shown(now)}")


def _same(said: object, now: object) -> bool:
    if isinstance(now, float) and isinstance(said, (int, float)):
        return math.isclose(said, now, rel_tol=CLOSE, abs_tol=CLOSE)
    return type(said) is type(now) and said == now
