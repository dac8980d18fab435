"""What a benchmark of players through text consists of, read from the data file beside this module.

It never changes once it is published: other hands make another benchmark, with another name.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fiveup_env.arena.faults import ArenaError
from fiveup_env.arena.results import code_version
from fiveup_env.doors.prompts import prompt
from fiveup_env.doors.text_benchmark.vocabulary import Vocabulary, vocabulary
from fiveup_env.game.game import Game
from fiveup_env.rules.fields import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER: Final = Path(__file__).parent
TEXT_PROTOCOLS: Final = tuple(path.stem for path in sorted(FOLDER.glob("fiveup-text-*.json")))


@dataclass(frozen=True)
class TextTask:
    """Hands by one set of rules, in one vocabulary; every deal is played from every seat."""

    name: str
    players: int
    fields: Mapping[str, Any]  # every field of the rules
    vocabulary: str
    first: int  # deal
    sample: str  # a digest of the first prompt, in its words

    @property
    def rules(self) -> Rules:
        """The rules of the task."""
        return Rules(players=self.players, teams=False, **self.fields)

    @property
    def words(self) -> Vocabulary:
        """The vocabulary of the task."""
        return vocabulary(self.vocabulary)


@dataclass(frozen=True)
class TextProtocol:
    """A named benchmark of readers."""

    name: str
    digest: str
    rivals: tuple[str, ...]  # specs
    reference: str  # the search that judges every move
    tries: int  # wrong answers in one position that forfeit a hand
    forfeit: float  # the margin of such a hand
    quick: int  # deals of each task against each rival
    full: int
    tasks: tuple[TextTask, ...]

    def check(self) -> None:
        """Raise ArenaError unless this code writes the prompts of the protocol."""
        for task in self.tasks:
            if sample_of(task) != task.sample:
                raise ArenaError(
                    f"this code ({code_version()}) does not play {self.name}: its prompts in the "
                    f"task {task.name} are others; take a version that does, or another protocol"
                )


def sample_of(task: TextTask) -> str:
    """Return a digest of the first prompt of a task, in its words."""
    text = task.words.disguise(prompt(Game(task.rules, seed=task.first).view()))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def read_text_protocol(name: str) -> TextProtocol:
    """Return the protocol of this name, one of TEXT_PROTOCOLS."""
    content = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    text = json.dumps(content, sort_keys=True)
    return TextProtocol(
        **content
        | {
            "digest": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
            "rivals": tuple(content["rivals"]),
            "tasks": tuple(TextTask(**task) for task in content["tasks"]),
        }
    )
