"""The types of the errors that fiveup_env raises for bad input."""

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
    """A seed that is not an unsigned 64-bit integer."""


class DealError(FiveUpError):
    """A deal that does not hand out every tile of the set exactly once, as the rules say."""


class InvalidMoveError(FiveUpError):
    """Text or a value that is not a move at all."""


class IllegalMoveError(FiveUpError):
    """A move that is not allowed here."""


class GameOverError(IllegalMoveError):
    """A move after the end of the game."""


class RecordError(FiveUpError):
    """A game record that is damaged or breaks the rules."""


class EncoderError(FiveUpError):
    """An encoder that does not exist, or an object that is not an encoder."""


class BeliefError(FiveUpError):
    """A view that cannot occur in a hand in play."""


class AgentError(FiveUpError):
    """An agent that does not exist, or an option that it does not have."""


class OptionError(FiveUpError):
    """A value that an option of an environment does not allow."""


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Return a message for an unknown name, with the most similar known name and all of them."""
    names = list(known)
    near = get_close_matches(str(name), names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"there is no {kind} {name!r}{hint}; known: {', '.join(names)}"
