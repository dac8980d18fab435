"""The agent `text:module:Model`: a language model, or anything else that answers text with text.

A model is a function of a prompt, or a class whose instances are called like one:

    class Model:
        def __call__(self, prompt: str) -> str:
            return client.complete(prompt)

It returns its answer, whose last line is a move, or its answer and the number of tokens that this
took.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import numpy as np

from fiveup_env.checks import is_one_of, whole
from fiveup_env.doors.text.prompts import move_in, prompt
from fiveup_env.doors.text.tools import MOST_ASKED, asked_in, checked_tools, how_to_ask, told
from fiveup_env.doors.text.vocabulary import vocabulary
from fiveup_env.engine.view import as_views, legal_masks
from fiveup_env.errors import (
    AgentError,
    IllegalMoveError,
    InvalidMoveError,
    ModelError,
    shown,
    unknown,
)

if TYPE_CHECKING:
    from fiveup_env.doors.text.prompts import PromptKind

KINDS: Final = ("bare", "deductions")  # an agent is asked about views alone, so it keeps no notes
NO_ACTION: Final = -1  # legal nowhere, so that the position is forfeited where faults are counted
MOST_TRIES, MOST_CALLS = 1_000, 1_000


class Model(Protocol):
    """Anything that answers prompts."""

    def __call__(self, prompt: str, /) -> str | tuple[str, int]:
        """Return an answer, or an answer and its number of tokens."""


@dataclass
class TextAgent:
    r"""Plays what a language model answers, or anything else that answers text.

    A forced move is made without asking. After a wrong answer the model is asked again, with a
    sentence that says what was wrong.

    Attributes:
        usage: The numbers of `answers`, of those that were `unreadable` or `illegal`, or `asked` a
            tool, and of `tokens`, so far.

    >>> from fiveup_env import Game
    >>> print(Game(players=2, seed=7).ask(TextAgent(lambda prompt: "I lead low.\nlead 0-0")))
    0-0
    """

    model: str | Model = field(metadata={"help": "module:Model, a function or a class"})
    prompt: str = field(default="bare", metadata={"help": "or deductions, of the hidden tiles"})
    words: str = field(default="plain", metadata={"help": "or quarry: the game in other words"})
    tries: int = field(default=3, metadata={"help": "answers in which to name a legal move"})
    calls: int = field(default=1, metadata={"help": "of the model at the same time"})
    tools: str = field(default="", metadata={"help": "to ask: belief, ends, score, history, by +"})

    def __post_init__(self) -> None:
        """Make the model; raise AgentError if there is none, or an option is not allowed."""
        if not is_one_of(self.prompt, KINDS):
            raise AgentError(unknown("prompt", self.prompt, KINDS))
        for name, most in (("tries", MOST_TRIES), ("calls", MOST_CALLS)):
            if whole(value := getattr(self, name), 1, most) is None:
                raise AgentError(f"{name} is a whole number from 1 to {most}, not {shown(value)}")
        self._kind = cast("PromptKind", self.prompt)
        self._words, self._tools = vocabulary(self.words), checked_tools(self.tools)
        self._model = _model_at(self.model) if isinstance(self.model, str) else self.model
        if not callable(self._model):
            raise AgentError(f"a model is called with a prompt, and {shown(self.model)} cannot be")
        self.usage = Counter[str]()

    def __call__(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return an action for every view, NO_ACTION for each whose answers were all wrong.

        Raises ModelError if the model raises an error: that is nothing of its play.
        """
        del rng
        views = as_views(views)
        masks = legal_masks(views)
        actions, choices = masks.argmax(1), np.flatnonzero(masks.sum(1) > 1)
        with ThreadPoolExecutor(self.calls) as pool:
            asked = pool.map(self._ask, (views[k : k + 1] for k in choices))
            for k, (action, usage) in zip(choices, asked, strict=True):
                actions[k] = action
                self.usage.update(usage)
        return actions

    def question(self, view: np.ndarray) -> str:
        """Return the prompt for a view."""
        return self._words.disguise(prompt(view, self._kind, asking=how_to_ask(self._tools)))

    def _ask(self, view: np.ndarray) -> tuple[int, Counter[str]]:
        """Return the action that the model chooses, and what the answers took."""
        usage = Counter[str]()
        question = asked = self.question(view)
        while usage["illegal"] + usage["unreadable"] < self.tries:
            answer, tokens = self._answer(asked)
            usage.update(answers=1, tokens=tokens)
            plain = self._words.reveal(answer)
            tool = asked_in(plain, self._tools) if usage["asked"] < MOST_ASKED else None
            try:
                if tool is None:
                    return move_in(plain, view).action, usage
                usage["asked"] += 1
                asked = f"{self._words.disguise(told(*tool, view))}\n\n{question}"
            except (InvalidMoveError, IllegalMoveError) as error:
                usage["illegal" if isinstance(error, IllegalMoveError) else "unreadable"] += 1
                asked = f"{self._words.disguise(str(error))}\n\n{question}"
        return NO_ACTION, usage

    def _answer(self, asked: str) -> tuple[str, int]:
        """Return the model's answer and its number of tokens."""
        try:
            given: object = self._model(asked)
        except Exception as error:
            raise ModelError(
                f"{shown(self.model)} raised {type(error).__name__}: {error}"
            ) from error
        answer, tokens = given if isinstance(given, tuple) and len(given) == 2 else (given, 0)
        if not isinstance(answer, str) or (count := whole(tokens, 0, 1 << 53)) is None:
            raise ModelError(
                f"{shown(self.model)} returns text, or text and a number of tokens, not "
                f"{shown(given)}"
            )
        return answer, count


def _model_at(place: str) -> Model:
    """Return the model at `module:Model`, made if it is a class."""
    module, _, name = place.partition(":")
    try:
        source: Any = getattr(import_module(module), name)
        model: Model = source() if isinstance(source, type) else source
    except Exception as error:
        raise AgentError(
            f"there is no model {shown(place)}, which is named module:Model: "
            f"{type(error).__name__}: {error}"
        ) from error
    return model
