"""The types of the errors that fiveup_env raises.

There are three kinds: an `InputError` for what is wrong with the input, a `WrongMomentError` for a
call that comes too early or too late, and a `MissingExtraError` for an optional package that is not
installed. All of them are a `FiveUpError`.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


class FiveUpError(Exception):
    """Any error that fiveup_env raises."""

    def __str__(self) -> str:
        """Return the message in one line: it may quote a name or a text with any characters."""
        said = super().__str__()
        return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in said)


class InputError(FiveUpError, ValueError):
    """Input that is refused; the message says what was given and what is allowed."""


class WrongMomentError(FiveUpError, RuntimeError):
    """A call that comes too early or too late, such as a step before a reset."""


class MissingExtraError(FiveUpError, ImportError):
    """An optional package that is not installed; the message says how to install it.

    Args:
        message: What needs it, and how it is installed.
        missing: The import that failed: the package, or something that the package needs.
    """

    def __init__(self, message: str, missing: ImportError | None = None) -> None:
        """Say which import failed, if it is known."""
        if missing:
            message += f" ({missing})"
        super().__init__(message, name=missing.name if missing else None)


class RulesError(InputError):
    """Rules that do not exist, or that cannot be dealt or scored."""


class TileError(InputError):
    """A tile that is not in the set."""


class SeatError(InputError):
    """A seat or a number of players that the game does not have."""


class SeedError(InputError):
    """A seed that is not an unsigned 64-bit integer."""


class DealError(InputError):
    """A deal that does not hand out every tile of the set exactly once, as the rules say."""


class InvalidMoveError(InputError):
    """Text or a value that is not a move at all."""


class IllegalMoveError(InputError):
    """A move that is not allowed here."""


class GameOverError(IllegalMoveError, WrongMomentError):
    """A move after the end of the game."""


class RecordError(InputError):
    """A game record that is damaged or breaks the rules."""


class EncoderError(InputError):
    """An encoder that does not exist, or an object that is not an encoder."""


class BeliefError(InputError):
    """A view that cannot occur in a hand in play."""


class AgentError(InputError):
    """An agent that does not exist, or an option that it does not have."""


class ModelError(FiveUpError):
    """A language model that cannot be asked now: what was played is kept, and can be continued."""


class RequestError(InputError):
    """A request that the table in the browser refuses, with the status that HTTP gives it."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class OptionError(InputError):
    """A value that an option of an environment does not allow."""


class UnexpectedOptionError(OptionError, TypeError):
    """A keyword that is neither an option nor a rule field; Python's own error is a TypeError."""


LONGEST = 100


def shown(value: object, form: Callable[[Any], str] = repr) -> str:
    """Return a value as a message shows it: in one line that is not long, whatever it is."""
    try:
        text = " ".join(form(value).split())
    except (TypeError, ValueError, RecursionError):  # such as a number of very many digits
        text = f"<{type(value).__name__} that cannot be shown>"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Return a message for an unknown name, with the most similar known name and all of them."""
    names = list(known)
    return f"there is no {kind} {shown(name)}{hint(name, names)}; known: {', '.join(names)}"


def hint(name: object, names: Collection[str]) -> str:
    """Return the name that is most similar to one as a question, or nothing if none is."""
    near = get_close_matches(name, names, n=1) if isinstance(name, str) else []
    return f" (did you mean {near[0]!r}?)" if near else ""
