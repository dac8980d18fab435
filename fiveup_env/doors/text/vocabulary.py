"""The same game in other words: a prompt disguised, and the answer to it revealed.

A model that knows dominoes by heart knows these words no better than any other. The rules stay what
they are, so the game tree is the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fiveup_env.errors import AgentError, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORD: Final = re.compile(r"[A-Za-z]+")
_TILE: Final = re.compile(r"\b([0-6])-([0-6])\b")


@dataclass(frozen=True)
class Vocabulary:
    """Other words for some words, and another way to write a tile.

    Attributes:
        words: By the word that stands in our texts. Those that moves consist of have words of
            their own, so that answers can be revealed.
        tile: How a tile is written, with `{0}` and `{1}` for its halves; None: as ever.
    """

    words: Mapping[str, str]
    tile: str | None = None

    def disguise(self, prompt: str) -> str:
        """Return a prompt in these words."""
        if self.tile is not None:
            form = self.tile
            prompt = _TILE.sub(lambda match: form.format(match[1], match[2]), prompt)
        return _replaced(prompt, self.words)

    def reveal(self, answer: str) -> str:
        """Return an answer in these words as one in ours."""
        if self.tile is not None:
            pattern = re.escape(self.tile).replace(r"\{0\}", "([0-6])").replace(r"\{1\}", "([0-6])")
            answer = re.sub(pattern, r"\1-\2", answer)
        return _replaced(answer, {other: word for word, other in self.words.items()})


def _replaced(text: str, words: Mapping[str, str]) -> str:
    """Return a text with some words replaced; a capital stays one."""

    def other(match: re.Match[str]) -> str:
        word = match[0]
        replacement = words.get(word.lower())
        if replacement is None:
            return word
        return replacement.capitalize() if word[0].isupper() else replacement

    return _WORD.sub(other, text)


_QUARRY: Final = """
dominoes quarrying, tile slab, tiles slabs, boneyard pit, double mirror, doubles mirrors, pips dots,
lead launch, leads launches, led launched, leader launcher, set put, sets puts, draw haul,
draws hauls, drew hauled, drawn fetched, pass rest, passes rests, passed rested, seat camp,
seats camps, player mason, players masons
"""
VOCABULARIES: Final[Mapping[str, Vocabulary]] = {
    "plain": Vocabulary({}),
    "quarry": Vocabulary(dict(pair.split() for pair in _QUARRY.split(",")), tile="[{0}|{1}]"),
}


def vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of a name."""
    if name not in VOCABULARIES:
        raise AgentError(unknown("vocabulary", name, VOCABULARIES))
    return VOCABULARIES[name]
