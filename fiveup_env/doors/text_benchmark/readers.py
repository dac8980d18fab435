"""Who reads a prompt and writes an answer: the protocol, and scripted readers.

A reader is a class with one method:

    class MyModel:
        def __call__(self, prompt: str) -> str:
            return client.complete(prompt)

It is named `module:MyModel`, and its instance may count its `tokens`. The scripted readers know
nothing but the words of the prompt, whatever words these are: they read the numbers, and how the
sentences are built.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

from fiveup_env.errors import AgentError, shown, unknown
from fiveup_env.opponents.rng import keyed_rng

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TILE: Final = r"\D?([0-6])\D([0-6])\D?"


class Reader(Protocol):
    """Anything that answers prompts."""

    def __call__(self, prompt: str, /) -> str:
        """Return an answer, whose last line is a move."""


class RandomReader:
    """Plays any move of those that the prompt lists."""

    def __call__(self, prompt: str) -> str:
        """Return a move."""
        moves = listed(prompt)
        return moves[keyed_rng("reader", prompt).integers(len(moves))]


class GreedyReader:
    """Plays the move that scores most at once, of those the one that gets rid of most pips."""

    def __call__(self, prompt: str) -> str:
        """Return a move."""
        return max(listed(prompt), key=lambda move: _worth(move, prompt))


class Mute:
    """Writes of other things."""

    def __call__(self, prompt: str) -> str:
        """Return no move."""
        return f"There are {len(prompt)} characters to think about."


def listed(prompt: str) -> list[str]:
    """Return the legal moves that a prompt lists."""
    (line,) = (line for line in prompt.splitlines() if line.startswith("Your legal moves: "))
    return line.removeprefix("Your legal moves: ").rstrip(".").split(", ")


def _worth(move: str, prompt: str) -> tuple[int, int]:
    """Return the points of a move and the pips that it sets, read from the words alone."""
    tile = re.search(_TILE, move)
    if tile is None:
        return -1, 0
    pips = int(tile[1]) + int(tile[2])
    multiple = re.search(r"If the total is a multiple of (\d+)", prompt)
    assert multiple
    total = _total_after(move, (int(tile[1]), int(tile[2])), prompt)
    return (0 if total % int(multiple[1]) else total), pips


def _total_after(move: str, tile: tuple[int, int], prompt: str) -> int:
    on = re.search(r" on the (\w+ )?([0-6])$", move)
    if on is None:
        return sum(tile)
    pip, total = int(on[2]), re.search(r"The total is (\d+)", prompt)
    assert total
    counted = _double_counts(on[1], pip, prompt) if on[1] else pip
    shows = 2 * pip if tile[0] == tile[1] else sum(tile) - pip
    return int(total[1]) - counted + shows


def _double_counts(word: str, pip: int, prompt: str) -> int:
    """Return what the total loses when a tile is set on a double: all of it, on its last side."""
    ends = re.search(rf"the {word}{pip} \(counts (\d+)\)", prompt)
    history = re.search(r"What was done: (.*)", prompt)
    assert ends
    assert history
    first, *others = history[1].split("; ")
    opened = re.search(_TILE, first)
    was_led = opened is not None and {opened[1], opened[2]} == {str(pip)}
    covered = sum(f" on the {word}{pip}" in done for done in others)
    return int(ends[1]) if covered or not was_led else 0


READERS: Final[Mapping[str, Callable[[], Reader]]] = {
    "random-reader": RandomReader,
    "greedy-reader": GreedyReader,
    "mute": Mute,
}


def make_reader(spec: str) -> Reader:
    """Return the reader of a spec: one of READERS, or `module:Class`; raise AgentError."""
    if spec in READERS:
        return READERS[spec]()
    module, _, name = spec.partition(":")
    if not (module and name.isidentifier()):
        raise AgentError(f"{unknown('reader', spec, READERS)}; one of your own is module:Class")
    try:
        made = getattr(import_module(module), name)()
    except (ImportError, AttributeError, TypeError) as error:
        raise AgentError(f"there is no reader {shown(spec)}: {error}") from None
    if not callable(made):
        raise AgentError(f"a reader is called with a prompt, and {shown(spec)} cannot be called")
    return made
