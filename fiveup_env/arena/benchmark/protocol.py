"""A protocol: what is played in a benchmark. It never changes once it is published.

The data file beside this module holds the tasks with every field of their rules, the panel, whose
ratings are fixed, the deals, the time allowed, and digests of a few games of the panel. Code that
plays these games in any other way is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.arena.play.faults import ArenaError
from fiveup_env.arena.play.games import Task, Terms
from fiveup_env.arena.play.results import code_version
from fiveup_env.arena.play.workers import Player
from fiveup_env.errors import unknown
from fiveup_env.game.game import Game
from fiveup_env.opponents.registry import TEXT, make_agent
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTES: Final = ("format", "panel_played")  # of the data file, of which nothing is made
FOLDER: Final = Path(__file__).parent
SAMPLE: Final = 2  # deals of each task that the panel plays to show that code plays a protocol
SIZES: Final = ("full", "quick", "quarter")  # of cards; the last is a quarter of a quick one
FULL, QUICK, QUARTER = SIZES


@dataclass(frozen=True)
class BenchmarkTask:
    """One task of a protocol: the rules, the deals, and the panel's ratings there."""

    name: str
    preset: str
    players: int
    fields: Mapping[str, Any]  # every field of the rules, whatever the preset has
    first: int  # deal stream
    quick: int  # the number of deals of a quick card, the first of a full one's
    full: int
    elo: tuple[float, ...]  # of the panel, in its order
    sample: Mapping[str, str]  # by agent of the panel: a digest of a few of its games
    text: str = ""  # options of an agent that reads text, such as words=quarry

    @cached_property
    def rules(self) -> Rules:
        """The rules of the task."""
        return Rules.preset(self.preset, self.players, **self.fields)

    def agent(self, spec: str) -> str:
        """Return the spec by which an agent plays the task: `text` is told what it reads."""
        reads = self.text and spec.partition(":")[0] == TEXT
        return f"{spec},{self.text}" if reads else spec

    def deals(self, size: str) -> int:
        """Return the number of deals of a card."""
        return {FULL: self.full, QUICK: self.quick, QUARTER: max(1, self.quick // 4)}[size]


@dataclass(frozen=True)
class Mini:
    """A game small enough to be solved, in which NashConv is computed."""

    preset: str
    players: int
    times: int  # how often an agent is asked whose choices vary and that reports no probabilities
    quick: bool  # whether a quick card has it


@dataclass(frozen=True)
class Protocol:
    """A named benchmark."""

    name: str
    digest: str
    panel: tuple[str, ...]  # specs
    move_limit: float  # seconds for a decision
    chunk: int  # deals that are played side by side
    judge: str | None  # the reference search of the error rate; None: nothing is judged
    judge_every: int  # every how many deals
    tasks: tuple[BenchmarkTask, ...]
    minis: tuple[Mini, ...]
    episode: str = "game"
    apart: bool = True  # whether the agent plays in processes of its own, and is judged alone
    slow: float = math.inf  # seconds for a decision beyond which a quick card is a quarter of one

    def terms(self, task: BenchmarkTask, spec: str, size: str) -> Terms:
        """Return the terms on which an agent plays the games of a task."""
        return Terms(
            task.rules,
            self.episode,
            forfeit=True,
            move_limit=self.move_limit,
            judge=self.judge,
            judge_every=self.every(size),
            apart=task.agent(spec) if self.apart else None,
        )

    def every(self, size: str) -> int:
        """Return every how many deals decisions are judged: as many deals of each quick card."""
        return max(1, self.judge_every // 4) if size == QUARTER else self.judge_every

    def minis_of(self, size: str) -> list[Mini]:
        """Return the mini games of a card."""
        return [mini for mini in self.minis if mini.quick or size == FULL]

    def check(self) -> None:
        """Raise ArenaError unless this code plays the protocol."""
        for task in self.tasks:
            for name, digest in sample_of(self, task).items():
                if task.sample[name] != digest:
                    raise ArenaError(
                        f"this code ({code_version()}) does not play {self.name}: {name} is not "
                        f"the same in the task {task.name}; take a version that does, or a "
                        "protocol of this one"
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
    tasks = [BenchmarkTask(**task | {"elo": tuple(task["elo"])}) for task in content["tasks"]]
    return Protocol(
        **{name: value for name, value in content.items() if name not in NOTES}
        | {
            "digest": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
            "panel": tuple(content["panel"]),
            "tasks": tuple(tasks),
            "minis": tuple(Mini(**mini) for mini in content["minis"]),
        }
    )


def sample_of(protocol: Protocol, task: BenchmarkTask) -> dict[str, str]:
    """Return digests of what a task is made of: games of the panel, and questions in words.

    Each agent of the panel meets the next on a few deals.
    """
    player, digests = Player(Terms(task.rules, protocol.episode)), {}
    for spec, rival in zip(protocol.panel, _turned(protocol.panel), strict=True):
        played = player.play(Task((spec, rival), task.first - SAMPLE, SAMPLE))
        digests[spec] = _digest([played.scores.tolist(), played.hands.tolist()])
    if task.text:
        reader: Any = make_agent(task.agent(f"{TEXT}:builtins:repr"))  # asks no model
        game, questions = Game(task.rules, seed=task.first - SAMPLE), []
        while game.hand_number == 0 and not game.hand_over:
            questions.append(reader.question(game.view()))
            game.push(next(iter(game.legal_moves)))
        digests[TEXT] = _digest(questions)
    return digests


def _digest(content: object) -> str:
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=8).hexdigest()


def _turned(panel: tuple[str, ...]) -> tuple[str, ...]:
    return (*panel[1:], panel[0])
