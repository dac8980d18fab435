"""Options, by name and by kind: what is not allowed is refused before it is used."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from fiveup_env.errors import OptionError, UnexpectedOptionError, hint, shown, unknown
from fiveup_env.rules.fields import RuleFields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fiveup_env.encoders import Encoder
    from fiveup_env.envs.episodes import EpisodeName, IllegalName


class EpisodeOptions(RuleFields, total=False):
    """The keywords that all environments share, but for `reward`."""

    episode: EpisodeName
    max_hands: int
    illegal: IllegalName
    illegal_reward: float
    encoder: str | Encoder
    scaled: bool


def check_fields(fields: Iterable[str], *takers: Callable[..., Any]) -> None:
    """Raise UnexpectedOptionError for a keyword that is not of `takers` and not a rule field."""
    known = {
        option: None
        for taker in takers
        for option, parameter in inspect.signature(taker).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    } | RuleFields.__annotations__
    for name in fields:
        if name not in known:
            raise UnexpectedOptionError(
                f"unexpected keyword argument {name!r}{hint(name, known)}; the options and rule "
                f"fields: {', '.join(known)}"
            )


def reset_options(given: object, *names: str) -> list[Any]:
    """Return the options of a `reset` in order, None if absent; refuse others by an OptionError."""
    options = {} if given is None else given
    if not isinstance(options, dict):
        raise OptionError(f"the options of reset must be a dict, not {shown(given)}")
    for name in options:
        if name not in names:
            raise OptionError(unknown("option of reset", name, names))
    return [options.get(name) for name in names]


def checked_flag(value: object, what: str) -> bool:
    """Return an option that is True or False; raise an OptionError if it is neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{what} must be True or False, not {shown(value)}")
    return bool(value)


def as_array(values: object, what: str, wanted: str) -> np.ndarray:
    """Return an array of some values; raise an OptionError if they do not make one."""
    try:
        return np.asarray(values)
    except ValueError:  # lists of different lengths, or too deep
        raise OptionError(f"{what} must be {wanted}, not {shown(values)}") from None


def row_of_integers(values: object, what: str, count: int | None = None) -> np.ndarray:
    """Return a row of integers as a new array of int64; raise an OptionError otherwise.

    What was checked is then what is used, even if another thread writes to the array given.
    """
    wanted = "a row of integers" if count is None else f"{count} integers"
    array = as_array(values, what, wanted)
    right = array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0)
    if not right or count not in {None, array.size}:
        raise OptionError(
            f"{what} must be {wanted}, not an array of {array.dtype} of shape {array.shape}"
        )
    return np.array(array, np.int64)
