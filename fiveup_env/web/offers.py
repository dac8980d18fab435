"""Which agents the browser may ask for: none that reads files, none that thinks for minutes.

Whoever starts the server may name any agent; those are on offer as they were named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fiveup_env.errors import AgentError, OptionError, shown
from fiveup_env.opponents.registry import split_specs

if TYPE_CHECKING:
    from collections.abc import Container

LARGEST: Final = {
    "worlds": 2_000.0,
    "ms": 2_000.0,
    "weighed": 16.0,
}  # of what a search may be given
WORDS: Final = frozenset({"playout", "aim"})


def checked_offer(opponents: object, named: Container[str]) -> str:
    """Return opponents that the browser may have; raise OptionError or AgentError for others.

    `named` are the specs of the command line.
    """
    if not isinstance(opponents, str):
        raise OptionError(f"opponents are specs such as 'partner', not {shown(opponents)}")
    for spec in split_specs(opponents):
        if spec not in named:
            _check(spec)
    return opponents


def _check(spec: str) -> None:
    _, _, options = spec.partition(":")
    for part in filter(None, options.split(",")):
        option, _, value = part.partition("=")
        if option in WORDS:
            continue
        if option not in LARGEST:
            raise AgentError(
                f"{shown(spec)} is not on offer here; name it when you start the table, "
                "by --opponents"
            )
        try:
            fits = 0 < float(value) <= LARGEST[option]
        except ValueError:
            fits = False
        if not fits:
            raise AgentError(f"{option} must be at most {LARGEST[option]:g} here, not {value!r}")
