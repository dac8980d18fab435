"""Places of code, `module:name`: how an agent or an encoder of one's own is named in text.

To look one up imports the module, so a text that stands in a file of others is never looked up.
"""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

PLACE: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def is_place(text: str) -> bool:
    """Return whether a text is a place, in a module that is here."""
    return PLACE.fullmatch(text) is not None and is_module(text.partition(":")[0])


def is_module(name: str) -> bool:
    """Return whether there is a module of this name."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def held_at(place: str) -> Any:
    """Return the content of a place, or None if there is none."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name, None)


def absent(place: str) -> str:
    """Return a message for a place that holds nothing."""
    module, _, name = place.partition(":")
    return f"there is no {name} in the module {module}"
