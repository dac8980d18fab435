"""The errors that fiveup_env raises for bad input, each of a named type."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class FiveUpError(ValueError):
    """Any input that the library refuses."""


class RulesError(FiveUpError):
    """Rules that do not exist, or that cannot be dealt or scored."""


class TileError(FiveUpError):
    """A tile that is not in the set."""


class SeatError(FiveUpError):
    """A seat or a number of players that the game does not have."""


class SeedError(FiveUpError):
    """A seed that is no whole number of 64 bits."""


class DealError(FiveUpError):
    """A deal that is not the whole set once, handed out as the rules say."""


class InvalidMoveError(FiveUpError):
    """Text or a value that is no move at all."""


class IllegalMoveError(FiveUpError):
    """A move that is not allowed here."""


class GameOverError(IllegalMoveError):
    """A move after the end of the game."""


class RecordError(FiveUpError):
    """A game record that is damaged or breaks the rules."""


class EncoderError(FiveUpError):
    """An encoder that does not exist or is none."""


class BeliefError(FiveUpError):
    """A view that no hand in play leads to."""


class AgentError(FiveUpError):
    """A spec that names no agent, or an option that the agent does not have."""


class OptionError(FiveUpError):
    """A value that an environment does not have for one of its options."""


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """The sentence for a name that does not exist: the nearest known one, then all of them."""
    names = list(known)
    near = get_close_matches(str(name), names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"there is no {kind} {name!r}{hint}; known: {', '.join(names)}"
