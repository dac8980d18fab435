"""Which specs may come from a file, or from a page: names of the library, and policies as data.

A spec can name a module, a program or a pickled model, and making the agent runs it. What a person
types is taken as it is. What stands in a file of somebody else is checked here first.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_type_hints

from fiveup_env.errors import AgentError, hint, shown
from fiveup_env.files import file_path
from fiveup_env.opponents.agent import Agent
from fiveup_env.opponents.mixtures import members_of
from fiveup_env.opponents.networks.files import SHIPPED, PolicyName
from fiveup_env.opponents.registry import (
    MIX,
    SEATED,
    is_word,
    names_in_files,
    options_in,
    resolved,
    split_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_spec(spec: object, folder: Path | None = None) -> None:
    """Raise AgentError unless a file may name an agent by this spec.

    Args:
        spec: Of an agent that is registered with `in_files`. Its options are numbers, words, specs
            that a file may name, and policies that are shipped or in the folder of the file.
        folder: That of the file; None where there is none, as for a page.
    """
    _check(spec, folder, names_in_files())


def check_policy(name: object, folder: Path | None = None) -> None:
    """Raise AgentError unless a file may name this policy: a shipped one, or one in its folder.

    The path is a relative one, as any path from the current folder; neither it nor a link leads out
    of the folder of the file.
    """
    if not isinstance(name, str) or not (name in SHIPPED or (folder and _is_in(name, folder))):
        beside = f", or one in {folder} by a relative path" if folder else ""
        raise AgentError(
            f"{shown(name)} is not a policy that a file or a page may name: "
            f"{', '.join(SHIPPED)}{beside}"
        )


def _check(spec: object, folder: Path | None, names: Sequence[str]) -> None:
    name, text = split_name(spec)
    if name not in names:
        raise AgentError(
            f"{shown(spec)} is not an agent that a file or a page may name"
            f"{hint(name, names)}: {', '.join(names)}"
        )
    source = resolved(name)[1]
    if not isinstance(source, type):
        return
    if name == MIX:
        for member, _ in members_of(text):
            _check(member, folder, [one for one in names if one != MIX])
        return
    kinds = get_type_hints(source, include_extras=True)
    members = [one for one in names if one not in (*SEATED, MIX)]  # no pairs of pairs, without end
    for option, value in options_in(name, source, text).items():
        kind = kinds[option]
        if PolicyName in (kind, *get_args(kind)):
            check_policy(value, folder)
        elif Agent in get_args(kind):
            _check(value, folder, members)
        elif not isinstance(value, (int, float)) and not is_word(value):
            raise AgentError(f"{name}: {option} is a word in a file, not {shown(value)}")


def _is_in(name: str, folder: Path) -> bool:
    """Return whether a relative path, and what is there, leads into a folder and nowhere else."""
    try:
        path, held = file_path(name), Path(os.path.realpath(folder))
        if path.anchor or ".." in path.parts:
            return False
        real = [Path(os.path.realpath(one)) for one in (path, *path.glob("*"))]
    except OSError:  # no file can have this name
        return False
    return all(one.is_relative_to(held) for one in real)
