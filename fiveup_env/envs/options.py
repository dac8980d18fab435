"""Options by name: what is neither an option nor a rule field is refused before it is used."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from fiveup_env.errors import OptionError, unknown
from fiveup_env.rules.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def check_names(given: Iterable[str], *takers: Callable[..., Any]) -> None:
    """Raise an OptionError for a name that none of the takers has and that is no rule field."""
    known = [
        name
        for taker in takers
        for name, parameter in inspect.signature(taker).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    for name in given:
        if name not in {*known, *FIELDS, "teams"}:
            raise OptionError(
                unknown("option or rule field", name, [*dict.fromkeys(known), "teams", *FIELDS])
            )
