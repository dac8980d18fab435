"""A protocol: what is played in a benchmark. It never changes once it is published.

The data file beside this module holds the tasks with every field of their rules, the panel, whose
ratings are fixed, the deals, the time allowed, and digests of a few games of the panel. Code that
plays these games in any other way plays another benchmark, and is refused.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fiveup_env.arena.faults import ArenaError
from fiveup_env.arena.games import Task, Terms
from fiveup_env.arena.results import code_version
from fiveup_env.arena.workers import Player
from fiveup_env.errors import shown, unknown
from fiveup_env.opponents.networks.files import policy_folder, read_description
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "fiveup-benchmark"
FOLDER = Path(__file__).parent
SAMPLE = 2  # deals of each task that the panel plays to show that code plays a protocol


@dataclass(frozen=True)
class Course:
    """One task of a protocol: the rules, the deals, and the panel's ratings there."""

    name: str
    preset: str
    players: int
    fields: Mapping[str, Any]  # every field of the rules
    first: int  # deal stream
    quick: int  # the number of deals of a quick card, which are the first of those of a full one
    full: int
    elo: tuple[float, ...]  # of the panel, in its order
    sample: Mapping[str, str]  # by agent of the panel: a digest of a few of its games

    @cached_property
    def rules(self) -> Rules:
        """The rules of the task."""
        return Rules.preset(self.preset, self.players)

    def deals(self, *, quick: bool) -> int:
        """Return the number of deals of a card."""
        return self.quick if quick else self.full


@dataclass(frozen=True)
class Mini:
    """A game that is small enough to be solved, in which NashConv is computed."""

    preset: str
    players: int
    times: int  # how often an agent is asked that draws at random and does not say how
    quick: bool  # whether a quick card has it


@dataclass(frozen=True)
class Protocol:
    """A named benchmark."""

    name: str
    digest: str
    panel: tuple[str, ...]  # specs
    weights: Mapping[str, str]  # by spec of a policy in the panel: the digest of its files
    move_limit: float  # seconds for a decision
    chunk: int  # deals that are played side by side
    judge: str  # the reference search of the error rate
    judge_every: int  # every how many deals
    tasks: tuple[Course, ...]
    minis: tuple[Mini, ...]

    def terms(self, task: Course, spec: str) -> Terms:
        """Return how an agent plays the games of a task: apart from them, in its own process."""
        return Terms(
            task.rules,
            forfeit=True,
            move_limit=self.move_limit,
            judge=self.judge,
            judge_every=self.judge_every,
            apart=spec,
        )

    def task(self, name: object) -> Course:
        """Return the task of this name."""
        tasks = {task.name: task for task in self.tasks}
        if not isinstance(name, str) or name not in tasks:
            raise ArenaError(unknown(f"task of {self.name}", name, tasks))
        return tasks[name]

    def check(self) -> None:
        """Raise ArenaError unless this code plays the protocol."""
        for spec, digest in self.weights.items():
            _, _, name = spec.partition(":")
            here = read_description(policy_folder(name))["digest"]  # its weights are read in games
            if here != digest:
                raise self.not_played(f"{spec} has the digest {here}, not {digest}")
        for task in self.tasks:
            for name, value in task.rules.fields().items():
                if task.fields.get(name) != value:
                    raise self.not_played(
                        f"the task {task.name} has {name} {shown(task.fields.get(name))}, "
                        f"and here {task.preset} has {shown(value)}"
                    )
            for spec, digest in sample_of(self, task).items():
                if task.sample[spec] != digest:
                    raise self.not_played(f"{spec} makes other moves in the task {task.name}")

    def not_played(self, why: str) -> ArenaError:
        """Return the error for code that does not play this protocol."""
        return ArenaError(
            f"this code ({code_version()}) does not play {self.name}: {why}; take a version that "
            "does, or a protocol of this one"
        )


def read_protocol(name: str) -> Protocol:
    """Return the protocol of this name."""
    known = {path.stem: path for path in sorted(FOLDER.glob("*.json"))}
    if name not in known:
        raise ArenaError(unknown("benchmark", name, known))
    return protocol_of(json.loads(known[name].read_text("utf-8")))


def protocol_of(content: Mapping[str, Any]) -> Protocol:
    """Return the protocol with this content."""
    text = json.dumps(content, sort_keys=True)
    return Protocol(
        **{name: content[name] for name in ("name", "weights", "move_limit", "chunk", "judge")},
        digest=hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
        panel=tuple(content["panel"]),
        judge_every=content["judge_every"],
        tasks=tuple(Course(**task | {"elo": tuple(task["elo"])}) for task in content["tasks"]),
        minis=tuple(Mini(**mini) for mini in content["minis"]),
    )


def sample_of(protocol: Protocol, task: Course) -> dict[str, str]:
    """Return a digest of the games of each agent of the panel against the next, on a few deals."""
    player, digests = Player(Terms(task.rules)), {}
    for spec, rival in zip(protocol.panel, _turned(protocol.panel), strict=True):
        played = player.play(Task((spec, rival), task.first - SAMPLE, SAMPLE))
        content = json.dumps([played.scores.tolist(), played.hands.tolist()])
        digests[spec] = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return digests


def _turned(panel: tuple[str, ...]) -> tuple[str, ...]:
    return (*panel[1:], panel[0])
